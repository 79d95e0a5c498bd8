"""Beside the walk: what the versions changed, and what would be cheaper under the one in hand."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from textual.content import Content

from ktui.core.format import safe
from ktui.core.prediction.alternatives import Cheaper
from ktui.core.routes import badge_of_route
from ktui.tui.versions.view import VersionRow, cause_sentences
from ktui.tui.widgets.lines import line, lines, pad

_INDENT, _VERSION = 2, 6  # cells
NOTHING = "no cheaper form of it is known under this version"


def changes_content(rows: Sequence[VersionRow], width: int, height: int) -> Content:
    """Each version that changed something for this request, its causes, and what they changed."""
    if not rows:
        return Content("")
    causes = [(row.version, text) for row in rows for text in cause_sentences(row)]
    if not causes:
        return line((f"{rows[0].version} to {rows[-1].version} answer it alike", "$ink-muted"))
    drawn = [
        line((pad(version, _VERSION), "bold $ink-strong"), (text, "$foreground")) for version, text in causes
    ]
    return lines([each.truncate(width, ellipsis=True) for each in drawn[:height]])


def cheaper_content(found: Iterable[Cheaper], width: int, height: int) -> Content:
    """Each form with where it would be served, and why; with lines between them where those fit."""
    blocks = [_block(item, width) for item in found]
    if not blocks:
        return line((NOTHING, "$ink-muted"))
    apart = sum(map(len, blocks)) + len(blocks) - 1 <= height
    drawn: list[Content] = []
    for block in blocks:
        drawn += [line(""), *block] if drawn and apart else block
    return lines(drawn[:height])


def _block(item: Cheaper, width: int) -> list[Content]:
    badge = badge_of_route(item.route)
    head = line(
        ("→ ", "bold $success"),
        (item.change or "ask in another way", "bold $ink-strong"),
        ("  ", ""),
        (f"{badge.letter} ", badge.style),
        (badge.word, "$ink-muted"),
    ).truncate(width, ellipsis=True)
    why = textwrap.wrap(safe(item.why), max(10, width - _INDENT))
    return [head, *(line((" " * _INDENT + text, "$ink-muted")) for text in why)]
