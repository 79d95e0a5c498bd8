"""Who asks, and whether they may: everybody, or the holder of one bearer token.

As upstream with RBAC: a wrong token is 401; no token is the anonymous user, who
may look at health and version and gets 403 for everything else. The holder of the
token is an administrator and may impersonate others (`kubectl --as`): that changes
under which flow schema a request falls, nothing else.
"""

from __future__ import annotations

import hmac

from ktui.apiserver.http.request import Request
from ktui.kube.flowcontrol import MASTERS, SERVICE_ACCOUNT, Requester
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.status import StatusError, unauthorized

ANONYMOUS = "system:anonymous"
NOBODY = Requester(ANONYMOUS, ("system:unauthenticated",))
ADMINISTRATOR = Requester("admin", (MASTERS, "system:authenticated"))
# ClusterRole system:public-info-viewer.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


def identify(request: Request, token: str | None) -> Requester:
    """Who asks; StatusError 401 for a wrong token. `token` None makes everybody an administrator."""
    if token is None:
        return _impersonated(request) or ADMINISTRATOR
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    if not sent.strip() or scheme.lower() != "bearer":
        return NOBODY
    if not hmac.compare_digest(sent.strip().encode(), token.encode()):
        raise unauthorized()
    return _impersonated(request) or ADMINISTRATOR


def authorize(who: Requester, request: Request, info: RequestInfo, verb: str) -> None:
    """Let the request pass, or raise StatusError 403."""
    if who is NOBODY and not _is_public(request.path):
        raise _anonymous_may_not(verb, info)


def _impersonated(request: Request) -> Requester | None:
    user = request.headers.get("impersonate-user", "")
    if not user:
        return None
    groups = [request.headers["impersonate-group"]] if "impersonate-group" in request.headers else []
    if user.startswith(SERVICE_ACCOUNT) and user.count(":") == 3:
        groups += ["system:serviceaccounts", f"system:serviceaccounts:{user.split(':')[2]}"]
    return Requester(user, (*groups, "system:authenticated"))


def _is_public(path: str) -> bool:
    return path.rstrip("/") in PUBLIC_PATHS


def _anonymous_may_not(verb: str, info: RequestInfo) -> StatusError:
    verb = api_verb(verb)
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


def api_verb(verb: str) -> str:
    """A verb as RBAC and flow schemas name it."""
    return _VERBS.get(verb, verb.lower())


_VERBS = {"POST": "create", "PUT": "update"}
