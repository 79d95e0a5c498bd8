"""Why the request under the cursor took the way it took."""

from __future__ import annotations

from typing import Any

from ktui.core.prediction.outlook import NOTHING, Outlook
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
        outlook = _outlook(row, state) if row is not None else NOTHING
        entitle(self, title_of(row))
        self.show(lambda width, height: why_content(row, outlook, width, height))


def _outlook(row: RequestRow, state: State) -> Outlook:
    from ktui.core.prediction.foresee import foresee  # the rules: not before there is a request

    return foresee(row, state)
