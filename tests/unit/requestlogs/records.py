"""What the request chain found out about a request that no server got."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.apiserver.chain import Decision, Ticket
from ktui.kube.flow_schemas import FlowSchema, classify
from ktui.kube.requestinfo import attributes_of, parse_path, request_verb, rules_verb
from ktui.kube.users import AUTHENTICATED, Requester
from ktui.kube.versions import behaviour_of
from ktui.telemetry.bus import Bus
from tests.unit.apiserver.asgi import Exchange

BOB = Requester("bob", (AUTHENTICATED,))


def record_of(
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Call:
    """Of bob's request, allowed and answered; received at 1,790,000,000.5."""
    exchange = Exchange(
        path,
        method=method,
        query=query,
        headers={"user-agent": "probe/v1", **(headers or {})},
        client=("10.0.0.7", 5123),
    )
    exchange.response.status = status
    info = parse_path(path)
    verb = request_verb(method, info, query)
    call = Call(exchange.request, exchange.response, info, verb, "id-1", behaviour_of("1.36"), Bus())
    call.received = 1_790_000_000.5
    call.authenticated = call.who = BOB
    call.flow = flow = flow_schema(call)
    call.decision = Decision(True, "RBAC: allowed by a role")
    call.ticket = Ticket(flow, BOB, attributes_of(info, rules_verb(info, verb)), 4)
    call.meter.seats = 4
    return call


def flow_schema(call: Call) -> FlowSchema:
    return classify(BOB, attributes_of(call.info, rules_verb(call.info, call.verb)), 36)
