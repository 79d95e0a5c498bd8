"""What the request chain found out about a request that no server got."""

from __future__ import annotations

from ktui.apiserver.chain import ChainRecord, Decision
from ktui.apiserver.flow_control import FreeTicket
from ktui.kube.flowcontrol import FlowSchema, classify
from ktui.kube.requestinfo import attributes_of, parse_path, request_verb, rules_verb
from ktui.kube.users import AUTHENTICATED, Requester
from ktui.telemetry.meter import Meter
from tests.unit.apiserver.asgi import Exchange

BOB = Requester("bob", (AUTHENTICATED,))


def record_of(
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> ChainRecord:
    """Of bob's request, allowed and answered; received at 1,790,000,000.5."""
    exchange = Exchange(
        path, method=method, query=query, headers={"user-agent": "probe/v1", **(headers or {})}
    )
    exchange.request.peer = "10.0.0.7:5123"
    exchange.response.status = status
    info = parse_path(path)
    verb = request_verb(method, info, query)
    record = ChainRecord(exchange.request, exchange.response, info, verb, "id-1", received=1_790_000_000.5)
    record.who = record.acting = BOB
    record.flow = flow_schema(record)
    record.decision = Decision(True, "RBAC: allowed by a role")
    record.meter = Meter(seats=4)
    record.ticket = FreeTicket(4)
    return record


def flow_schema(record: ChainRecord) -> FlowSchema:
    return classify(BOB, attributes_of(record.info, rules_verb(record.info, record.verb)), 36)
