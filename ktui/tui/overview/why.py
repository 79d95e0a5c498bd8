"""Why the request under the cursor took the way it took."""

from __future__ import annotations

from typing import Any

from ktui.core.prediction.alternatives import NOTHING, Alternatives
from ktui.core.state import RequestRow, State
from ktui.tui.requests.why import title_of, why_content
from ktui.tui.widgets.lines import entitle
from ktui.tui.widgets.panel import Panel


class WhyPanel(Panel):
    """The reason for its route, and what it would take under other versions."""

    def __init__(self) -> None:
        super().__init__("why", id="why", classes="box")
        self._painted: tuple[Any, ...] = ()

    def paint(self, row: RequestRow | None, state: State) -> None:
        if (row, state.server) == self._painted:
            return
        self._painted = (row, state.server)
        alternatives = _alternatives(row, state) if row is not None else NOTHING
        entitle(self, title_of(row))
        self.show(lambda width, height: why_content(row, alternatives, width, height))


def _alternatives(row: RequestRow, state: State) -> Alternatives:
    from ktui.core.prediction.predict import alternatives_of  # the rules: not before there is a request

    return alternatives_of(row, state)
