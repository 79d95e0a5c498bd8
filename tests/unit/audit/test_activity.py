"""Who asks for what, by a log that grows."""

from __future__ import annotations

from contextlib import aclosing
from itertools import islice
from pathlib import Path

import pytest

from ktui.audit.formats.record import LoggedRequest
from ktui.audit.growing_logs import audit_activity
from ktui.contract.events.live import ResourceAsked
from tests.unit.audit.logs import audit_event, copies

pytestmark = pytest.mark.anyio
READ = LoggedRequest(
    "list", "/api/v1/pods?limit=500", "inventory/2.0", "system:serviceaccount:ops:inventory",
    1_787_000_060_000_000, 240_000, 200,
)  # fmt: skip


@pytest.mark.slow
async def test_a_log_is_counted_as_it_grows(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    lines = list(islice(copies(audit_event(READ), 12), 12))
    log.write_bytes(b"\n".join(lines[:7]) + b"\n")
    found: list[ResourceAsked] = []
    async with aclosing(audit_activity(str(log))) as batches:
        async for batch in batches:
            found += [event for event in batch if isinstance(event, ResourceAsked)]
            if found[-1].requests == 7:
                with log.open("ab") as file:
                    file.write(b"\n".join(lines[7:]) + b"\n")
            if found[-1].requests == 12:
                break
    assert (found[-1].resource, found[-1].lists) == ("pods", 12)
    assert [(item.client, item.requests) for item in found[-1].clients] == [
        ("inventory/2.0 ops/inventory", 12)
    ]


async def test_a_log_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"gone\.log"):
        async for _ in audit_activity(str(tmp_path / "gone.log")):
            pass
