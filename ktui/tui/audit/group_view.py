"""One group of requests: its route, latency, cheaper variants, and etcd's slow requests."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.audit.report import GroupReport, Report
from ktui.core.format import integer
from ktui.tui.audit.group_panels import instead_content, request_content, route_content, slow_content
from ktui.tui.audit.latency import latency_content
from ktui.tui.audit.report_view import explanation_of, slow_reads_of
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.tabs import tabs_content

# The panels: title, and tab; in a small terminal one is shown at a time.
PANELS = {
    "route": ("route", "route"),
    "latency": ("latency and errors", "latency"),
    "instead": ("write instead", "instead"),
    "slow-reads": ("slow in etcd, probably caused by it", "slow in etcd"),
}


class GroupView(Container):
    """The panels about one group."""

    _panel = 0

    def compose(self) -> ComposeResult:
        yield Panel("request", id="request", classes="box")
        yield Panel(id="tabs")
        with Container(id="detail"):
            yield Panel(PANELS["route"][0], id="route", classes="box")
            with Vertical(id="beside"):
                for name in ("latency", "instead", "slow-reads"):
                    yield Panel(PANELS[name][0], id=name, classes="box")

    def on_mount(self) -> None:
        self.turn(0)

    def show(self, group: GroupReport, report: Report) -> None:
        explained, slow = explanation_of(group, report), slow_reads_of(group, report)
        entitle(self.query_one("#request"), line(f"group #{group.rank} of {integer(len(report.groups))}"))
        entitle(self.query_one("#route"), line(f"route under {report.kube_version}"))
        builds: dict[str, Callable[[int, int], Content]] = {
            "request": lambda width, height: request_content(group, report, width, height),
            "route": lambda width, height: route_content(group, report, explained, width, height),
            "latency": lambda width, height: latency_content(group, width, height),
            "instead": lambda width, height: instead_content(group, width, height),
            "slow-reads": lambda width, height: slow_content(slow, bool(report.etcd), width, height),
        }
        for name, build in builds.items():
            self.query_one(f"#{name}", Panel).show(build)

    def turn(self, step: int) -> None:
        """Show the next panel, where there is room for only one."""
        self._panel = shown = (self._panel + step) % len(PANELS)
        for place, name in enumerate(PANELS):
            self.query_one(f"#{name}").set_class(place == shown, "-shown")
        self.query_one("#beside").set_class(shown > 0, "-shown")
        titles = [tab for _, tab in PANELS.values()]
        self.query_one("#tabs", Panel).show(lambda width, height: tabs_content(titles, shown, width))
