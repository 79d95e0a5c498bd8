"""Ask the authorizer about a request, and deny it with upstream's message."""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller
from urllib.parse import unquote

from ktui.apiserver.call import Call
from ktui.apiserver.chain import Authorizer
from ktui.apiserver.http.request import Request
from ktui.kube.golang.formatting import quote
from ktui.kube.requestinfo import RequestAttributes, attributes_of, rules_verb, selected_name
from ktui.kube.status import StatusError, bad_request
from ktui.kube.users import SERVICE_ACCOUNT, Requester, requester_of


def authorize(authorizer: Authorizer, call: Call) -> None:
    """Record the decision about a request; raise StatusError 403 unless the request is allowed."""
    info, verb, who = call.info, call.verb, call.who
    # The name that a LIST selects is read for its message only: it takes time.
    attributes = call.attributes
    call.decision = decision = authorizer.decide(who, attributes)
    if not decision.allowed and info.is_resource and not info.name:
        name = selected_name(info, verb, call.request.query)
        attributes = attributes_of(info, rules_verb(info, verb), name)
        # A rule may name the only object that is listed.
        call.decision = decision = authorizer.decide(who, attributes)
    if not decision.allowed:
        raise may_not(who, attributes, decision.reason)


def may_not(who: Requester, attributes: RequestAttributes, reason: str = "") -> StatusError:
    """403 (upstream: responsewriters.ForbiddenStatusError)."""
    because = f": {reason}" if reason else ""
    user = f"User {quote(who.user)} cannot {attributes.verb}"
    if attributes.path:
        return StatusError(403, "Forbidden", f"forbidden: {user} path {quote(attributes.path)}{because}", {})
    namespace = attributes.namespace
    where = f"in the namespace {quote(namespace)}" if namespace else "at the cluster scope"
    what = f"{attributes.resource}.{attributes.group}" if attributes.group else attributes.resource
    named = f"{what} {quote(attributes.name)}" if attributes.name else what
    message = (
        f"{named} is forbidden: {user} resource {quote(attributes.full_resource)} "
        f"in API group {quote(attributes.group)} {where}{because}"
    )
    details = {"name": attributes.name, "group": attributes.group, "kind": attributes.resource}
    return StatusError(403, "Forbidden", message, {k: v for k, v in details.items() if v})


EXTRA = "impersonate-extra-"
AUTHENTICATION = "authentication.k8s.io"
Extra = dict[str, list[str]]


def impersonated(authorizer: Authorizer, who: Requester, request: Request) -> Requester:
    """The user whom `who` impersonates, else `who`; raise StatusError 400 without a user name, or 403."""
    if not any(map(_impersonates, request.headers)):
        return who
    user = request.headers.get("impersonate-user", "")
    groups = request.all_values("impersonate-group") if "impersonate-group" in request.headers else []
    uid = request.headers.get("impersonate-uid", "")
    names = [name for name in request.headers if name.startswith(EXTRA)]
    extra = {unquote(name[len(EXTRA) :]): request.all_values(name) for name in names}
    if not user:
        if groups or uid or extra:
            raise _without_user(groups, uid, extra)
        return who
    for attributes in _required_rights(user, groups, uid, extra):
        decision = authorizer.decide(who, attributes)
        if not decision.allowed:
            raise may_not(who, attributes, decision.reason)
    return requester_of(user, groups, uid, extra)


_impersonates = methodcaller("startswith", "impersonate-")


def _required_rights(user: str, groups: list[str], uid: str, extra: Extra) -> Iterator[RequestAttributes]:
    """Yield the rights that impersonation needs, each with the verb `impersonate`."""
    if user.startswith(SERVICE_ACCOUNT) and user.count(":") == 3:
        _, _, namespace, name = user.split(":")
        yield RequestAttributes("impersonate", "", "serviceaccounts", namespace=namespace, name=name)
    else:
        yield RequestAttributes("impersonate", "", "users", name=user)
    for group in groups:
        yield RequestAttributes("impersonate", "", "groups", name=group)
    for key, values in extra.items():
        for value in values:
            yield RequestAttributes(
                "impersonate", AUTHENTICATION, "userextras", key, name=value, version="v1"
            )
    if uid:
        yield RequestAttributes("impersonate", AUTHENTICATION, "uids", name=uid, version="v1")


def _without_user(groups: list[str], uid: str, extra: Extra) -> Exception:
    listed = f"[]string{{{', '.join(map(quote, groups))}}}" if groups else "[]string(nil)"
    values = ", ".join(
        f"{quote(key)}:[]string{{{', '.join(map(quote, found))}}}" for key, found in sorted(extra.items())
    )
    more = f"map[string][]string{{{values}}}" if extra else "map[string][]string(nil)"
    user = f'&user.DefaultInfo{{Name:"", UID:{quote(uid)}, Groups:{listed}, Extra:{more}}}'
    return bad_request(f"requested {user} without impersonating a user name")
