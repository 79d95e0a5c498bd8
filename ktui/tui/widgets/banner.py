"""What stands between the dashboard and its data, said plainly."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from ktui.tui.model.state import State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.lines import line


class Banner(Static):
    """Hidden while all is well."""

    DEFAULT_CSS = """
    Banner {
        height: auto; display: none; padding: 0 2; margin: 0 0 0 0;
        border-left: outer $warning; background: $surface;
        &.-shown { display: block; }
        &.-stopped { border-left: outer $error; }
        &.-starting { border-left: outer $primary; }
    }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._said: tuple[Content, str] = (Content(""), "")

    @property
    def text(self) -> str:
        """What it says, "" when hidden."""
        return self._said[0].plain

    def show_link(self, state: State, link: Link) -> None:
        said = banner_of(state, link)
        if said == self._said:
            return
        self._said = said
        content, kind = said
        self.update(content)
        self.set_class(bool(kind), "-shown")
        self.set_class(kind == "stopped", "-stopped")
        self.set_class(kind == "starting", "-starting")


def banner_of(state: State, link: Link) -> tuple[Content, str]:
    """The banner's text and kind ("" when there is nothing to say)."""
    if link.stage is Stage.STARTING:
        return line(("starting  ", "bold $primary"), (link.detail or "the server", "$foreground")), "starting"
    if link.stage is Stage.STOPPED:
        help_ = "press r to restart it" if link.restartable else "press q to leave"
        return (
            line(
                ("the server has stopped", "bold $error"),
                (f": {link.detail or 'the connection broke off'} ", "$foreground"),
                (f"— {help_}", "bold $ink-strong"),
            ),
            "stopped",
        )
    if state.health is not None and not state.health.ok:
        return (
            line(
                ("etcd does not answer", "bold $warning"),
                (f": {state.health.detail or 'no reason given'}", "$foreground"),
                (" — reads from the watch caches go on, everything else waits", "$ink-muted"),
            ),
            "etcd",
        )
    if state.server is not None and state.server.warnings:
        said = "; ".join(state.server.warnings)
        return line(("careful", "bold $warning"), (f": {said}", "$foreground")), "source"
    return Content(""), ""
