"""Who may come in: everybody, or the holder of one bearer token.

As upstream with RBAC: a wrong token is 401; no token is the anonymous user, who
may look at health and version and gets 403 for everything else.
"""

from __future__ import annotations

import hmac

from ktui.apiserver.http.request import Request
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.status import StatusError, unauthorized

ANONYMOUS = "system:anonymous"
# ClusterRole system:public-info-viewer.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


def authenticate(request: Request, token: str | None, info: RequestInfo, verb: str) -> None:
    """Let the request pass, or raise StatusError 401 or 403. `token` None lets everybody pass."""
    if token is None:
        return
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    if sent.strip() and scheme.lower() == "bearer":
        if not hmac.compare_digest(sent.strip().encode(), token.encode()):
            raise unauthorized()
    elif not _is_public(request.path):
        raise _anonymous_may_not(verb, info)


def _is_public(path: str) -> bool:
    return path.rstrip("/") in PUBLIC_PATHS


def _anonymous_may_not(verb: str, info: RequestInfo) -> StatusError:
    verb = _VERBS.get(verb, verb.lower())
    if not info.is_resource:
        return StatusError(
            403, "Forbidden", f'forbidden: User "{ANONYMOUS}" cannot {verb} path "{info.path}"', {}
        )
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    where = f' in the namespace "{info.namespace}"' if info.namespace else " at the cluster scope"
    qualified = f"{info.resource}.{info.group}" if info.group else info.resource
    named = f'{qualified} "{info.name}"' if info.name else qualified
    message = (
        f'{named} is forbidden: User "{ANONYMOUS}" cannot {verb} resource "{resource}" '
        f'in API group "{info.group}"{where}'
    )
    details = {"name": info.name, "group": info.group, "kind": info.resource}
    return StatusError(403, "Forbidden", message, {k: v for k, v in details.items() if v})


_VERBS = {"POST": "create", "PUT": "update", "DELETECOLLECTION": "deletecollection"}
