"""Panels about the selected cache: what it does, who reads it, how far all caches are behind."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from ktui.core.ranking.lines import RankLines
from ktui.core.state import State
from ktui.tui.cache.description import about
from ktui.tui.cache.readers import readers_content
from ktui.tui.cache.rows import CacheLine
from ktui.tui.cache.rv_progress import RvProgressPanel
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel

NONE_SELECTED = "select a watch cache to see what it holds and who reads it"


class CacheDetail(Horizontal):
    """Panels side by side, as many as the width allows."""

    def __init__(self) -> None:
        super().__init__(id="below")
        self._ranks = RankLines()

    def compose(self) -> ComposeResult:
        yield Panel("what it does", id="about", classes="box")
        yield Panel("who reads it", id="readers", classes="box")
        yield RvProgressPanel()

    def show(self, row: CacheLine | None, state: State) -> None:
        """Show the cache in `row`; None without a selection."""
        self._show_about(row, state.head.revision)
        self._show_readers(row, state)
        progress = self.query_one(RvProgressPanel)
        if progress.display:
            progress.paint(state)

    def _show_about(self, row: CacheLine | None, head: int) -> None:
        panel = self.query_one("#about", Panel)
        if row is None:
            panel.show(lambda width, _: line((NONE_SELECTED, "$ink-muted")), ())
        else:
            panel.show(lambda width, height: about(row, head, width, height), (id(row), head))

    def _show_readers(self, row: CacheLine | None, state: State) -> None:
        """Update the readers at most once a second."""
        panel = self.query_one("#readers", Panel)
        if row is None or not panel.display:
            return
        resource = row.resource
        stamp = (id(state), resource, state.ranking.total.count, int(state.now))
        ranks = [line for line in self._ranks.of(state) if line.of(resource)]
        panel.show(lambda width, height: readers_content(ranks, state, resource, width, height), stamp)
