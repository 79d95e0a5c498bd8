"""What refuses a LIST before anybody asks where to read."""

from __future__ import annotations

from ktui.kube.routing import messages
from ktui.kube.routing.list_case import EXACT, NOT_OLDER_THAN, ListCase, Reasons
from ktui.kube.routing.model import Decision, Route, RouteError, TokenState


def refused_by_api(case: ListCase) -> Decision | None:
    """The API's own validation (422), the same in every minor.

    The message names every cause, the reason is the first.
    """
    broken = _broken_match_rules(case) if case.match else []
    if case.question.send_initial_events and case.behaviour.minor >= 27:
        case.walk.ask("sendInitialEvents on a LIST?", "set", True)
        broken.append(("v.send_initial", messages.LIST_SEND_INITIAL))
    if not broken:
        case.walk.ask("illegal combination of options?", "none", False)
        return None
    error = RouteError(422, "Invalid", messages.invalid_options([cause for _, cause in broken]))
    return case.refuse(Route.NONE, (broken[0][0],), error)


def _broken_match_rules(case: ListCase) -> list[tuple[str, str]]:
    match, ask = case.match, case.walk.ask
    broken = []
    if ask("resourceVersionMatch without resourceVersion?", f"{match}, {case.shown_rv}", case.unset):
        broken.append(("v.match_needs_rv", messages.MATCH_NEEDS_RV))
    if ask("resourceVersionMatch with continue?", case.shown_token, case.has_token):
        broken.append(("v.match_with_cont", messages.MATCH_WITH_CONTINUE))
    if ask("unknown resourceVersionMatch?", match, match not in (EXACT, NOT_OLDER_THAN)):
        broken.append(("v.match_unknown", messages.match_unknown(match)))
    if ask("Exact at resourceVersion 0?", f"{match}, {case.shown_rv}", match == EXACT and case.zero):
        broken.append(("v.exact_zero", messages.EXACT_ZERO))
    return broken


def refused_by_storage(case: ListCase, reasons: Reasons = ()) -> Decision | None:
    """Token and resourceVersion as the storage layer reads them (400).

    The etcd store always does; from 1.33 on the cacher does so before it routes.
    """
    ask = case.walk.ask
    if case.has_token:
        garbage = case.question.token is TokenState.GARBAGE
        if ask("continue token undecodable?", case.shown_token, garbage):
            return _bad_request(case, (*reasons, "v.bad_continue"), messages.BAD_CONTINUE)
        if ask("resourceVersion beside continue?", case.shown_rv, not case.unset and not case.zero):
            return _bad_request(case, (*reasons, "v.rv_with_cont"), messages.RV_WITH_CONTINUE)
    if case.n is None:
        ask("resourceVersion unparsable?", case.shown_rv, True)
        return _bad_request(case, (*reasons, "v.bad_rv"), messages.invalid_rv_request(case.rv))
    return None


def _bad_request(case: ListCase, reasons: Reasons, message: str) -> Decision:
    return case.refuse(Route.NONE, reasons, RouteError(400, "BadRequest", message))
