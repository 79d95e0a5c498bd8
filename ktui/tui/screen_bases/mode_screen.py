"""The base of every screen: header, banner, body, prompt, footer, and when they are painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from ktui.core.references import Crumb, Place, Read, Reference, Selection
from ktui.core.state import State
from ktui.tui.compat import WholeScreen
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_of
from ktui.tui.navigation.modes import find_mode
from ktui.tui.prompt.prompt import Prompt, Suggestions
from ktui.tui.screen_bases.table_screen import TableScreen
from ktui.tui.source import Link
from ktui.tui.widgets.banner import Banner
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.key_bar import KeyBar
from ktui.tui.widgets.panel import Area

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

# Classes by a screen's size in cells, for the style sheets.
WIDTHS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
HEIGHTS = [(0, "-short"), (32, "-tall")]
LOW = 20  # lines: below, only the widgets that keys act on are shown
LEAST = Size(50, 12)  # below, the screen asks for a larger terminal


def _small(size: Size) -> dict[str, bool]:
    too_small = size.width < LEAST.width or size.height < LEAST.height
    return {"-low": size.height < LOW, "-too-small": too_small}


class ModeScreen(TableScreen):
    """A screen that a number key opens.

    Subclasses yield widgets in `compose_body` and paint from the state: `paint_tables`
    at most 10 times a second and not while paused, `paint_panels` 4 times a second; half as often
    while no key is pressed. Both are called at once when the screen is shown.
    """

    def __init_subclass__(cls, *, mode: str = "", **more: bool) -> None:
        """`mode` names the mode, its style sheet and its keys."""
        if mode:
            cls.MODE, cls.CSS_PATH, cls.BINDINGS = mode, f"{mode}.tcss", keys.SCOPES[mode]
        super().__init_subclass__(**more)

    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def compose(self) -> ComposeResult:
        # Textual would set them at the first resize, and style every widget a second time.
        size = self.app.size
        pairs = ((WIDTHS, size.width), (HEIGHTS, size.height))
        classes = [max(step for step in steps if step[0] <= cells)[1] for steps, cells in pairs]
        classes += [name for name, holds in _small(size).items() if holds]
        classes += ["-replay"] if self.ktui.intake.replays else []
        self.add_class(*classes, update=False)
        yield HeaderBar()
        with Area(id="body"):
            yield Banner()
            yield Static("", id="too-small", markup=False)
            with Area(id="content"):
                yield from self.compose_body()
        if self.ktui.intake.replays:
            from ktui.tui.replay.scrub_bar import ScrubBar  # start-up time

            yield ScrubBar()
        yield Suggestions()
        yield Prompt()
        yield KeyBar()

    # For subclasses.

    def compose_body(self) -> ComposeResult:
        """Yield the widgets of this screen."""
        yield from ()

    def paint_tables(self, state: State) -> None:
        """Give the tables their rows (≤ 10 Hz)."""

    def paint_panels(self, state: State) -> None:
        """Give the panels their content (4 Hz)."""

    def selected_request(self) -> Selection | None:
        """Return the read under the cursor, which the Versions screen opens with; None without one."""
        return None

    def read_for_body(self) -> Selection | None:
        """Return the read whose response body `B` shows, with its Accept header; None without one."""
        return self.selected_request()

    def references(self) -> Sequence[Reference]:
        """Return what the row under the cursor refers to, the most specific first; by default its read."""
        read = self.selected_request()
        return () if read is None else (Read(read),)

    def crumbs(self) -> Sequence[Crumb]:
        """Return the steps from the screen's top down to what is shown; () at the top."""
        return ()

    def visit(self, reference: Reference | None) -> None:
        """Show what `reference` names; None is the screen's top."""

    # Places.

    class Moved(Message):
        """The screen has opened or left something."""

        def __init__(self, before: Place, now: Place) -> None:
            super().__init__()
            self.before = before
            self.now = now

    _place_reported: Place | None = None  # the last place that the app was notified of
    _visiting = False

    @property
    def place(self) -> Place:
        crumbs = self.crumbs() if self.paintable else ()
        return crumbs[-1].place if crumbs else Place(self.MODE)

    @property
    def _all_crumbs(self) -> list[Crumb]:
        """The steps down to what is shown, with the mode as the first."""
        mode = find_mode(self.MODE)
        first = [Crumb(mode.title, Place(mode.name))] if mode is not None else []
        return [*first, *self.crumbs()]

    def action_crumb(self, at: int) -> None:
        """Go back to step `at` of the header's breadcrumbs."""
        crumbs = self._all_crumbs
        if at < len(crumbs) - 1:
            self.ktui.go_to(crumbs[at].place)

    def moved(self) -> None:
        """Report a change of `place` to the app and the header; called after opening or leaving something."""
        before, now = self._place_reported or Place(self.MODE), self.place
        if now != before and not self._visiting:
            self._place_reported = now
            self.paint_frame(self.ktui.state, self.ktui.link)
            self.post_message(self.Moved(before, now))

    def open(self, reference: Reference | None) -> None:
        """Show `reference` on behalf of the app, without reporting a move."""
        self._visiting = True
        try:
            self.visit(reference)
        finally:
            self._visiting = False
        self._place_reported = self.place
        self.paint()

    def action_elsewhere(self) -> None:
        """Open a menu of the places related to the row under the cursor."""
        from ktui.tui.dialogs.jump import JumpScreen  # start-up time
        from ktui.tui.navigation.related import related_places

        related = related_places(self.references(), self.ktui.state)
        if found := [item for item in related if item.place.mode != self.MODE]:
            JumpScreen("open related", found).ask(self.app, self.ktui.go_to)
        else:
            self.notify("this row has no related screen")

    def action_show_body(self) -> None:
        """Send the selected read again, and show its response body."""
        read, client = self.read_for_body(), self.ktui.client
        if read is None or read.verb not in ("GET", "LIST"):
            self.notify("no body to show here: only GETs and LISTs are sent again")
        elif client is None:
            self.notify("no server to send it to")
        else:
            self.show_body(read, client)

    def show_body(self, read: Selection, client: ApiClient) -> None:
        """Show a read's response body; for Secrets, only after a question."""
        from ktui.kube.requestinfo import parse_path, split_url  # start-up time
        from ktui.tui.dialogs.dialog import ConfirmScreen
        from ktui.tui.dialogs.text import BodyScreen

        body = BodyScreen(client, read)
        if parse_path(split_url(read.target)[0]).resource == "secrets":
            question = ConfirmScreen("Secrets", "The body has the values of Secrets.\n\nShow them?")
            question.ask(self.app, lambda _: self.app.push_screen(body))
        else:
            self.app.push_screen(body)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "filter" and isinstance(self.focused, Input):
            return False  # in an input `/` is a character
        return super().check_action(action, parameters)

    # Painting.

    def on_mount(self) -> None:
        # Before the layout: the banner may take a line.
        self.paint_frame(self.ktui.state, self.ktui.link)

    def on_resize(self, event: Resize) -> None:
        for name, holds in _small(event.size).items():
            self.set_class(holds, name)
        if self.has_class("-too-small"):
            need, has = f"{LEAST.width}×{LEAST.height}", f"{event.size.width}×{event.size.height}"
            self.query_one("#too-small", Static).update(
                f"This terminal is too small: {has} characters. ktui needs {need} or more: make the window "
                f"larger or its font smaller. {key_of('quit')} leaves ktui."
            )

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self.paint)

    @on(WholeScreen.Seen)
    def _mount_prompt(self) -> None:
        self.query_one(Prompt).mount_parts()

    @property
    def paintable(self) -> bool:
        """True once the screen is composed and until the app is taken down."""
        return self.is_mounted and {HeaderBar, KeyBar} <= {type(child) for child in self.children}

    def paint(self) -> None:
        if not self.paintable:
            return
        if self.ktui.start_timers:
            self.ktui.state.live.begin_frame()
        self.paint_tables(self.ktui.state)
        self.paint_frame(self.ktui.state, self.ktui.link)
        self.paint_panels(self.ktui.state)

    def paint_frame(self, state: State, link: Link) -> None:
        """Paint header, banner and the tables' frames."""
        crumbs = [crumb.text for crumb in self._all_crumbs]
        self.query_one(HeaderBar).show_state(state, link, self.ktui.paused, self.ktui.recording.sign, crumbs)
        self.query_one(Banner).show_link(state, link, self.ktui.story_text, always=self.ktui.story_active)
        self.frame_tables(self.ktui.paused)
        if self.ktui.intake.replays:
            from ktui.tui.replay.scrub_bar import ScrubBar  # start-up time

            self.query_one(ScrubBar).show_playback(self.ktui.intake.playback)
