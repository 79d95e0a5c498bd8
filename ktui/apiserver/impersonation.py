"""Impersonation: who a request acts as, and whether its user may (upstream: endpoints/filters/impersonation).

From 1.36 on (ConstrainedImpersonation) there are modes for nodes, service accounts and other users. Each
needs two rights: to act as that user (`impersonate:MODE`), and to do so for the request at hand
(`impersonate-on:MODE:VERB`). The verb `impersonate` of all versions is tried last, or first for a user who
has used it before. Upstream keeps what it allowed for ten seconds; ktui asks each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import methodcaller
from typing import NamedTuple
from urllib.parse import unquote

from ktui.apiserver.authorization import may_not
from ktui.apiserver.call import Call
from ktui.apiserver.chain import Authorizer
from ktui.apiserver.http.request import Request
from ktui.kube.fielderrors import domain_path
from ktui.kube.golang.formatting import quote
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.status import StatusError, bad_request
from ktui.kube.users import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    NODES,
    UNAUTHENTICATED,
    Requester,
    node_of,
    service_account_groups,
    service_account_of,
)

LEGACY = "impersonate"
MODES = ("associated-node", "arbitrary-node", "serviceaccount", "user-info")
NODE_NAME = "authentication.kubernetes.io/node-name"  # in the token of a pod's service account
MOST_REMEMBERED = 10_000
MANY = 4  # groups or extra values from which on a right to all of them is asked for first
AUTHENTICATION = "authentication.k8s.io"
EXTRA = "impersonate-extra-"

_impersonates = methodcaller("startswith", "impersonate-")


class Impersonation:
    """Finds the user whom a request acts as; remembers for each user the verb that was last allowed."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, str] = {}

    def of(self, call: Call, who: Requester) -> Requester:
        """Return the user whom `who` impersonates, else `who`; raise StatusError 400 without a user name, or
        403.
        """
        if not any(map(_impersonates, call.request.headers)):
            return who
        constrained = call.behaviour.enabled("ConstrainedImpersonation")
        wanted = _wanted(call.request, constrained)
        if wanted is None:
            return who
        verbs = [*(f"impersonate:{mode}" for mode in MODES), LEGACY] if constrained else [LEGACY]
        last = self._last.get(who.user)
        refusal: StatusError | None = None
        for verb in sorted(verbs, key=lambda verb: verb != last):
            if not _applies(verb, wanted, who):
                continue
            try:
                self._confirm(call, who, wanted, verb)
            except StatusError as error:
                refusal = refusal or error
                continue
            self._remember(who.user, verb)
            call.constraint = "" if verb == LEGACY else verb
            return _acting(wanted, verb)
        assert refusal is not None  # the last verb applies to every user
        raise refusal

    def _remember(self, user: str, verb: str) -> None:
        self._last.pop(user, None)
        if len(self._last) >= MOST_REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[user] = verb

    def _confirm(self, call: Call, who: Requester, wanted: Requester, verb: str) -> None:
        if verb != LEGACY:
            self._ask(who, _on_request(call, verb))
        for asked in _required_rights(who, wanted, verb, call.behaviour.enabled("ConstrainedImpersonation")):
            if isinstance(asked, OfAll) and self._authorizer.decide(who, asked.whole).allowed:
                continue
            for attributes in asked.each if isinstance(asked, OfAll) else [asked]:
                self._ask(who, attributes)

    def _ask(self, who: Requester, attributes: RequestAttributes) -> None:
        decision = self._authorizer.decide(who, attributes)
        if not decision.allowed:
            raise may_not(who, attributes, decision.reason)


def _wanted(request: Request, constrained: bool) -> Requester | None:
    """Return the user as sent; None without one. StatusError 400 if only other attributes are sent."""
    user = request.headers.get("impersonate-user", "")
    groups = request.all_values("impersonate-group") if "impersonate-group" in request.headers else []
    uid = request.headers.get("impersonate-uid", "")
    names = [name for name in request.headers if name.startswith(EXTRA)]
    extra = {unquote(name[len(EXTRA) :]): request.all_values(name) for name in names}
    if user:
        return Requester(user, tuple(groups), uid, extra)
    if groups or uid or extra:
        refusal = _without_user if constrained else _without_user_before_36
        raise refusal(groups, uid, extra)
    return None


def _applies(verb: str, wanted: Requester, who: Requester) -> bool:
    only_name = not (wanted.groups or wanted.uid or wanted.extra)
    node, account = node_of(wanted.user), service_account_of(wanted.user)
    match verb.removeprefix("impersonate:"):
        case "associated-node":
            own = who.extra.get(NODE_NAME, ())
            return bool(only_name and node and service_account_of(who.user)) and list(own) == [node]
        case "arbitrary-node":
            return bool(only_name and node)
        case "serviceaccount":
            return bool(only_name and account)
        case "user-info":
            return not (node or account)
    return True


def _acting(wanted: Requester, verb: str) -> Requester:
    """Return the user with the groups that upstream adds."""
    groups = list(wanted.groups)
    if verb != LEGACY and node_of(wanted.user):
        groups = [NODES]
    elif not groups and (account := service_account_of(wanted.user)):
        groups = service_account_groups(account[0])
    added = UNAUTHENTICATED if wanted.user == ANONYMOUS.user else AUTHENTICATED
    if added not in groups and UNAUTHENTICATED not in groups:
        groups.append(added)
    return wanted._replace(groups=tuple(groups))


def _on_request(call: Call, verb: str) -> RequestAttributes:
    """Return the right to impersonate in a mode while doing what the request does."""
    attributes = call.named_attributes
    mode = verb.removeprefix("impersonate:")
    return attributes._replace(verb=f"impersonate-on:{mode}:{attributes.verb}")


class OfAll(NamedTuple):
    """One right to all, instead of each of them."""

    whole: RequestAttributes
    each: list[RequestAttributes]


Right = RequestAttributes | OfAll


def _required_rights(who: Requester, wanted: Requester, verb: str, constrained: bool) -> Iterator[Right]:
    """Yield the rights that `who` needs to act as `wanted`, in upstream's order.

    Raises StatusError 403 for what no right of a mode allows.
    """
    mode = verb != LEGACY
    group = AUTHENTICATION if mode else ""
    own = RequestAttributes(verb, group, "users", name=wanted.user, version="v1")
    if account := service_account_of(wanted.user):
        own = own._replace(resource="serviceaccounts", namespace=account[0], name=account[1])
    elif mode and (node := node_of(wanted.user)):
        own = own._replace(resource="nodes", name="*" if verb.endswith("associated-node") else node)
    yield own
    uid = RequestAttributes(verb, AUTHENTICATION, "uids", name=wanted.uid, version="v1")
    if wanted.uid and constrained:
        yield uid
    groups = RequestAttributes(verb, group, "groups", version="v1")
    if mode:
        _check_groups(who, groups, wanted)
    yield from _each([groups._replace(name=name) for name in wanted.groups], groups, mode)
    extras = RequestAttributes(verb, AUTHENTICATION, "userextras", version="v1")
    if mode and (why := _extra_fault(wanted.extra)):
        raise may_not(who, extras, why)
    values = [
        extras._replace(subresource=key, name=value) for key, found in wanted.extra.items() for value in found
    ]
    yield from _each(values, extras._replace(subresource="*"), mode)
    if wanted.uid and not constrained:
        yield uid


def _each(rights: list[RequestAttributes], of_all: RequestAttributes, mode: bool) -> Sequence[Right]:
    return [OfAll(of_all._replace(name="*"), rights)] if mode and len(rights) >= MANY else rights


def _check_groups(who: Requester, attributes: RequestAttributes, wanted: Requester) -> None:
    if "" in wanted.groups:
        raise may_not(who, attributes, "impersonating the empty string group is not allowed")
    if MASTERS in wanted.groups:
        why = f"impersonating the {MASTERS} group is not allowed"
        raise may_not(who, attributes._replace(name=MASTERS), why)


def _extra_fault(extra: Mapping[str, Sequence[str]]) -> str:
    """Return what no mode accepts in the extra attributes, "" if nothing."""
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if faults := [f"extra.key: {fault.message}" for fault in domain_path(key)]:
            why = f"[{', '.join(faults)}]" if len(faults) > 1 else faults[0]
            return f"impersonating an invalid key in extra is not allowed: {why}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


Extra = Mapping[str, Sequence[str]]


def _without_user(groups: Sequence[str], uid: str, extra: Extra) -> StatusError:
    listed = f"[]string{{{', '.join(map(quote, groups))}}}" if groups else "[]string(nil)"
    values = ", ".join(
        f"{quote(key)}:[]string{{{', '.join(map(quote, found))}}}" for key, found in sorted(extra.items())
    )
    more = f"map[string][]string{{{values}}}" if extra else "map[string][]string(nil)"
    user = f'&user.DefaultInfo{{Name:"", UID:{quote(uid)}, Groups:{listed}, Extra:{more}}}'
    return bad_request(f"requested {user} without impersonating a user name")


def _without_user_before_36(groups: Sequence[str], uid: str, extra: Extra) -> StatusError:
    """The text before 1.36: Go's `%v` of object references."""
    asked = [f"{{Group  {name}    }}" for name in groups]
    asked += [
        f"{{UserExtra  {v}  {AUTHENTICATION}/v1  {key}}}" for key, found in extra.items() for v in found
    ]
    asked += [f"{{UID  {uid}  {AUTHENTICATION}/v1  }}"] if uid else []
    return bad_request(f"requested [{' '.join(asked)}] without impersonating a user")
