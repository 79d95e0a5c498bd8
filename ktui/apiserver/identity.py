"""Headers that identify a request: its audit id and its flow schema."""

from __future__ import annotations

import uuid

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Headers
from ktui.apiserver.warnings import warning_headers
from ktui.kube.flowcontrol import FlowSchema

# kube-apiserver cuts a client's Audit-ID to this length.
MAX_AUDIT_ID = 64
SPACED_TOKEN = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)


def audit_id(request: Request) -> str:
    """Return the client's Audit-ID, or a new one."""
    return request.headers.get("audit-id", "")[:MAX_AUDIT_ID] or str(uuid.uuid4())


def unseen_token_headers(request: Request) -> Headers:
    """Return the warning for a token after two spaces, which kube-apiserver ignores (bearertoken.go)."""
    scheme, _, rest = request.headers.get("authorization", "").strip().partition(" ")
    unseen = scheme.lower() == "bearer" and rest.startswith(" ") and request.certified is None
    return warning_headers([SPACED_TOKEN]) if unseen else []


def flow_headers(flow: FlowSchema) -> Headers:
    return [
        ("x-kubernetes-pf-flowschema-uid", flow.uid),
        ("x-kubernetes-pf-prioritylevel-uid", flow.level.uid),
    ]
