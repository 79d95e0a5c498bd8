"""The request in hand, and its walk under one version."""

from __future__ import annotations

import textwrap
from urllib.parse import unquote

from textual.content import Content

from ktui.kube.routing.reasons import REASONS
from ktui.tui.model.format import safe
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.state import RouteStep
from ktui.tui.model.versions_view import Matrix, VersionRow, cause_sentences
from ktui.tui.screens.versions.columns import badge, seats_text
from ktui.tui.widgets.lines import between, line, lines, longest_that_fits
from ktui.tui.widgets.walk import headed_steps

_INDENT = 2


def request_content(in_hand: InHand, matrix: Matrix, width: int, height: int) -> Content:
    """The request on one line; below it, where there is room, what is assumed."""
    taken = line(
        (f"{in_hand.taken_from}  ", "$ink-muted"), ("i", "bold $accent"), (" types another", "$ink-muted")
    )
    request = line((f"{in_hand.verb} ", "$ink-muted"), (unquote(in_hand.target), "bold $ink-strong"))
    rows = [between(request, taken, width)]
    if matrix.problem:
        rows.append(line((matrix.problem, "$route-error")))
    else:
        rows.append(line((f"predicted by the rules of each version, {matrix.cache}", "$ink-muted")))
    return lines([row.truncate(width, ellipsis=True) for row in rows[:height]])


def walk_content(row: VersionRow | None, width: int, height: int) -> Content:
    """Verdict, promises and cause; then each predicate with the value it saw."""
    if row is None:
        return line(("select a version to see the walk under it", "$ink-muted"))
    above = [*_verdict(row, width), _promises(row, width)]
    above += [
        line((f"  {row.version} changed by ", "$ink-muted"), (text, "$foreground")).truncate(
            width, ellipsis=True
        )
        for text in cause_sentences(row)
    ]
    steps = [RouteStep(*step) for step in row.under.decision.steps]
    return lines([*above, *headed_steps(steps, width, height - len(above))][:height])


def _verdict(row: VersionRow, width: int) -> list[Content]:
    one, decision = badge(row), row.under.decision
    error = decision.error
    word = f"{error.code} {error.reason}" if error is not None else one.word
    said = error.message if error is not None else REASONS[decision.reason_id]
    texts = textwrap.wrap(safe(f"{word}: {said}"), max(10, width - _INDENT), max_lines=3, placeholder=" …")
    head, *rest = texts or [word]
    first = line((f"{one.letter} ", one.style), (head[: len(word)], one.style), head[len(word) :])
    return [first, *(line((" " * _INDENT + text, "$foreground")) for text in rest)]


def _promises(row: VersionRow, width: int) -> Content:
    decision, outcome = row.under.decision, row.under.outcome
    parts = [(outcome.consistency or "").replace("_", " ")]
    if outcome.limit is not None:
        parts.append("limit honoured" if outcome.limit else "limit ignored")
    parts.append(f"{seats_text(outcome.seats)} seats" if outcome.seats.max else "no seats: no flow control")
    if outcome.wait != "none":
        parts.append(f"may wait {outcome.wait.replace('_', ' ')}")
    if decision.fallback:
        parts.append(f"else {decision.fallback.replace('_', ' ')}")
    said = [part for part in parts if part]
    indent = " " * _INDENT
    forms = (line((indent + " · ".join(said[:count]), "$ink-strong")) for count in range(len(said), 0, -1))
    return longest_that_fits(forms, width)
