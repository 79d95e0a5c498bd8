"""The latency and the errors of a group's requests."""

from __future__ import annotations

from textual.content import Content

from ktui.audit.report import GroupReport, Latency
from ktui.core.format import integer, long_milliseconds, percent
from ktui.tui.audit.report_view import told_latency
from ktui.tui.charts.bars import TRACK, bar, share_of
from ktui.tui.widgets.lines import line, lines


def latency_content(group: GroupReport, width: int, height: int) -> Content:
    """Return a bar for each power of two with the percentiles in it, then errors by status code."""
    took = told_latency(group)
    errors = _errors(group, width)
    if took is None:
        why = (
            "the log has no time until the initial events"
            if group.verb == "watch"
            else "no request was finished"
        )
        return lines([line((why, "$ink-muted")), *errors][:height])
    head = [] if group.verb != "watch" else [line(("until the initial events were sent", "$ink-muted"))]
    total = line(
        ("p50 ", "$ink-muted"), long_milliseconds(took.p50), ("  p95 ", "$ink-muted"),
        (long_milliseconds(took.p95), "bold $ink-strong"), ("  p99 ", "$ink-muted"),
        long_milliseconds(took.p99), ("  max ", "$ink-muted"), long_milliseconds(took.max),
    ).truncate(width, ellipsis=True)  # fmt: skip
    room = height - len(head) - len(errors) - 1
    return lines([*head, total, *_histogram(took, width, room), *errors][:height])


def _histogram(took: Latency, width: int, height: int) -> list[Content]:
    buckets = list(took.buckets)
    if height < 1:
        return []
    while len(buckets) > height:  # join pairs from the slow end, so that the highest bound stays
        buckets = [
            (pair[-1][0], sum(count for _, count in pair))
            for pair in reversed([buckets[max(0, end - 2) : end] for end in range(len(buckets), 0, -2)])
        ]
    counts = [count for _, count in buckets]
    number = max(len(integer(count)) for count in counts)
    track = max(4, min(48, width - number - 26))
    drawn, below = [], 0.0
    for bound, count in buckets:
        marks = [name for name in ("p50", "p95", "p99") if below <= getattr(took, name) < bound]
        filled = bar(share_of(count, max(counts)), track) if count else ""
        drawn.append(
            line(
                (f"< {long_milliseconds(bound)}".rjust(10) + " ", "$ink-muted"),
                (filled, "$rv-tick"),
                (TRACK * (track - len(filled)), "$line"),
                (f" {integer(count).rjust(number)}", "$foreground" if count else "$ink-faint"),
                ("  " + " ".join(marks), "$accent"),
            ).truncate(width, ellipsis=True)
        )
        below = bound
    return drawn


def _errors(group: GroupReport, width: int) -> list[Content]:
    if not group.errors:
        return [line(("no errors", "$ink-muted"))]
    runs: list[tuple[str, str]] = [("errors  ", "$ink-muted")]
    for code, count in sorted(group.errors.items(), key=lambda item: -item[1]):
        runs += [
            (code, "bold $route-error"),
            (f" ×{integer(count)} ({percent(count / group.count)})  ", "$foreground"),
        ]
    return [line(*runs).truncate(width, ellipsis=True)]
