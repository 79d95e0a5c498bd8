"""The request chain: the stages a request passes in the server, each with its decision and time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ktui.contract.events import ChainStage
from ktui.core.format import many
from ktui.core.request_view import READS
from ktui.core.state import RequestRow

_REVISION = re.compile(r"target:MOD .*? mod_revision:(\d+) ")
FLOW_CONTROL = "flow control"


def chain_of(row: RequestRow) -> list[ChainStage]:
    """Return the stages so far, the answer last; empty in a recording of an older server."""
    started, done = row.started, row.finished
    if not started.chain:
        return []
    stages = [_with_seats(stage, row) for stage in started.chain]
    if done is None:
        return stages
    if not stages[-1].decision.startswith("refused"):
        stages += [*done.chain, *_transactions(row)]
        if started.verb in READS:
            stages.append(ChainStage("storage", row.route.replace("_", " ") or "not read", done.ms))
    # The wait for seats is a part of flow control and of the request's own time.
    before = started.chain
    if done.untold:  # a trace: the time of its filters, except authentication, is in the request's
        before = [each for each in started.chain if each.stage == "authentication"]
    total = sum(each.ms for each in before) + done.ms - done.phases.get("seats", 0.0)
    return [*stages, ChainStage("answer", str(done.status), total)]


def _with_seats(stage: ChainStage, row: RequestRow) -> ChainStage:
    """Add the request's seats to the stage of flow control."""
    if stage.stage != FLOW_CONTROL or row.finished is None or not row.finished.seats:
        return stage
    return ChainStage(stage.stage, f"{stage.decision}, {many(row.finished.seats, 'seat')}", stage.ms)


def _transactions(row: RequestRow) -> Iterator[ChainStage]:
    for call in row.calls:
        compared = _REVISION.search(call.request) if call.op == "txn" else None
        if compared is not None:
            outcome = f": {call.error}" if call.error else ""
            yield ChainStage("storage", f"Txn compare mod_revision = {compared[1]}{outcome}", call.ms)
