"""The Workloads screen: tables, charts and texts of a run, its fixes, two runs side by side; faults."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from textual.content import Content

from ktui.contract.faults import KINDS, Fault
from ktui.core.format import (
    elapsed,
    figure,
    integer,
    long_bytes,
    milliseconds,
    short_bytes,
    short_count,
    times,
)
from ktui.core.table.columns import Column
from ktui.tui.charts.chart import AXIS, FOOT, ROUTES, decades_above_foot, route_series, with_axis
from ktui.tui.charts.plot import Series, columns_in, marked, marks, named, round_top, stacked
from ktui.tui.dialogs.dialog import ConfirmScreen, Menu
from ktui.tui.keys.bindings import FIX_KEYS
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import first_lines, line, pad, wrap, wrapped
from ktui.tui.workloads.session import Session
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.summary import COMPARED, LiveSecond
from ktui.workloads.running.workload import Workload


class WorkloadRow(Struct, frozen=True):
    """A workload and the state of its run: "" (never), "running", "done", "failed"."""

    workload: Workload
    state: str = ""

    @property
    def name(self) -> str:
        return self.workload.name


class KnobRow(Struct, frozen=True):
    """A knob with its value as `--set` takes it, and as it is shown; `changed` if that is not the default."""

    knob: Knob
    value: str
    shown: str
    changed: bool = False

    @property
    def name(self) -> str:
        return self.knob.name


WORDS = 40  # cells for a sentence; with fewer it is shown only in the panel about the selected row

_GLYPHS = {"": ("·", "$ink-faint"), "running": ("●", "$success"), "done": ("✓", "$ink-muted"),
           "failed": ("✕", "bold $error")}  # fmt: skip

WORKLOAD_COLUMNS: tuple[Column[WorkloadRow], ...] = (
    Column("state", "", lambda row: _GLYPHS[row.state], lambda row: row.state, width=1, priority=0,
           about="● runs, ✓ has run, ✕ could not"),
    Column("name", "workload", lambda row: (row.name, "bold" if row.state == "running" else ""), width=18,
           priority=0, about="its name in `ktui workload run`"),
    Column("sentence", "what it does", lambda row: (row.workload.sentence, "$ink-muted"), width=WORDS,
           flex=1, priority=3, about="what it does"),
)  # fmt: skip

KNOB_COLUMNS: tuple[Column[KnobRow], ...] = (
    Column("knob", "knob", lambda row: row.name, width=15, priority=0, about="its name for `--set`"),
    Column("value", "value", lambda row: (row.shown or "–", "bold $accent" if row.changed else ""), width=12,
           priority=0, about="its value now; highlighted when it is not the default"),
    Column("about", "what it is", lambda row: (row.knob.about, "$ink-muted"), width=WORDS, flex=1, priority=3,
           about="what it does"),
)  # fmt: skip


_SIDES = 12  # cells of a value
_NAME = 12  # cells that are left at least of the first column of a cut table
_GAP = "  "


def status_content(about: str, session: Session | None, width: int, height: int) -> Content:
    """Return what the workload does (or `about` a knob), and the state of its run."""
    problem = wrap(session.problem, width, 2) if session is not None and session.problem else []
    sentence = wrap(about, width, max(1, height - 1 - len(problem)))
    parts = [line((text, "$foreground")) for text in sentence]
    parts += [line((text, "bold $error")) for text in problem]
    if session is None:
        parts.append(line(("enter starts it at this server", "$ink-muted")))
    elif session.running:
        if (last := session.last) is None:
            parts.append(line(("starting …", "$ink-muted")))
        else:
            side = f"{last.variant}: " if last.variant else ""
            since = f"{elapsed(len(session.seconds))} · {side}{last.phase}"
            now = (f" · {last.now}" if last.now else "", "$ink-muted")
            speed = f" · simulated time {last.speed:g}× real time" if last.speed != 1.0 else ""
            parts.append(line(("● ", "$success"), since, now, (speed, "bold $warning")))
    elif session.summary is not None:
        seconds = f"{session.summary['seconds']:.0f} s"
        parts.append(line(("✓ ", "$ink-muted"), f"{session.summary['ended']} after {seconds}"))
    return first_lines(parts, width, height)


def outcome_content(
    workload: Workload,
    runs: Sequence[dict[str, Any]],
    tables: Sequence[dict[str, Any]],
    width: int,
    height: int,
) -> Content:
    """Return the fixes with their keys, the last two runs, and the tables; a new comparison comes first."""
    fixes = [
        line((f" {key.upper():<3} ", "bold $accent"), (fix.title, "$foreground"))
        for key, fix in zip(FIX_KEYS, workload.fixes, strict=False)
    ]
    compared = list(_side_by_side(runs))
    parts = [*compared, *fixes] if runs and len(runs[-1]["variants"]) > 1 else [*fixes, *compared]
    parts += [
        text
        for caveat in _caveats(runs)
        for text in wrapped(caveat, width, "$warning", indent="  ", first=("! ", "$warning"))
    ]
    for table in tables:
        parts += list(_table(table, width))
    return first_lines(parts or [line(("no run yet", "$ink-muted"))], width, height)


def _caveats(runs: Sequence[dict[str, Any]]) -> list[str]:
    return [*runs[-1].get("caveats", ()), *runs[-1].get("remarks", ())] if runs else []


def tables_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the workload's tables in a summary; of a comparison those of both sides."""
    variants = run["variants"]
    if len(variants) == 1:
        return list(variants[0]["tables"])
    return [
        table | {"title": f"{variant['variant']}: {table['title']}"}
        for variant in variants
        for table in variant["tables"]
    ]


def _side_by_side(runs: Sequence[dict[str, Any]]) -> Iterator[Content]:
    """Yield the two sides of a comparison, or the last two runs; nothing after the first run."""
    sides = runs[-1]["variants"] if runs else []
    names = "A, B"
    if len(sides) == 1 and len(runs) > 1:
        sides = [runs[-2]["variants"][-1], *sides]
        names = "the run before, this run"
    if len(sides) < 2:
        return
    first, second = sides
    changed = [
        f"{name} {first['knobs'][name]} → {value}"
        for name, value in second["knobs"].items()
        if first["knobs"].get(name) != value
    ]
    yield line((f"{names}: {', '.join(changed) or 'same knobs'}", "bold"))
    rows = [(title, first["total"][name], second["total"][name], "bytes" in name) for name, title in COMPARED]
    rows += [
        (f"{share} ms", first["total"]["ms"][share], second["total"]["ms"][share], False)
        for share in first["total"]["ms"]
    ]
    for title, a, b, is_bytes in rows:
        cells = ["–" if value is None else _value(value, is_bytes=is_bytes) for value in (a, b)]
        factor = times(b / a) if a and b is not None else ""
        yield line(
            (pad(title, 20), "$ink-muted"), *(pad(cell, _SIDES, right=True) for cell in cells), f"  {factor}"
        )


def _value(value: float, *, is_bytes: bool) -> str:
    return long_bytes(value) if is_bytes else figure(value) if isinstance(value, float) else integer(value)


def _table(document: dict[str, Any], width: int = 0) -> Iterator[Content]:
    """Yield a table of the summary, its columns as wide as their longest cell.

    In `width` cells (0: any number) the first column, which has names, is cut rather than figures.
    """
    rows = document["rows"]
    if not rows:
        return
    heads = list(rows[0])
    widths = [
        max(len(str(row[head])) for row in [dict(zip(heads, heads, strict=True)), *rows]) for head in heads
    ]
    if width and (surplus := sum(widths) + len(_GAP) * (len(widths) - 1) - width) > 0:
        widths[0] = max(min(_NAME, widths[0]), widths[0] - surplus)
    yield line((document["title"], "bold"))
    yield line((_cells(heads, widths), "$ink-muted"))
    for row in rows:
        yield line(_cells([str(row[head]) for head in heads], widths))


def results_text(runs: Sequence[dict[str, Any]], tables: Sequence[dict[str, Any]], width: int) -> str:
    """Return the last two runs or both sides of one, and all tables with their notes, wrapped at `width`."""
    compared = "\n".join(text.plain.rstrip() for text in _side_by_side(runs))
    parts = [compared] if compared else []
    if caveats := _caveats(runs):
        parts.append("\n".join(text for caveat in caveats for text in textwrap.wrap(caveat, width)))
    for table in tables:
        notes = [
            text for note in table["notes"] for text in textwrap.wrap(note, width, subsequent_indent="  ")
        ]
        parts.append("\n".join([*(text.plain.rstrip() for text in _table(table)), "", *notes]))
    return "\n\n\n".join(parts)


def _cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(
        pad(cell, width, right=place > 0)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


Seconds = Sequence[LiveSecond]


@dataclass(frozen=True, slots=True)
class LiveChart:
    """A chart of seconds: its series from the foot upwards, `label` for the axis' upper end."""

    id: str
    title: str
    series: Callable[[Seconds], list[Series]]
    label: Callable[[float], str]
    newest: Callable[[LiveSecond], str]
    logarithmic: bool = False


def _routes(seconds: Seconds) -> list[Series]:
    return [
        route_series(badge, [float(second.routes.get(badge.letter, 0)) for second in seconds])
        for badge in ROUTES
    ]


def _latency(seconds: Seconds) -> list[Series]:
    middle = [decades_above_foot(second.p50) for second in seconds]
    high = [decades_above_foot(second.p95) - low for second, low in zip(seconds, middle, strict=True)]
    return [Series("#", "$chart-typical", middle), Series("|", "$chart-most", high)]


def _latency_label(decades: float) -> str:
    """Return ms, or seconds where ms would not fit the axis."""
    ms = FOOT * 10**decades
    return milliseconds(ms) if ms < 10_000 else f"{ms / 1000:g} s"


CHARTS = (
    LiveChart("routes", "requests/s", _routes, short_count,
              lambda second: " ".join(f"{letter} {count}" for letter, count in sorted(second.routes.items()))
              or "0"),
    LiveChart("etcd", "etcd bytes/s",
              lambda seconds: [Series("#", "$route-etcd", [float(second.etcd_bytes) for second in seconds])],
              short_bytes, lambda second: f"{short_bytes(second.etcd_bytes)} in {second.etcd_rpcs} RPCs"),
    LiveChart("latency", "latency ms", _latency, _latency_label,
              lambda second: f"p50 {milliseconds(second.p50)} p95 {milliseconds(second.p95)}",
              logarithmic=True),
    LiveChart("waits", "cache lag: longest wait ms",
              lambda seconds: [Series("#", "$route-wait", [second.wait_ms for second in seconds])],
              milliseconds, lambda second: milliseconds(second.wait_ms)),
)  # fmt: skip


def chart_content(chart: LiveChart, seconds: Seconds, symbols: Symbols, width: int, height: int) -> Content:
    """Return an axis and a column per second, the newest at the right; ▼ marks a knob or a fault."""
    if not seconds:
        return line(("nothing runs", "$ink-muted"))
    cells = max(1, width - AXIS - 1)
    shown = list(seconds)[-columns_in(cells, symbols) :]
    series = chart.series(shown)
    most = max((sum(values) for values in zip(*(item.values for item in series), strict=True)), default=0.0)
    top = float(max(2, math.ceil(most))) if chart.logarithmic else round_top(most)
    rows = stacked(series, top, cells, height, symbols)
    rows[0] = marked(rows[0], marks([bool(second.marker) for second in shown], cells, symbols), symbols)
    names: dict[int, str] = {}  # of the marks: the knobs and faults of these seconds, by cell
    for place, second in enumerate(shown):
        if second.marker:
            (cell,) = marks([at == place for at in range(len(shown))], cells, symbols)
            names[cell] = f"{names.get(cell, '')} {second.marker}".lstrip()
    rows[0] = named(rows[0], names)
    return with_axis(chart.label(top), milliseconds(FOOT) if chart.logarithmic else "0", rows)


def busiest(seconds: Seconds) -> LiveSecond:
    """Return the newest second with answers, or else the newest."""
    return next((second for second in reversed(seconds) if second.routes), seconds[-1])


LETTERS = {"p": "pause", "s": "slow", "c": "cut", "w": "stall", "h": "compact", "f": "quota", "r": "restart",
           "x": "kill"}  # fmt: skip
_ASKS = "!"


def lasting(kind: str) -> str:
    """Return how long a fault of the menu lasts: its default duration."""
    if kind == "kill":
        return "for good"  # a run can restart its own server, the dashboard only by `r`
    seconds = KINDS[kind].seconds
    return f"{seconds:g} s" if seconds else "at once"


class FaultScreen(Menu[str], bindings="jump"):
    """The kinds of faults, each by its letter."""

    DEFAULT_CSS = """
    FaultScreen > Vertical { width: 78; }
    """

    def __init__(self) -> None:
        entries = []
        for letter, kind in LETTERS.items():
            asks = (_ASKS if KINDS[kind].breaks else " ", "bold $warning")
            lasts = (pad(lasting(kind), 10, right=True), "$foreground")
            about = (f"  {KINDS[kind].about}", "$ink-muted")
            entry = line((f" {letter}  ", "bold $accent"), pad(kind, 8), asks, lasts, about)
            entries.append((letter, entry, kind))
        hint = f"letter or enter · {_ASKS} asks first"
        super().__init__("inject a fault", hint, ("jump.close", "none"), entries)


def question(fault: Fault) -> ConfirmScreen:
    """Return the dialog that asks before a fault that breaks etcd or the server."""
    kind = KINDS[fault.kind]
    ends = "r starts another one." if fault.kind == "kill" else "Every client of this server is affected."
    what = "kill the server" if fault.kind == "kill" else f"fault: {fault.kind}"
    lost = ", and what only it holds is lost" if fault.kind == "kill" else ""
    return ConfirmScreen(what, f"{kind.about}{lost} ({lasting(fault.kind)}).\n{ends}")
