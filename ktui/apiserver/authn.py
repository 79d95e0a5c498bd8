"""Authentication and authorization: every client, or only holders of one bearer token.

As upstream with RBAC: a wrong token is 401; no token is the anonymous user, who
may read health and version and gets 403 for everything else. The holder of the
token is an administrator and may impersonate others (`kubectl --as`): that affects
the flow schema of a request, nothing else.
"""

from __future__ import annotations

import hmac

from ktui.apiserver.http.request import Request
from ktui.kube.flowcontrol import MASTERS, Requester, requester_of
from ktui.kube.golang.quoting import quote
from ktui.kube.requestinfo import RequestInfo, api_verb, name_asked
from ktui.kube.status import StatusError, bad_request, unauthorized

ANONYMOUS = "system:anonymous"
ANONYMOUS_REQUESTER = Requester(ANONYMOUS, ("system:unauthenticated",))
ADMINISTRATOR = Requester("admin", (MASTERS, "system:authenticated"))
# ClusterRole system:public-info-viewer.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


def identify(request: Request, token: str | None) -> Requester:
    """The authenticated user; with `token` None every client is an administrator.

    StatusError 401 for a wrong token, 400 for impersonated groups without a user.
    """
    if token is None:
        return _impersonated(request) or ADMINISTRATOR
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    if not sent.strip() or scheme.lower() != "bearer":
        return ANONYMOUS_REQUESTER
    if not hmac.compare_digest(sent.strip().encode(), token.encode()):
        raise unauthorized()
    return _impersonated(request) or ADMINISTRATOR


def authorize(who: Requester, request: Request, info: RequestInfo, verb: str) -> None:
    """Return, or raise StatusError 403."""
    if who is ANONYMOUS_REQUESTER and not _is_public(request.path):
        raise _anonymous_may_not(request, verb, info)


def _impersonated(request: Request) -> Requester | None:
    user = request.headers.get("impersonate-user", "")
    groups = [request.headers["impersonate-group"]] if "impersonate-group" in request.headers else []
    if not user and groups:
        listed = ", ".join(map(quote, groups))
        raise bad_request(
            f'requested &user.DefaultInfo{{Name:"", UID:"", Groups:[]string{{{listed}}}, '
            "Extra:map[string][]string(nil)} without impersonating a user name"
        )
    if not user:
        return None
    return requester_of(user, groups)


def _is_public(path: str) -> bool:
    return path.rstrip("/") in PUBLIC_PATHS


def _anonymous_may_not(request: Request, verb: str, info: RequestInfo) -> StatusError:
    if not info.is_resource:
        may_not = f'{request.method.lower()} path "{info.path}"'
        return StatusError(403, "Forbidden", f'forbidden: User "{ANONYMOUS}" cannot {may_not}', {})
    if verb == "HEAD" and not info.name:
        verb = "LIST"
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    # A namespace is in itself.
    namespace = info.name if info.resource == "namespaces" else info.namespace
    where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
    name = info.name or name_asked(verb, request.query)
    named = f'{info.resource_id} "{name}"' if name else info.resource_id
    message = (
        f'{named} is forbidden: User "{ANONYMOUS}" cannot {api_verb(verb)} resource "{resource}" '
        f'in API group "{info.group}"{where}'
    )
    details = {"name": name, "group": info.group, "kind": info.resource}
    return StatusError(403, "Forbidden", message, {k: v for k, v in details.items() if v})
