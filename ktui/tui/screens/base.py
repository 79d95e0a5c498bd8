"""What every screen shares: header, banner, body, the prompt, the footer, and when to paint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen

from ktui.tui.model.filter import FilterError
from ktui.tui.model.format import safe
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.state import State
from ktui.tui.source import Link
from ktui.tui.widgets.banner import Banner
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.key_bar import KeyBar
from ktui.tui.widgets.prompt import Prompt
from ktui.tui.widgets.vtable import VTable

if TYPE_CHECKING:
    from ktui.tui.app import KtuiApp

# Classes of a screen by its size in cells, for the style sheets.
WIDTHS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
HEIGHTS = [(0, "-short"), (32, "-tall")]
FILTER_HINT = "word  column:begins  ~contains  ms>10  !not"


class ModeScreen(Screen[None]):
    """A screen reached by its number.

    Subclasses give `compose_body` and paint from the state when told to:
    `paint_tables` at most 10 times a second and not while paused, `paint_panels`
    4 times. Both are called at once when the screen is shown.
    """

    MODE: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    @property
    def ktui(self) -> KtuiApp:
        return cast("KtuiApp", self.app)

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Container(id="body"):
            yield Banner()
            with Container(id="content"):
                yield from self.compose_body()
        yield Prompt()
        yield KeyBar()

    # For subclasses.

    def compose_body(self) -> ComposeResult:
        """The widgets of this screen."""
        yield from ()

    def paint_tables(self, state: State) -> None:
        """Give the tables their rows (≤ 10 Hz)."""

    def paint_panels(self, state: State) -> None:
        """Give the panels their content (4 Hz)."""

    def active_table(self) -> VTable[Any] | None:
        """The table that `/`, `s` and `e` act on: the one with the focus, else the first."""
        if isinstance(self.focused, VTable):
            return self.focused
        return next(iter(self.query(VTable)), None)

    def object_in_hand(self) -> tuple[str, Any] | None:
        """What `y` shows: a title and a JSON value (or a text)."""
        return None

    def request_in_hand(self) -> InHand | None:
        """The read request under the cursor: the Versions screen takes it up when it comes next."""
        return None

    # Painting.

    def on_mount(self) -> None:
        self.call_after_refresh(self.paint)

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.call_after_refresh(self.paint)

    @property
    def paintable(self) -> bool:
        """Its widgets are there: not before it is composed, nor when the app is being taken down."""
        return self.is_mounted and bool(self.query(HeaderBar)) and bool(self.query(KeyBar))

    def paint(self) -> None:
        """Everything, now."""
        if not self.paintable:
            return
        self.paint_tables(self.ktui.state)
        self.paint_frame(self.ktui.state, self.ktui.link)
        self.paint_panels(self.ktui.state)

    def paint_frame(self, state: State, link: Link) -> None:
        """Header and banner."""
        self.query_one(HeaderBar).show_state(state, link, self.ktui.paused)
        self.query_one(Banner).show_link(state, link)

    # The prompt.

    def open_filter(self) -> None:
        table = self.active_table()
        if table is None:
            return

        def typed(text: str) -> str:
            try:
                table.set_filter(text)
            except FilterError as error:
                return str(error)
            self.show_filter(table)
            return ""

        prompt = self.query_one(Prompt)
        prompt.open("/", table.filter.text, hint=FILTER_HINT, typed=typed, entered=typed)
        self._prompt_for = table

    _prompt_for: VTable[Any] | None = None

    @on(Prompt.Closed)
    def _prompt_closed(self, event: Prompt.Closed) -> None:
        table, self._prompt_for = self._prompt_for, None
        if table is not None and not event.kept:
            table.set_filter("")
            self.show_filter(table)
        target = table or self.active_table()
        if target is not None:
            target.focus()
        else:
            self.set_focus(None)

    def show_filter(self, table: VTable[Any]) -> None:
        """Say in the frame of the table that it is filtered, and how much that hides."""
        frame = table if table.styles.border_top[0] else table.parent
        text = f"/{table.filter.text}  {len(table.rows):,} of {table.total:,}" if table.filter else ""
        if frame is not None and hasattr(frame, "border_subtitle"):
            frame.border_subtitle = Content(safe(text))
