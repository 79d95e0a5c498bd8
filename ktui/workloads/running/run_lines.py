"""A run in progress: one line of JSON a second, and commands on standard input.

`ktui workload run NAME --stream` writes the lines; the dashboard starts it as a process and reads them.
Commands are lines too: `set KNOB VALUE`, `fault KIND` and `stop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ktui.client.connection import ClientError
from ktui.contract.faults import Fault
from ktui.supervision import stop
from ktui.workloads.running.knobs import WorkloadError, written

if TYPE_CHECKING:
    from ktui.workloads.running.runner import Run

SECOND = 1.0


class LiveSecond(msgspec.Struct, kw_only=True, omit_defaults=True, tag="second"):
    """The server's counts for this run within one second.

    `routes` counts answers by letter (C, S, E, –, and ! for errors). `wait_ms` is the longest wait of a read
    until its cache was fresh; `marker` has the knobs and faults that were used.
    """

    at: float
    phase: str = ""
    variant: str = ""
    now: str = ""
    speed: float = 1.0
    routes: dict[str, int] = {}
    etcd_rpcs: int = 0
    etcd_bytes: int = 0
    returned_bytes: int = 0
    p50: float = 0.0
    p95: float = 0.0
    most_ms: float = 0.0
    wait_ms: float = 0.0
    rejected: int = 0
    failed: int = 0
    open: int = 0
    knobs: dict[str, str] = {}
    marker: str = ""


class Tables(msgspec.Struct, tag="tables"):
    """The workload's own tables up to now, as in the summary."""

    tables: list[dict[str, Any]]


class Refused(msgspec.Struct, tag="refused"):
    """A command could not be executed; the reason is one sentence."""

    message: str


class Finished(msgspec.Struct, tag="finished"):
    """The summary, which is the last line."""

    summary: dict[str, Any]


Line = LiveSecond | Tables | Refused | Finished
DECODER = msgspec.json.Decoder(Line)


def live_second(run: Run, at: float) -> LiveSecond:
    """Return the figures since the last call."""
    marker = " ".join(run.markers)
    run.markers.clear()
    figures = run.account.take_live()
    errors = figures.rejected + figures.failed
    routes = dict(figures.letters)
    if errors:
        routes["!"] = errors
    context = run.current.context
    return LiveSecond(
        at=at,
        phase=context.phase if context else "",
        variant=run.current.name,
        now=context.now if context else "",
        speed=context.speed if context else 1.0,
        routes=routes,
        etcd_rpcs=figures.spent.etcd_rpcs,
        etcd_bytes=figures.spent.etcd_bytes,
        returned_bytes=figures.spent.encoded_bytes,
        p50=figures.milliseconds(0.5),
        p95=figures.milliseconds(0.95),
        most_ms=figures.times.max / 1000.0,
        wait_ms=figures.waits.max / 1000.0,
        rejected=figures.rejected,
        failed=figures.failed,
        open=run.account.missing,
        knobs={name: written(value) for name, value in run.current.knobs.values().items()},
        marker=marker,
    )


def live_tables(run: Run) -> Tables:
    context = run.current.context
    found = run.workload.tables(context, run.account) if context else ()
    return Tables([table.shown() for table in found])


def encoded(line: Line) -> str:
    return msgspec.json.encode(line).decode()


async def follow_commands(run: Run, lines: AsyncIterator[str], refused: Callable[[str], None]) -> None:
    """Execute the commands of the lines until they end; then stop the run."""
    faults: set[asyncio.Task[None]] = set()

    async def obey(doing: Awaitable[None]) -> None:
        try:
            await doing
        except (WorkloadError, ClientError, ValueError) as error:
            refused(str(error))

    async for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word == "set":
            name, _, text = rest.partition(" ")
            await obey(run.set(name, text))
        elif word == "fault":
            task = asyncio.create_task(obey(run.fault(Fault(rest))))
            faults.add(task)
            task.add_done_callback(faults.discard)
        elif word == "stop":
            break
    run.stop()
    await stop(*faults)
