"""The panels of Versions: the request, its decision trace, what versions changed, cheaper variants."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from textual.content import Content

from ktui.core.format import safe
from ktui.core.prediction.alternatives import Alternative
from ktui.core.routes import badge_of_route
from ktui.core.selection import Selection
from ktui.core.state import RouteStep
from ktui.kube.flow_schemas import PriorityLevel
from ktui.kube.routing import sentences
from ktui.kube.seats import PRIORITY_LEVEL_CAPS_SINCE
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.decision_trace import headed_steps
from ktui.tui.requests.why import INDENT, badged_lines
from ktui.tui.versions.columns import badge, seats_text
from ktui.tui.versions.rows import Matrix, VersionRow, cause_sentences
from ktui.tui.widgets.lines import between, line, lines, pad, parts_that_fit


def request_content(selection: Selection, matrix: Matrix, width: int, height: int) -> Content:
    """Return the request, and below it, if the height allows, what is assumed."""
    taken = line(
        (f"{selection.taken_from}  ", "$ink-muted"),
        (key_of("versions.edit"), "bold $accent"),
        (" edits the request", "$ink-muted"),
    )
    request = line((f"{selection.verb} ", "$ink-muted"), (unquote(selection.target), "bold $ink-strong"))
    rows = [between(request, taken, width)]
    if matrix.problem:
        rows.append(line((matrix.problem, "$route-error")))
    else:
        rows.append(line((f"predicted by the rules of each version, {matrix.cache}", "$ink-muted")))
    return lines([row.truncate(width, ellipsis=True) for row in rows[:height]])


def trace_content(row: VersionRow | None, level: PriorityLevel | None, width: int, height: int) -> Content:
    """Return the route, guarantees and causes of a change, then each predicate with its value."""
    if row is None:
        return line(("select a version to see its decision trace", "$ink-muted"))
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
    return f"{text}, the limit of its priority level is not known" if capped else text


def _guarantees(row: VersionRow, level: PriorityLevel | None, width: int) -> Content:
    parts = sentences.guarantees(row.under.plan, _seats(row, level))
    return parts_that_fit(parts, width, "$ink-strong", indent=" " * INDENT)


_INDENT, _VERSION = 2, 6  # cells
NOTHING = "no cheaper variant is known under this version"


def changes_content(rows: Sequence[VersionRow], width: int, height: int) -> Content:
    """Return each version that changed something, its causes, and what they changed."""
    if not rows:
        return Content("")
    causes = [(row.version, text) for row in rows for text in cause_sentences(row)]
    if not causes:
        return line((f"{rows[0].version} to {rows[-1].version} answer it the same way", "$ink-muted"))
    drawn = [
        line((pad(version, _VERSION), "bold $ink-strong"), (text, "$foreground")) for version, text in causes
    ]
    return lines([each.truncate(width, ellipsis=True) for each in drawn[:height]])


def cheaper_content(found: Iterable[Alternative], width: int, height: int) -> Content:
    """Return each cheaper variant with its route and reason."""
    blocks = [_block(item, width) for item in found]
    if not blocks:
        return line((NOTHING, "$ink-muted"))
    apart = sum(map(len, blocks)) + len(blocks) - 1 <= height
    drawn: list[Content] = []
    for block in blocks:
        drawn += [line(""), *block] if drawn and apart else block
    return lines(drawn[:height])


def _block(item: Alternative, width: int) -> list[Content]:
    badge = badge_of_route(item.route)
    head = line(
        ("→ ", f"bold {item.style}"),
        (item.change or "cheaper variants", "bold $ink-strong"),
        ("  ", ""),
        (f"{badge.letter} ", badge.style),
        (badge.word, "$ink-muted"),
    ).truncate(width, ellipsis=True)
    why = textwrap.wrap(safe(item.why), max(10, width - _INDENT))
    return [head, *(line((" " * _INDENT + text, "$ink-muted")) for text in why)]
