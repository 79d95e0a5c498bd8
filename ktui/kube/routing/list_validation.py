"""What refuses a LIST before anybody asks where to read."""

from __future__ import annotations

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import errors
from ktui.kube.routing.list_case import EXACT, NOT_OLDER_THAN, ListCase, Reasons
from ktui.kube.routing.model import Decision, Route, TokenState
from ktui.kube.validation import validate_list


def refused_by_api(case: ListCase) -> Decision | None:
    """The API's own validation (422), the same in every minor.

    The message names every cause, the reason is the first.
    """
    reason = _broken_match_rule(case) if case.match else ""
    streaming = case.question.send_initial_events and case.behaviour.minor >= 27
    if streaming and case.walk.ask("sendInitialEvents on a LIST?", "set", True):
        reason = reason or "v.send_initial"
    if not reason:
        case.walk.ask("illegal combination of options?", "none", False)
        return None
    options = ListOptions(
        resource_version=case.rv,
        resource_version_match=case.match,
        send_initial_events=True if streaming else None,
        continue_="token" if case.has_token else "",
    )
    error = errors.invalid_options(validate_list, options, case.behaviour)
    return case.refuse(Route.NONE, (reason,), error)


def _broken_match_rule(case: ListCase) -> str:
    match, ask = case.match, case.walk.ask
    if ask("resourceVersionMatch without resourceVersion?", f"{match}, {case.shown_rv}", case.unset):
        return "v.match_needs_rv"
    if ask("resourceVersionMatch with continue?", case.shown_token, case.has_token):
        return "v.match_with_cont"
    if ask("unknown resourceVersionMatch?", match, match not in (EXACT, NOT_OLDER_THAN)):
        return "v.match_unknown"
    if ask("Exact at resourceVersion 0?", f"{match}, {case.shown_rv}", match == EXACT and case.zero):
        return "v.exact_zero"
    return ""


def refused_by_storage(case: ListCase, reasons: Reasons = ()) -> Decision | None:
    """Token and resourceVersion as the storage layer reads them (400).

    The etcd store always does; from 1.33 on the cacher does so before it routes.
    """
    ask = case.walk.ask
    if case.has_token:
        garbage = case.question.token is TokenState.GARBAGE
        if ask("continue token undecodable?", case.shown_token, garbage):
            return case.refuse(Route.NONE, (*reasons, "v.bad_continue"), errors.bad_continue())
        if ask("resourceVersion beside continue?", case.shown_rv, not case.unset and not case.zero):
            return case.refuse(Route.NONE, (*reasons, "v.rv_with_cont"), errors.rv_with_continue())
    if case.n is None:
        ask("resourceVersion unparsable?", case.shown_rv, True)
        return case.refuse(Route.NONE, (*reasons, "v.bad_rv"), errors.bad_rv(case.rv))
    return None
