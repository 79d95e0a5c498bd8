"""Find the plan of a read that was rejected before it was routed."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError, parse_request

BAD_OPTION = "v.bad_option"


def refusal_of(call: Call) -> Plan:
    """Return the plan of a rejected read, whose source is none.

    The rules are applied to the request's text. Errors without a rule (a selector that cannot be parsed)
    count as an invalid option.
    """
    try:
        request = parse_request(f"{call.request.path}?{call.request.query}", call.verb.lower())
    except RequestError:
        return Plan(Source.NONE, (BAD_OPTION,))
    plan = predict(request, CacheState(), call.behaviour)
    return plan if plan.source is Source.NONE else Plan(Source.NONE, (BAD_OPTION,))
