"""The panels about one request; where there is no room for all, one at a time."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.core.prediction.alternatives import Alternatives
from ktui.core.state import RequestRow
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.chain import chain_content
from ktui.tui.requests.cost import funnel_content, waterfall_content
from ktui.tui.requests.decision_trace import calls_content, command_content, trace_content
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.tabs import tabs_content

PANELS = {
    "walk": "decision trace",
    "chain": "request chain",
    "waterfall": "phases",
    "funnel": "funnel",
    "calls": "etcd RPCs",
    "command": "replay as",
}


class RequestDetail(Container):
    """Decision trace, chain, phases, funnel, etcd RPCs and commands of the selected request."""

    def __init__(self) -> None:
        super().__init__(id="detail")
        self._shown = 0

    def compose(self) -> ComposeResult:
        yield Panel(id="tabs")
        yield Panel(PANELS["walk"], id="walk", classes="box")
        yield Panel(PANELS["chain"], id="chain", classes="box")
        with Vertical(id="cost"):
            for name in list(PANELS)[2:]:
                yield Panel(PANELS[name], id=name, classes="box")

    def on_mount(self) -> None:
        for name, other in (("walk", "chain"), ("chain", "walk")):
            key = key_of("detail.next" if name == "walk" else "detail.previous")
            entitle(self.query_one(f"#{name}"), subtitle=line((f"{key} ", "$accent"), PANELS[other]))
        self.turn(0)

    def show_request(self, row: RequestRow | None, alternatives: Alternatives, server: str) -> None:
        """Show a request. `server` is the URL that its commands address."""
        self._show("walk", lambda width, height: trace_content(row, alternatives, width, height))
        self._show("chain", lambda width, height: chain_content(row, width, height))
        self._show("waterfall", lambda width, height: waterfall_content(row, width, height))
        self._show("funnel", lambda width, height: funnel_content(row, width, height))
        self._show("calls", lambda width, height: calls_content(row, width, height))
        self._show("command", lambda width, height: command_content(row, server, width, height))

    def _show(self, panel: str, build: Callable[[int, int], Content]) -> None:
        self.query_one(f"#{panel}", Panel).show(build)

    def turn(self, step: int) -> None:
        """Show the panel `step` places on if one has room, otherwise the request chain or the trace."""
        self._shown = index = (self._shown + step) % len(PANELS)
        names = list(PANELS)
        for place, name in enumerate(names):
            self.query_one(f"#{name}").set_class(place == index, "-shown")
        self.query_one("#cost").set_class(index > 1, "-shown")
        self.set_class(names[index] == "chain", "-chain")
        self.query_one("#tabs", Panel).show(lambda width, height: tabs_content(PANELS.values(), index, width))
