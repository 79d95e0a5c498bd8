"""The phases and the funnel of one request."""

from __future__ import annotations

from textual.content import Content

from ktui.contract.events import RequestFinished
from ktui.core.format import figure, integer, long_bytes, milliseconds, processed_text
from ktui.core.request_view import READS, unfinished
from ktui.core.state import RequestRow
from ktui.core.walkthrough import OTHER, FunnelStep, TimedPhase, fewer_phases, funnel_of, phases_of
from ktui.tui.widgets.lines import line, lines, longest_that_fits, parts_that_fit

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
    track = max(6, width - _NAME - _NUMBER - len(_UNIT))
    below = [_total(max(total, row.ms), track), *_used(row, width)][: max(1, height - 4)]
    drawn = [_phase(phase, total, track) for phase in fewer_phases(phases, max(1, height - len(below)))]
    return lines([*drawn, *below][:height])


def _used(row: RequestRow, width: int) -> list[Content]:
    """Return lines with CPU time, memory and amplification."""
    done = row.finished
    if done is None or not (done.cpu_ms or done.peak_held):
        return []
    parts = [f"CPU {milliseconds(done.cpu_ms)} ms", f"{long_bytes(done.peak_held)} held at most"]
    if done.process_growth is not None:
        grown = f"process grew by {long_bytes(done.process_growth)}"
        parts.append(f"{grown}, other requests served too" if done.shared else grown)
    return [parts_that_fit(parts, width), _amplified(done, width)]


def _amplified(done: RequestFinished, width: int) -> Content:
    """Return `48.2 MB processed, 0.71 for each byte returned · 9.49 seat-seconds`."""
    factor = done.amplification
    times = f", {figure(factor)} for each byte returned" if factor is not None else ""
    processed = f"{processed_text(done.processed_bytes, done.imputed_bytes)} processed"
    seats = f"{figure(done.seat_seconds)} seat-seconds"
    times = f" as kube-apiserver would{times}" if done.imputed_bytes else times
    forms = [f"{processed}{times} · {seats}", f"{processed} · {seats}", seats]
    return longest_that_fits([line((form, "$ink-muted")) for form in forms], width)


def _phase(phase: TimedPhase, total: float, track: int) -> Content:
    """Return a phase's line. Its bar begins at a cell and ends at an eighth of one, the last at the end."""
    end = round((phase.start + phase.ms) / total * track * 8) if total else 0
    start = min(int(phase.start / total * track) if total else 0, max(0, -(-end // 8) - 1))
    full, rest = divmod(max(1, end - start * 8), 8)
    bar = "█" * full + _EIGHTHS[rest].strip()
    return line(
        (phase.name[:_NAME].ljust(_NAME), "$ink-muted"),
        (" " * start, ""),
        (bar, _STYLES.get(phase.name, "$route-cache")),
        (" " * (track - start - len(bar)), ""),
        (milliseconds(phase.ms).rjust(_NUMBER), "$foreground"),
        (_UNIT, "$ink-muted"),
    )


def _total(ms: float, track: int) -> Content:
    return line(
        ("total".ljust(_NAME), "$ink-muted"),
        ("├" + "─" * (track - 2) + "┤", "$ink-faint"),
        (milliseconds(ms).rjust(_NUMBER), "bold $ink-strong"),
        (_UNIT, "$ink-muted"),
    )


def funnel_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return a centred bar for each step: the objects that it let through."""
    steps = funnel_of(row) if row is not None else []
    if not any(step.objects for step in steps):
        return line((_no_object(row), "$ink-muted"))
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


def _no_object(row: RequestRow | None) -> str:
    """Return why no object was scanned: an empty collection has none, though it was read."""
    if row is None or row.finished is None or row.failed:
        return _nothing(row)
    if "fetched" in row.finished.untold:
        return "the trace does not count objects read from etcd"
    return "no object was scanned" if row.started.verb in READS else "a write scans no objects"
