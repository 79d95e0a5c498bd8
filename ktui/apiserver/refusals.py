"""Why a read was refused before it came to be routed."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.kube.routing.model import CacheState, Decision, Route
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError, parse_request

BAD_OPTION = "v.bad_option"


def refusal_of(call: Call) -> Decision:
    """The decision that tells the refusal; it routes nowhere.

    The rules are asked about the request's text. What they have no rule for (a selector
    that cannot be parsed) is an option that is not understood.
    """
    try:
        request = parse_request(f"{call.request.path}?{call.request.query}", call.verb.lower())
    except RequestError:
        return Decision(Route.NONE, (BAD_OPTION,))
    decision = predict(request, CacheState(), call.behaviour)
    return decision if decision.route is Route.NONE else Decision(Route.NONE, (BAD_OPTION,))
