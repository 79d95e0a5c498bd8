"""Two panels of the Overview: why the selected request took its route, and the most expensive reads."""

from __future__ import annotations

from typing import Any

from ktui.core.format import processed_text
from ktui.core.prediction.alternatives import NOTHING, Alternatives
from ktui.core.ranking.lines import RankLines
from ktui.core.ranking.ranking import Group
from ktui.core.state import RequestRow, State
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.most_expensive import RankedRemedy, most_expensive_content
from ktui.tui.requests.why import title_of, why_content
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel

MOST = 3  # lines of the most expensive reads
_HABIT = 10.0  # seconds


class MostExpensivePanel(Panel):
    """Built at most once a second, as a faster change of order could not be read."""

    def __init__(self) -> None:
        super().__init__("most expensive reads", id="most-expensive", classes="box")
        self._ranks = RankLines()
        self._painted: tuple[int, int, int] | None = None

    def paint(self, state: State) -> None:
        ranking = state.ranking
        stamp = (id(state), ranking.total.count, int(state.now))
        if stamp == self._painted:
            return
        self._painted = stamp
        ranked = _ranked(self._ranks, state)
        size = processed_text(ranking.total.processed_bytes, ranking.total.imputed_bytes)
        of = (f" · of {size} processed · ", "$ink-muted")
        subtitle = (of, (key_of("overview.ranking"), "$accent"), (" all", "$ink-muted")) if ranked else ()
        entitle(self, line("most expensive reads", *subtitle))
        self.show(lambda width, height: most_expensive_content(ranked, width, height))


def _ranked(ranks: RankLines, state: State) -> list[RankedRemedy]:
    """Return the MOST most expensive lines, each with the remedy that saves most."""
    rows = ranks.of(state, most=MOST)
    if not rows:
        return []
    from ktui.core.ranking.remedies import (
        remedies_of,  # start-up time: no rules before the first request
    )

    found = [remedies_of(row.group, state) if row.group is not None else [] for row in rows]
    return [
        RankedRemedy(row, next(iter(remedies), None), row.group is not None and _is_early(row.group, state))
        for row, remedies in zip(rows, found, strict=True)
    ]


def _is_early(group: Group, state: State) -> bool:
    """True until a kind of requests was seen twice, or is known for ten seconds: one request is no habit."""
    return group.count < 2 and state.now - group.first_at < _HABIT


class WhyPanel(Panel):
    """The reason for the selected request's route, and its cost under other versions."""

    def __init__(self) -> None:
        super().__init__("why", id="why", classes="box")
        self._painted: tuple[Any, ...] = ()

    def paint(self, row: RequestRow | None, state: State, *, pinned: bool = False) -> None:
        """`pinned`: another request is highlighted by now; the title says so, with this one's time."""
        if (row, state.server, pinned) == self._painted:
            return
        self._painted = (row, state.server, pinned)
        alternatives = _alternatives(row, state) if row is not None else NOTHING
        entitle(self, title_of(row, pinned=pinned))
        self.show(lambda width, height: why_content(row, alternatives, width, height))


def _alternatives(row: RequestRow, state: State) -> Alternatives:
    from ktui.core.prediction.prediction import (
        alternatives_of,  # start-up time: no rules before the first request
    )

    return alternatives_of(row, state)
