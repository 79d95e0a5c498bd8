"""Headers that identify a request: its audit id and its flow schema."""

from __future__ import annotations

from random import getrandbits

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Headers
from ktui.apiserver.warnings import warning_headers
from ktui.kube.flowcontrol import FlowSchema

# kube-apiserver cuts a client's Audit-ID to this length.
MAX_AUDIT_ID = 64
SPACED_TOKEN = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)


# RFC 9562: version 4 in bits 48-51, variant 10 in bits 64 and 65.
_VERSION_4 = 0x4 << 76 | 0x2 << 62
_FREE_BITS = (1 << 128) - 1 ^ (0xF << 76 | 0x3 << 62)


def audit_id(request: Request) -> str:
    """Return the client's Audit-ID, or a new one."""
    return request.headers.get("audit-id", "")[:MAX_AUDIT_ID] or _random_uuid()


def _random_uuid() -> str:
    """Return a UUID of version 4 as text. It has to be unique, not secret: `uuid.uuid4` takes ten times as
    long."""
    digits = f"{getrandbits(128) & _FREE_BITS | _VERSION_4:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def unseen_token_headers(request: Request) -> Headers:
    """Return the warning for a token after two spaces, which kube-apiserver ignores (bearertoken.go)."""
    sent = request.headers.get("authorization", "")
    if "  " not in sent:
        return []
    scheme, _, rest = sent.strip().partition(" ")
    unseen = scheme.lower() == "bearer" and rest.startswith(" ") and request.certified is None
    return warning_headers([SPACED_TOKEN]) if unseen else []


def flow_headers(flow: FlowSchema) -> Headers:
    return [
        ("x-kubernetes-pf-flowschema-uid", flow.uid),
        ("x-kubernetes-pf-prioritylevel-uid", flow.level.uid),
    ]
