"""The text output of `ktui workload`: the list, the knobs of a workload, the summary of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from ktui.cli.printing import Printer
from ktui.core.format import figure, integer, long_bytes, milliseconds, times
from ktui.core.rows import letter_of
from ktui.workloads.running.knobs import described as knobs_line
from ktui.workloads.running.summary import COMPARED
from ktui.workloads.running.workload import Workload

_HEADS = ("phase", "s", "requests", "/s", "from", "etcd RPCs/s", "etcd B/s", "keys", "ampl.",
          "p50", "p95", "p99 ms", "429", "failed")  # fmt: skip

WIDE = 120
LEFT_OUT = ("s", "keys", "p50", "etcd RPCs/s", "failed")


def print_list(workloads: Sequence[Workload]) -> None:
    console = Printer(highlight=False)
    table = _table(("workload", "what it does"), numbers=0)
    for workload in workloads:
        table.add_row(Text(workload.name, "bold"), Text(workload.sentence))
    console.print(table)
    console.print(Text("`ktui workload list NAME` shows the knobs of one.", "dim"))


def print_knobs(workload: Workload) -> None:
    console = Printer(highlight=False)
    console.print(Text(f"{workload.name}: {workload.sentence}"))
    table = _table(("knob", "default", "values", "what it is"), numbers=0)
    for knob in workload.knobs:
        values = ", ".join(knob.choices)
        if isinstance(knob.default, bool):
            values = "yes, no"
        elif not isinstance(knob.default, str):
            values = f"{knob.least:g} to {knob.most:g} {knob.unit}".rstrip()
        table.add_row(Text(knob.name, "bold"), Text(knob.shown(knob.default)), Text(values), Text(knob.about))
    console.print(table)


def described(workloads: Iterable[Workload]) -> list[dict[str, Any]]:
    return [
        {
            "name": workload.name, "about": workload.sentence, "writes": workload.writes,
            "knobs": [
                {
                    "name": knob.name, "default": knob.default, "unit": knob.unit, "about": knob.about,
                    "choices": list(knob.choices),
                    "bounds": None if isinstance(knob.default, str | bool) else [knob.least, knob.most],
                }
                for knob in workload.knobs
            ],
            "fixes": [{"title": fix.title, "settings": list(fix.settings)} for fix in workload.fixes],
        }
        for workload in workloads
    ]  # fmt: skip


def print_summary(summary: dict[str, Any]) -> None:
    console = Printer(highlight=False)
    version = summary["server"]["kube_version"]
    console.print(Text(f"{summary['workload']}: {summary['about']}", "bold"))
    ended = {"complete": "complete", "stopped": "stopped by Ctrl-C"}.get(summary["ended"], "ended by time")
    console.print(Text(f"Kubernetes {version or '?'} · {summary['seconds']:.1f} s, {ended}"))
    for variant in summary["variants"]:
        name = f"{variant['variant']}: " if variant["variant"] else ""
        console.print(Text(f"{name}{knobs_line(variant['knobs'])}", "dim"))
    console.print(_phases(summary, console.width))
    for variant in summary["variants"]:
        _print_found(console, variant)
        for level, held in variant["total"]["levels"].items():
            console.print(Text(_level(level, held), "dim"))
    if "difference" in summary:
        table, titles = _table(("figure", "A", "B", "B/A")), dict(COMPARED)
        for name, values in summary["difference"].items():
            shown = long_bytes if "bytes" in name else figure
            factor = "–" if values["factor"] is None else times(values["factor"])
            sides = ("–" if values[side] is None else shown(values[side]) for side in ("A", "B"))
            table.add_row(titles.get(name, name.replace("_", " ")), *sides, factor)
        console.print(table)
    for line in _foot(summary):
        console.print(Text(line, "dim"))
    for caveat in summary["caveats"]:
        console.print(Text(f"! {caveat}", "yellow"))


def _phases(summary: dict[str, Any], width: int) -> Table:
    """Return the figures by phase; a narrow terminal has only the most important columns."""
    shown = [width >= WIDE or head not in LEFT_OUT for head in _HEADS]
    table = _table(list(compress(_HEADS, shown)))
    for variant in summary["variants"]:
        prefix = f"{variant['variant']} " if variant["variant"] else ""
        for phase in variant["phases"]:
            table.add_row(*compress(_cells(f"{prefix}{phase['phase']}", phase), shown))
        if len(variant["phases"]) > 1:
            total = _cells(f"{prefix}total", variant["total"])
            table.add_row(*(Text(cell, "bold") for cell in compress(total, shown)))
    return table


def _cells(name: str, figures: dict[str, Any]) -> list[str]:
    amplification = figures["amplification"]
    return [
        name, f"{figures['seconds']:.1f}", integer(figures["requests"]),
        figure(figures["requests_per_second"]),
        " ".join(f"{'–' if route == 'none' else letter_of(route)} {integer(count)}"
                 for route, count in figures["routes"].items()),
        figure(figures["etcd_rpcs_per_second"]), long_bytes(figures["etcd_bytes_per_second"]),
        integer(figures["etcd_keys"]), "–" if amplification is None else times(amplification),
        *(milliseconds(value) for value in figures["ms"].values()), integer(figures["rejected"]),
        integer(figures["failed"]),
    ]  # fmt: skip


def _print_found(console: Printer, variant: dict[str, Any]) -> None:
    if variant["speed"] != 1.0:
        console.print(Text(f"simulated time is {variant['speed']:g} times as fast as real time", "bold"))
    if variant["found"]:
        console.print(Text(" · ".join(f"{name.replace('_', ' ')} {_value(value)}"
                                      for name, value in variant["found"].items())))  # fmt: skip
    for document in variant["tables"]:
        rows = document["rows"]
        table = _table(tuple(rows[0]), title=document["title"])
        for row in rows:
            table.add_row(*(Text(cell) for cell in row.values()))
        console.print(table)
        for note in document["notes"]:
            console.print(Text(note, "dim"))


def _level(level: str, held: dict[str, Any]) -> str:
    """Describe one priority level: requests, mean seats held, queued and rejected requests."""
    of = f" of {integer(held['nominal_seats'])}" if held["nominal_seats"] else ""
    text = (
        f"priority level {level}: {integer(held['requests'])} requests, "
        f"on average {figure(held['mean_seats'])} seats{of}, {integer(held['queued'])} queued"
    )
    if held["queued"]:
        text += f" (p99 {milliseconds(held['queued_ms_p99'])} ms)"
    return f"{text}, {integer(held['rejected'])} rejected"


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else figure(value) if isinstance(value, float) else integer(value)


def _foot(summary: dict[str, Any]) -> Iterable[str]:
    yield "from: C cache, S snapshot, E etcd, – no storage; ampl.: bytes read for each byte returned"
    own = summary["housekeeping"]
    if own["etcd_rpcs"]:
        cost = f"{integer(own['etcd_rpcs'])} etcd RPCs, {long_bytes(own['etcd_bytes'])} (not in the table)"
        yield f"the server's own housekeeping meanwhile: {cost}"
    yield from summary["remarks"]


def _table(heads: Sequence[str], *, numbers: int | None = None, title: str = "") -> Table:
    """Return an empty table; all columns but the first (or the last `numbers`) are aligned right."""
    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, title=title or None, title_justify="left"
    )
    right = len(heads) - 1 if numbers is None else numbers
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place >= len(heads) - right else "left", overflow="fold")
    return table
