"""Waterfall and funnel of one request."""

from __future__ import annotations

from textual.content import Content

from ktui.tui.model.format import integer, long_bytes, milliseconds
from ktui.tui.model.state import RequestRow
from ktui.tui.model.walkthrough import FunnelStep, Phase, funnel_of, phases_of
from ktui.tui.widgets.lines import line, lines

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NAME = 10
_NUMBER = 8
# Phases that wait for somebody else stand out from those that work.
_STYLES = {"wait": "$route-wait", "etcd": "$route-etcd", "queue": "$route-wait", "other": "$ink-faint"}


def waterfall_content(row: RequestRow | None, width: int, height: int) -> Content:
    """One bar a phase, each beginning where the one before ends."""
    phases = phases_of(row) if row is not None else []
    if not phases:
        return line((_nothing(row), "$ink-muted"))
    total = max(phase.start + phase.ms for phase in phases)
    track = max(6, width - _NAME - _NUMBER - 3)
    return lines(_phase(phase, total, track) for phase in phases[:height])


def _phase(phase: Phase, total: float, track: int) -> Content:
    start = int(phase.start / total * track) if total else 0
    bar = _bar(phase.ms / total if total else 0.0, track)[: max(1, track - start)]
    return line(
        (phase.name[:_NAME].ljust(_NAME), "$ink-muted"),
        (" " * start, ""),
        (bar, _STYLES.get(phase.name, "$route-cache")),
        (" " * (track - start - len(bar)), ""),
        (milliseconds(phase.ms).rjust(_NUMBER), "$foreground"),
        (" ms", "$ink-muted"),
    )


def funnel_content(row: RequestRow | None, width: int, height: int) -> Content:
    """One centred bar a step: what each one let through."""
    steps = funnel_of(row) if row is not None else []
    if not steps:
        return line((_nothing(row), "$ink-muted"))
    greatest = max((step.objects or 0 for step in steps), default=0)
    track = max(6, width - _NAME - 2 * _NUMBER - 3)
    return lines(_step(step, greatest, track) for step in steps[:height])


def _step(step: FunnelStep, greatest: int, track: int) -> Content:
    share = (step.objects or 0) / greatest if greatest else 0.0
    cells = max(1, round(share * track)) if step.objects else 0
    left = (track - cells) // 2
    return line(
        (step.name[:_NAME].ljust(_NAME), "$ink-muted"),
        (" " * left, ""),
        ("▆" * cells, "$route-etcd" if step.name == "etcd keys" else "$route-cache"),
        (" " * (track - left - cells), ""),
        (integer(step.objects or 0).rjust(_NUMBER), "$foreground"),
        ((long_bytes(step.bytes) if step.bytes else "").rjust(_NUMBER + 2), "$ink-muted"),
    )


def _bar(share: float, track: int) -> str:
    """A bar in eighths of a cell, never quite nothing and never beyond the track."""
    eighths = max(1, round(share * track * 8))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else ""))[: max(1, track)]


def _nothing(row: RequestRow | None) -> str:
    if row is None:
        return "no request selected"
    if row.finished is None:
        return "the watch is still open" if row.started.verb == "WATCH" else "no answer yet"
    return "answered before anything was read"
