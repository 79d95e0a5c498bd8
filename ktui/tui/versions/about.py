"""The request in hand, and its walk under one version."""

from __future__ import annotations

from urllib.parse import unquote

from textual.content import Content

from ktui.core.selection import Selection
from ktui.core.state import RouteStep
from ktui.kube.flowcontrol import PriorityLevel
from ktui.kube.routing import sentences
from ktui.kube.seats import PRIORITY_LEVEL_CAPS_SINCE
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.verdict import INDENT, badged_lines
from ktui.tui.requests.walk import headed_steps
from ktui.tui.versions.columns import badge, seats_text
from ktui.tui.versions.view import Matrix, VersionRow, cause_sentences
from ktui.tui.widgets.lines import between, line, lines, parts_that_fit


def request_content(selection: Selection, matrix: Matrix, width: int, height: int) -> Content:
    """The request on one line; below it, where there is room, what is assumed."""
    taken = line(
        (f"{selection.taken_from}  ", "$ink-muted"),
        (key_of("versions.edit"), "bold $accent"),
        (" types another", "$ink-muted"),
    )
    request = line((f"{selection.verb} ", "$ink-muted"), (unquote(selection.target), "bold $ink-strong"))
    rows = [between(request, taken, width)]
    if matrix.problem:
        rows.append(line((matrix.problem, "$route-error")))
    else:
        rows.append(line((f"predicted by the rules of each version, {matrix.cache}", "$ink-muted")))
    return lines([row.truncate(width, ellipsis=True) for row in rows[:height]])


def walk_content(row: VersionRow | None, level: PriorityLevel | None, width: int, height: int) -> Content:
    """Verdict, guarantees and cause; then each predicate with the value it saw."""
    if row is None:
        return line(("select a version to see the walk under it", "$ink-muted"))
    above = [*_verdict(row, width), _guarantees(row, level, width)]
    above += [
        line((f"  {row.version} changed by ", "$ink-muted"), (text, "$foreground")).truncate(
            width, ellipsis=True
        )
        for text in cause_sentences(row)
    ]
    steps = sentences.trace(row.under.plan, RouteStep)
    return lines([*above, *headed_steps(steps, width, height - len(above))][:height])


def _verdict(row: VersionRow, width: int) -> list[Content]:
    item, plan = badge(row), row.under.plan
    error = plan.error
    word = f"{error.code} {error.reason}" if error is not None else item.word
    text = error.message if error is not None else sentences.reason(plan)
    return badged_lines(item, word, text, width, 3)


def _seats(row: VersionRow, level: PriorityLevel | None) -> str:
    seats = row.under.outcome.seats
    if not seats.max:
        return "no seats: no flow control"
    text = f"{seats_text(seats)} seat{'' if seats.max == 1 else 's'}"
    if level is not None:
        return f"{text} at {level.name}"
    capped = row.under.behaviour.minor >= PRIORITY_LEVEL_CAPS_SINCE and seats.max > 1
    return f"{text}, its priority level may cap it lower" if capped else text


def _guarantees(row: VersionRow, level: PriorityLevel | None, width: int) -> Content:
    parts = sentences.guarantees(row.under.plan, _seats(row, level))
    return parts_that_fit(parts, width, "$ink-strong", indent=" " * INDENT)
