"""Headers that identify a request: its audit id and its flow schema."""

from __future__ import annotations

import uuid

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Headers
from ktui.kube.flowcontrol import FlowSchema

# kube-apiserver: a client's own Audit-ID is kept up to this length.
MAX_AUDIT_ID = 64


def audit_id(request: Request) -> str:
    """The client's own Audit-ID, or a new one."""
    return request.headers.get("audit-id", "")[:MAX_AUDIT_ID] or str(uuid.uuid4())


def flow_headers(flow: FlowSchema) -> Headers:
    return [
        ("x-kubernetes-pf-flowschema-uid", flow.uid),
        ("x-kubernetes-pf-prioritylevel-uid", flow.level.uid),
    ]
