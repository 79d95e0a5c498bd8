"""Reject invalid LISTs before they are routed."""

from __future__ import annotations

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import errors
from ktui.kube.routing.list_case import EXACT, NOT_OLDER_THAN, ListCase, Reasons
from ktui.kube.routing.parameters import TokenState
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predicates import Predicate
from ktui.kube.status import continue_with_resource_version
from ktui.kube.validation import validate_list


def rejected_by_api(case: ListCase) -> Plan | None:
    """The API's own validation (422), the same in every minor.

    The message has every cause; the reason is the first of them.
    """
    reason = _broken_match_rule(case) if case.match else ""
    streaming = case.parameters.send_initial_events and case.behaviour.minor >= 27
    if streaming and case.trace.ask(Predicate.LIST_SENDS_INITIAL, True):
        reason = reason or "v.send_initial"
    if not reason:
        case.trace.ask(Predicate.ILLEGAL_OPTIONS, False, "")
        return None
    options = ListOptions(
        resource_version=case.rv,
        resource_version_match=case.match,
        send_initial_events=True if streaming else None,
        continue_="token" if case.has_token else "",
    )
    error = errors.invalid_options(validate_list, options, case.behaviour)
    return case.reject(Source.NONE, (reason,), error)


def _broken_match_rule(case: ListCase) -> str:
    match, ask = case.match, case.trace.ask
    if ask(Predicate.MATCH_WITHOUT_RV, case.unset, match, case.rv):
        return "v.match_needs_rv"
    if ask(Predicate.MATCH_WITH_CONTINUE, case.has_token, *case.seen_token):
        return "v.match_with_cont"
    if ask(Predicate.MATCH_UNKNOWN, match not in (EXACT, NOT_OLDER_THAN), match):
        return "v.match_unknown"
    if ask(Predicate.EXACT_AT_ZERO, match == EXACT and case.zero, match, case.rv):
        return "v.exact_zero"
    return ""


def rejected_by_storage(case: ListCase, reasons: Reasons = ()) -> Plan | None:
    """Validate continue token and resourceVersion as the storage layer does (400).

    The etcd store always validates them; since 1.33 the cacher does so before it routes.
    """
    ask = case.trace.ask
    if case.has_token:
        garbage = case.token.state is TokenState.GARBAGE
        if ask(Predicate.TOKEN_UNDECODABLE, garbage, *case.seen_token):
            error = case.token.error or errors.bad_continue()
            return case.reject(Source.NONE, (*reasons, "v.bad_continue"), error)
        if ask(Predicate.RV_WITH_CONTINUE, not case.unset and not case.zero, case.rv):
            error = continue_with_resource_version()
            return case.reject(Source.NONE, (*reasons, "v.rv_with_cont"), error)
    if case.n is None:
        ask(Predicate.RV_UNPARSABLE, True, case.rv)
        return case.reject(Source.NONE, (*reasons, "v.bad_rv"), errors.bad_rv(case.rv))
    return None
