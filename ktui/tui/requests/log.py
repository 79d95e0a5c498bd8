"""The live log of requests, with details of the selected one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.core.format import figure, integer, long_bytes, milliseconds, processed_text
from ktui.core.prediction.prediction import alternatives_of
from ktui.core.ranking.ranking import GroupKey
from ktui.core.ranking.remedies import compare_row
from ktui.core.ranking.remedy import NOTHING, Alternatives
from ktui.core.references import CompareRef
from ktui.core.request_view import (
    OTHER,
    READS,
    FunnelStep,
    TimedPhase,
    fewer_phases,
    funnel_of,
    phases_of,
    unfinished,
)
from ktui.core.state import READ_LOG, RequestRow
from ktui.tui.dashboard import OnDashboard
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.request_columns import FULL, RequestTable
from ktui.tui.requests.why import calls_content, chain_content, command_content, trace_content
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line, lines, longest_that_fits, parts_that_fit
from ktui.tui.widgets.panel import OneShown, Panel

# The phases and the funnel of one request.

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NAME = 10
_NUMBER = 8
_UNIT = " ms"
# What the bytes of a step are; shown where there is room.
_BYTES = {"etcd keys": "received", "scanned": "parsed", "matched": "encoded", "returned": "sent"}
_WORD = 9  # cells of such a word and the blank before it
_LEAST_TRACK = 18
# Phases that wait differ in colour from those that work.
_STYLES = {
    "wait": "$route-wait",
    "etcd": "$route-etcd",
    "queue": "$route-wait",
    "seats": "$route-wait",
    OTHER: "$ink-faint",
}


def waterfall_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return a bar for each phase, beginning where the previous one ends, and the total below."""
    phases = phases_of(row) if row is not None else []
    if row is None or not phases:
        return line((_nothing(row), "$ink-muted"))
    total = max(phase.start + phase.ms for phase in phases)
    name = max(_NAME, *(len(phase.name) + 1 for phase in phases))
    track = max(6, width - name - _NUMBER - len(_UNIT))
    sum_line = line(
        ("total".ljust(name), "$ink-muted"), ("├" + "─" * (track - 2) + "┤", "$ink-faint"),
        (milliseconds(max(total, row.ms)).rjust(_NUMBER), "bold $ink-strong"), (_UNIT, "$ink-muted"),
    )  # fmt: skip
    below = [sum_line, *_used(row, width)][: max(1, height - 4)]
    drawn = [_phase(phase, total, name, track) for phase in fewer_phases(phases, max(1, height - len(below)))]
    return lines([*drawn, *below][:height])


def _used(row: RequestRow, width: int) -> list[Content]:
    """Return CPU time, memory, and `48.2 MB processed, 0.71 for each byte returned · 9.49 seat-seconds`."""
    done = row.finished
    if done is None or not (done.cpu_ms or done.peak_held):
        return []
    parts = [f"CPU {milliseconds(done.cpu_ms)} ms", f"{long_bytes(done.peak_held)} held at most"]
    if done.process_growth is not None:
        grown = f"process grew by {long_bytes(done.process_growth)}"
        parts.append(f"{grown}, other requests served too" if done.shared else grown)
    factor = done.amplification
    times = f", {figure(factor)} for each byte returned" if factor is not None else ""
    processed = f"{processed_text(done.processed_bytes, done.imputed_bytes)} processed"
    seats = f"{figure(done.seat_seconds)} seat-seconds"
    times = f" as kube-apiserver would{times}" if done.imputed_bytes else times
    forms = [f"{processed}{times} · {seats}", f"{processed} · {seats}", seats]
    amplified = longest_that_fits([line((form, "$ink-muted")) for form in forms], width)
    return [parts_that_fit(parts, width), amplified]


def _phase(phase: TimedPhase, total: float, name: int, track: int) -> Content:
    """Return a phase's line. Its bar begins at a cell and ends at an eighth of one, the last at the end."""
    end = round((phase.start + phase.ms) / total * track * 8) if total else 0
    start = min(int(phase.start / total * track) if total else 0, max(0, -(-end // 8) - 1))
    full, rest = divmod(max(1, end - start * 8), 8)
    bar = "█" * full + _EIGHTHS[rest].strip()
    return line(
        (phase.name.ljust(name), "$ink-muted"),
        (" " * start, ""),
        (bar, _STYLES.get(phase.name, "$route-cache")),
        (" " * (track - start - len(bar)), ""),
        (milliseconds(phase.ms).rjust(_NUMBER), "$foreground"),
        (_UNIT, "$ink-muted"),
    )


def funnel_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return a centred bar for each step: the objects that it let through."""
    steps = funnel_of(row) if row is not None else []
    if not any(step.objects for step in steps):
        none = _nothing(row)
        if row is not None and row.finished is not None and not row.failed:  # an empty collection was read
            none = "no object was scanned" if row.started.verb in READS else "a write scans no objects"
            if "fetched" in row.finished.untold:
                none = "the trace does not count objects read from etcd"
        return line((none, "$ink-muted"))
    greatest = max((step.objects or 0 for step in steps), default=0)
    track = max(6, width - _NAME - 2 * _NUMBER - 3)
    labelled = track - _WORD >= _LEAST_TRACK
    return lines(
        _step(step, greatest, track - _WORD * labelled, labelled=labelled) for step in steps[:height]
    )


def _step(step: FunnelStep, greatest: int, track: int, *, labelled: bool) -> Content:
    word = f" {_BYTES.get(step.name, '')}" if labelled and step.bytes else ""
    share = (step.objects or 0) / greatest if greatest else 0.0
    cells = max(1, round(share * track)) if step.objects else 0
    left = (track - cells) // 2
    return line(
        (step.name[:_NAME].ljust(_NAME), "$ink-muted"),
        (" " * left, ""),
        ("▆" * cells, "$route-etcd" if step.name == "etcd keys" else "$route-cache"),
        (" " * (track - left - cells), ""),
        (integer(step.objects or 0).rjust(_NUMBER), "$foreground"),
        ((long_bytes(step.bytes) if step.bytes else "").rjust(_NUMBER + 2) + word, "$ink-muted"),
    )


def _nothing(row: RequestRow | None) -> str:
    if row is None:
        return "no request selected"
    if row.finished is None:
        return unfinished(row)
    return f"{'refused' if row.failed else 'answered'} before anything was read"


class RequestDetail(Container, OneShown):
    """The panels about the selected request; where there is no room for all, one is shown at a time."""

    PANELS: ClassVar[Mapping[str, str]] = {
        "walk": "decision trace",
        "chain": "request chain",
        "waterfall": "phases",
        "funnel": "funnel",
        "calls": "etcd RPCs",
        "command": "replay as",
    }

    def compose(self) -> ComposeResult:
        yield Panel(id="tabs")
        yield Panel(self.PANELS["walk"], id="walk", classes="box")
        yield Panel(self.PANELS["chain"], id="chain", classes="box")
        with Vertical(id="cost"):
            for name in list(self.PANELS)[2:]:
                yield Panel(self.PANELS[name], id=name, classes="box")

    def on_mount(self) -> None:
        for name, other in (("walk", "chain"), ("chain", "walk")):
            key = key_of("detail.next" if name == "walk" else "detail.previous")
            entitle(self.query_one(f"#{name}"), subtitle=line((f"{key} ", "$accent"), self.PANELS[other]))
        self.turn(0)

    def show_request(self, row: RequestRow | None, alternatives: Alternatives, server: str) -> None:
        """Show a request. `server` is the URL that its commands address."""
        builds: dict[str, Callable[[int, int], Content]] = {
            "walk": partial(trace_content, row, alternatives),
            "chain": partial(chain_content, row),
            "waterfall": partial(waterfall_content, row),
            "funnel": partial(funnel_content, row),
            "calls": partial(calls_content, row),
            "command": partial(command_content, row, server),
        }
        for name, build in builds.items():
            self.query_one(f"#{name}", Panel).show(build)

    def turn(self, step: int) -> None:
        """Show the panel `step` places on if one has room, otherwise the request chain or the trace."""
        super().turn(step)
        self.set_class(list(self.PANELS)[self.shown_panel] == "chain", "-chain")


EMPTY = "no requests yet — point a client at this server (:kubeconfig), or send one in the Lab (5)"
EMPTY_TRACES = "no trace arrived yet: apiservers send every 5 s; `ktui tracing-config` prints what it needs"
EMPTY_GROUP = f"all of these requests were dropped: the log keeps the newest {READ_LOG:,} reads"


class LogView(Container, OnDashboard):
    """The log; `only` is the kind of requests that it is limited to, None for all."""

    def __init__(self) -> None:
        self.table = RequestTable(FULL, id="log", empty=EMPTY)
        self.detail = RequestDetail(id="detail")
        super().__init__(self.table, self.detail, id="log-view")
        self.only: GroupKey | None = None
        self._detail_stamp: tuple[object, ...] = ()

    @property
    def request(self) -> RequestRow | None:
        """The request under the cursor."""
        return self.table.row

    @property
    def compared(self) -> CompareRef | None:
        """The request under the cursor with a cheaper variant; None if there is none."""
        row = self.table.row
        return compare_row(row, self.ktui.state) if row is not None else None

    def on_mount(self) -> None:
        self._explain_emptiness()

    def _explain_emptiness(self) -> None:
        whole = EMPTY if self.ktui.receiver is None else EMPTY_TRACES
        self.table.empty = whole if self.only is None else EMPTY_GROUP

    def paint(self) -> None:
        self._explain_emptiness()
        self.table.paint(self.ktui.state, writes=self.ktui.writes, only=self.only)

    def paint_detail(self) -> None:
        state, row = self.ktui.state, self.table.row
        if (row, state.server) == self._detail_stamp:
            return
        self._detail_stamp = (row, state.server)
        alternatives = alternatives_of(row, state) if row is not None else NOTHING
        self.detail.show_request(row, alternatives, self.ktui.server_url)

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:  # changes of the data are painted at the panels' rate
            self.paint_detail()
