"""A run in progress as one line of JSON a second, and its results as a JSON document.

`ktui workload run NAME --stream` writes the lines; the dashboard starts it as a process and reads them.
Commands are lines too: `set KNOB VALUE`, `fault KIND` and `stop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from ktui.client.connection import ClientError
from ktui.contract.faults import Fault
from ktui.core.format import integer
from ktui.supervision import stop
from ktui.workloads.running.figures import LoadFigures
from ktui.workloads.running.knobs import WorkloadError, written
from ktui.workloads.running.runner import Run, RunVariant

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
    routes, context = dict(figures.letters), run.current.context
    if errors := figures.rejected + figures.failed:
        routes["!"] = errors
    return LiveSecond(
        at=at, phase=context.phase, variant=run.current.name, now=context.now, speed=context.speed,
        routes=routes, etcd_rpcs=figures.spent.etcd_rpcs, etcd_bytes=figures.spent.etcd_bytes,
        returned_bytes=figures.spent.encoded_bytes, p50=figures.milliseconds(0.5),
        p95=figures.milliseconds(0.95), most_ms=figures.times.max / 1000.0,
        wait_ms=figures.waits.max / 1000.0, rejected=figures.rejected, failed=figures.failed,
        open=run.account.missing,
        knobs={name: written(value) for name, value in run.current.knobs.values().items()}, marker=marker,
    )  # fmt: skip


def live_tables(run: Run) -> Tables:
    found = run.workload.tables(run.current.context, run.account)
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


LONG_WAIT, LONG_SHARE = 5.0, 0.1  # of an open request at the end: seconds, and share of the run
LATE_SHARE = 0.1  # of actions that took longer than their interval
EXEMPT = "exempt"  # the priority level without a limit


def summary_of(run: Run) -> dict[str, Any]:
    variants = [_variant(run, variant) for variant in run.variants]
    own = ("etcd_rpcs", "etcd_keys", "etcd_bytes")
    document: dict[str, Any] = {
        "workload": run.workload.name, "about": run.workload.sentence,
        "server": {"url": run.client.connection.url, "kube_version": run.version, "real": run.real},
        "seconds": round(run.seconds, 3), "ended": run.ended,
        "faults": [{"at": at, "fault": fault.kind, "seconds": fault.seconds} for at, fault in run.faults],
        "variants": variants,
        "housekeeping": {name: getattr(run.account.housekeeping, name) for name in own},
        "others": {"requests": run.account.others.requests}, "remarks": remarks(run),
        "caveats": caveats(run),
    }  # fmt: skip
    if len(variants) == 2:
        document["difference"] = difference(variants[0]["total"], variants[1]["total"])
    return document


def _variant(run: Run, variant: RunVariant) -> dict[str, Any]:
    def over(figures: LoadFigures, seconds: float) -> dict[str, Any]:
        return {"seconds": round(seconds, 3), **figures.document(seconds)}

    total, phases = LoadFigures(), []
    for (name, phase), figures in run.account.phases.items():
        if name == variant.name:
            total.merge(figures)
            phases.append({"phase": phase, **over(figures, variant.seconds.get(phase, 0.0))})
    context = variant.context
    document = over(total, sum(variant.seconds.values()))
    for level, held in document["levels"].items():
        held["nominal_seats"] = None if level == EXEMPT else run.account.nominal_seats.get(level)
    return {
        "variant": variant.name, "knobs": variant.knobs.values(), "total": document, "phases": phases,
        "found": dict(context.found), "speed": context.speed,
        "tables": [table.document() for table in run.workload.tables(context, run.account)],
    }  # fmt: skip


def remarks(run: Run) -> list[str]:
    account, others = run.account, run.account.others.requests
    found = (
        (run.real, "a real kube-apiserver does not report the cost of each request: see its /metrics"),
        (account.dropped, f"{account.dropped:,} telemetry events were dropped: the figures are too low"),
        (account.missing, f"{account.missing:,} requests are not accounted for: their cost is missing"),
        (others, f"other clients sent {others:,} requests meanwhile (not in the figures)"),
    )
    return [*run.problems, *(text for holds, text in found if holds)]


def caveats(run: Run) -> list[str]:
    """Return what the figures, which are right, do not show: a server that is too slow, a workload's own."""
    found = too_slow(run)
    for variant in run.variants:
        side = f"{variant.name}: " if variant.name else ""
        found += [f"{side}{text}" for text in run.workload.caveats(variant.context, run.account)]
    return found


def too_slow(run: Run) -> list[str]:
    """Return why the server did not keep up with the load that the knobs describe; nothing if it did."""
    found = []
    unanswered = sum(figures.unanswered for figures in run.account.phases.values())
    if unanswered:
        found.append(f"{integer(unanswered)} requests got no answer: they count as failed")
    if run.waited > max(LONG_WAIT, run.seconds * LONG_SHARE):
        found.append(
            f"the server is too slow for this load: {integer(run.waiting)} requests had no answer when the "
            f"run ended, the first of them for {run.waited:.0f} s (not in the figures)"
        )
    for variant in run.variants:
        context = variant.context
        if context.late_actions > context.actions * LATE_SHARE:
            found.append(
                f"the server is too slow for this load: {integer(context.late_actions)} of "
                f"{integer(context.actions)} actions took longer than the time until the next, so that fewer "
                "were sent than the knobs say"
            )
    return found


# Figures that a comparison prints, each with its title.
COMPARED = (
    ("requests", "requests"), ("requests_per_second", "requests/s"),
    ("etcd_rpcs_per_second", "etcd RPCs/s"), ("etcd_bytes_per_second", "bytes/s out of etcd"),
    ("etcd_keys", "keys read"), ("returned_bytes", "bytes returned"), ("amplification", "amplification"),
    ("rejected", "rejected"), ("failed", "failed"), ("cpu_ms", "CPU ms"),
)  # fmt: skip


def difference(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both values of each figure of two totals, and their factor (None if the first is 0 or unknown)."""
    compared = {name: (first[name], second[name]) for name, _ in COMPARED}
    compared |= {f"ms_{share}": (first["ms"][share], second["ms"][share]) for share in first["ms"]}
    return {
        name: {"A": a, "B": b, "factor": round(b / a, 4) if a and b is not None else None}
        for name, (a, b) in compared.items()
    }
