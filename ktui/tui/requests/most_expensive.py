"""The most expensive kinds of requests, one per line: client, request, cost, remedy."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from textual.content import Content

from ktui.core.format import percent, processed_text, told_apart
from ktui.core.ranking.rank_lines import RankLine, shape_runs
from ktui.core.ranking.remedy import Remedy, saves_only_the_answer, what_is_left
from ktui.core.references import Part
from ktui.tui.charts.bars import bar
from ktui.tui.requests.ranking_columns import route_runs
from ktui.tui.widgets.lines import line, lines, longest_that_fits, pad, wrapped

EMPTY = (
    "no reads answered yet — once some are, the most expensive are ranked here, with what to do about them"
)
TOP = Part("most expensive")  # reference to the ranking
_SHARE, _BAR, _SIZE = 4, 8, 8
_WITH_SIZE, _WITH_BAR = 100, 130  # cells


class RankedRemedy(Struct, frozen=True):
    """A line of the ranking and its best remedy. `early`: too little was seen of it to advise anything."""

    row: RankLine
    remedy: Remedy | None
    early: bool = False


def most_expensive_content(ranked: Sequence[RankedRemedy], width: int, height: int) -> Content:
    """Return as many lines as fit, or what will be shown here."""
    if not ranked:
        return lines(wrapped(EMPTY, width, "$ink-muted")[:height])
    shown = ranked[:height]
    changes = [each.remedy.change for each in shown if each.remedy is not None]
    return lines(_line(each, width, changes) for each in shown)


def _line(ranked: RankedRemedy, width: int, changes: Sequence[str]) -> Content:
    row = ranked.row
    head = [(f"{percent(row.share):>{_SHARE}} ", "bold $warning")]
    if width >= _WITH_BAR:
        head += [(pad(bar(row.share, _BAR), _BAR + 1), "$warning")]
    if width >= _WITH_SIZE:
        size = processed_text(row.spent.processed_bytes, row.spent.imputed_bytes)
        head += [(f"{size:>{_SIZE}}  ", "$foreground")]
    letters = route_runs(row)
    head += [*letters, (" " * (3 - len(letters)) or " ", "")]
    client = 18 if width >= _WITH_SIZE else 12
    head += [(pad(row.client, client) + " ", "$ink-strong")]
    left = line(*head)
    rest = width - left.cell_length
    # The rest of the line is halved between the request and the remedy.
    room = max(16, min(44, rest // 2 - 1))
    asked = line(*shape_runs(row.group.key.shape)) if row.group is not None else line("")
    if row.open is not None:
        longer = [asked + line((f"  {words}", "$ink-muted")) for words in (row.open.words(), row.open.speed)]
        asked = longest_that_fits([*longer, asked], room)
    asked = asked.truncate(room, ellipsis=True, pad=True)
    advice = _advice(ranked, rest - room - 1, changes)
    return Content.assemble(left, asked, " ", advice).truncate(width, ellipsis=True)


def _advice(ranked: RankedRemedy, width: int, changes: Sequence[str]) -> Content:
    """Return the advice; `changes` are those of all lines, from which it differs also when it is cut."""
    remedy, group = ranked.remedy, ranked.row.group
    if group is None:
        return Content("")
    if ranked.early:
        return line(("one request so far", "$ink-faint"))
    if remedy is None or saves_only_the_answer(group, remedy):
        return line((what_is_left(group).short, "$ink-muted"))
    arrow = ("→ ", f"bold {remedy.style}")
    change = line(arrow, (told_apart(remedy.change, changes, width - len(arrow[0])), remedy.style))
    full = change + line((f"  {remedy.saving()}", "$ink-muted"))
    return longest_that_fits([full, change], width)
