"""The dashboard: telemetry in at one end, screens out at the other."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.theme import Theme
from textual.worker import Worker

from ktui.client.connection import ClientError
from ktui.kube.versions import Behaviour, behaviour_of
from ktui.telemetry.events import AnyEvent
from ktui.telemetry.recording import RecordingError
from ktui.tui import keys, themes
from ktui.tui.commands import KtuiCommands, command_words, run_command
from ktui.tui.model import reducer
from ktui.tui.model.in_hand import EXAMPLE, InHand
from ktui.tui.model.state import State
from ktui.tui.model.versions_view import followed_behaviour
from ktui.tui.modes import MODES as ALL_MODES
from ktui.tui.screens.base import ModeScreen
from ktui.tui.screens.help import HelpScreen
from ktui.tui.screens.rules import RulesScreen
from ktui.tui.screens.text import TextScreen
from ktui.tui.source import LaunchError, Link, Source, Stage
from ktui.tui.switching import effect_content, switch_rules, why_not
from ktui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

TABLE_INTERVAL = 0.1  # seconds: tables at 10 Hz
PANEL_EVERY = 3  # drains: panels at a third of that
BACKLOG = 50_000  # events that may wait for a drain; the oldest go first, and are counted


class KtuiApp(App[int]):
    """Modes over one state. `feed` and `tick` are all that a test needs to drive it."""

    TITLE = "ktui"
    CSS_PATH = "base.tcss"
    MODES: ClassVar[dict[str, Any]] = {mode.name: mode.load() for mode in ALL_MODES}
    DEFAULT_MODE = ALL_MODES[0].name
    BINDINGS: ClassVar[list[BindingType]] = keys.APP
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {KtuiCommands}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        source: Source | None = None,
        *,
        start_timers: bool = True,
        clock: Callable[[], float] = time.time,
        theme: str = themes.DEFAULT,
    ) -> None:
        super().__init__()
        self.source = source
        self.client: ApiClient | None = None
        self.state = State()
        self.link = Link(Stage.STARTING)
        self.paused = False
        self.writes = False  # whether the logs show writes: the read path is what ktui is about
        self.clock = clock
        self.start_timers = start_timers
        self._pending: deque[AnyEvent] = deque()
        self._lost = 0
        self._drains = 0
        self._follower: Worker[None] | None = None
        self._trail: list[str] = []  # modes visited, for back and forward
        self._place = -1
        self.wanted_request = 0  # the Requests screen puts its cursor here when it is next shown
        self.in_hand: InHand | None = None  # the request that the Versions screen speaks of
        self._theme_problems = self._register_themes()
        self.theme = theme if theme in self.available_themes else themes.DEFAULT

    # Themes.

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def _register_themes(self) -> list[str]:
        found = themes.load_themes(themes.shipped_directory(), themes.user_directory())
        for theme in found.by_name.values():
            self.register_theme(theme)
        return found.problems

    @property
    def own_themes(self) -> list[Theme]:
        return [theme for name, theme in self.available_themes.items() if name.startswith("ktui-")]

    # Telemetry.

    def on_mount(self) -> None:
        for problem in self._theme_problems:
            self.notify(problem, title="theme skipped", severity="warning", markup=False)
        self._leave_on_signals()
        if self.source is not None:
            self.follow()
        if self.start_timers:
            self.set_interval(TABLE_INTERVAL, self.tick)

    def _leave_on_signals(self) -> None:
        """A `kill` leaves as `q` does: the terminal restored, no server behind."""
        if self.is_headless or threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        # A hangup is left to end the process: Textual would block on the terminal that is gone.
        loop.add_signal_handler(signal.SIGTERM, lambda: self.call_later(self.action_quit))

    def follow(self) -> None:
        """Connect to the source and read it until it ends."""
        self._follower = self.run_worker(self._follow(), name="telemetry", exclusive=True, group="telemetry")

    async def _follow(self) -> None:
        source = self.source
        if source is None:
            return
        self.set_link(Link(Stage.STARTING))
        try:
            self.client = await source.connect(lambda doing: self.set_link(Link(Stage.STARTING, doing)))
            self._begin_anew()
            self.set_link(source.link())
            async for batch in source.batches():
                self.feed(batch)
                if self.link.stage is Stage.REPLAY:
                    self.link = source.link()
            why = await source.why_stopped()
        except (ClientError, LaunchError, RecordingError) as error:
            why = await source.why_stopped() or str(error)
        if self.link.stage is not Stage.REPLAY:
            self.set_link(Link(Stage.STOPPED, why, source.restartable))

    def _begin_anew(self) -> None:
        """A new server numbers its requests from the start: nothing old may mix with it."""
        self._pending.clear()
        self._lost = 0
        self.state = State()

    def feed(self, events: Iterable[AnyEvent]) -> None:
        """Take events in; they are folded at the next tick."""
        self._pending.extend(events)
        while len(self._pending) > BACKLOG:
            self._pending.popleft()
            self._lost += 1

    def fold(self) -> None:
        """Bring the state up to what has come."""
        if self._lost:
            self.state.dropped += self._lost
            self._lost = 0
        pending, self._pending = self._pending, deque()
        reducer.apply(self.state, pending)

    def tick(self) -> None:
        """Fold what has come and let the current screen paint."""
        self.fold()
        screen = self.screen
        if not isinstance(screen, ModeScreen) or not screen.paintable:
            return
        self._drains += 1
        if not self.paused:
            screen.paint_tables(self.state)
        if self._drains % PANEL_EVERY == 0 or not self.start_timers:
            screen.paint_frame(self.state, self.link)
            screen.paint_panels(self.state)

    def set_link(self, link: Link) -> None:
        """Another connection state; the screen says it at once."""
        self.link = link
        if isinstance(self.screen, ModeScreen) and self.screen.paintable:
            self.screen.paint_frame(self.state, link)

    # Actions.

    async def action_go(self, mode: str) -> None:
        if mode == self.current_mode:
            return
        if not self._trail:
            self._trail, self._place = [self.current_mode], 0
        self._trail = [*self._trail[: self._place + 1], mode][-50:]
        self._place = len(self._trail) - 1
        await self._show_mode(mode)

    async def _show_mode(self, mode: str) -> None:
        """Go there with the request in hand."""
        self._take_in_hand()
        await self.switch_mode(mode)

    def _take_in_hand(self) -> None:
        if isinstance(self.screen, ModeScreen) and self.screen.paintable:
            self.in_hand = self.screen.request_in_hand() or self.in_hand

    def show_request(self, request_id: int) -> None:
        """Go to the Requests screen with the cursor on a request."""
        self.wanted_request = request_id
        self.call_later(self.action_go, "requests")

    async def show_versions(self, in_hand: InHand) -> None:
        """Go to the Versions screen with a request that was typed."""
        await self.action_go("versions")
        self.in_hand = in_hand
        self.tick()

    async def action_go_back(self) -> None:
        await self._walk(-1)

    async def action_go_forward(self) -> None:
        await self._walk(1)

    async def _walk(self, step: int) -> None:
        if 0 <= self._place + step < len(self._trail):
            self._place += step
            await self._show_mode(self._trail[self._place])

    def action_filter(self) -> None:
        if isinstance(self.screen, ModeScreen):
            self.screen.open_filter()

    def action_command(self) -> None:
        if isinstance(self.screen, ModeScreen):
            self.screen.query_one(Prompt).open(
                ":",
                "",
                hint="a screen, a request, kube 1.30, theme NAME",
                typed=lambda text: "",
                entered=lambda text: run_command(self, text),
                words=command_words(self),
            )

    def action_pause(self) -> None:
        self.paused = not self.paused
        if isinstance(self.screen, ModeScreen):
            self.screen.paint() if not self.paused else self.screen.paint_frame(self.state, self.link)

    def action_writes(self) -> None:
        """Hide the writes in the logs, or show them again."""
        self.writes = not self.writes
        if isinstance(self.screen, ModeScreen):
            self.screen.paint()

    def action_sort(self) -> None:
        if isinstance(self.screen, ModeScreen) and (table := self.screen.active_table()):
            table.action_sort_next()

    def action_sort_turn(self) -> None:
        if isinstance(self.screen, ModeScreen) and (table := self.screen.active_table()):
            table.action_sort_turn()

    def action_show_object(self) -> None:
        if isinstance(self.screen, ModeScreen):
            in_hand = self.screen.object_in_hand()
            if in_hand is None:
                self.notify("nothing is selected here", markup=False)
            else:
                self.push_screen(TextScreen(*in_hand))

    def action_export(self) -> None:
        if isinstance(self.screen, ModeScreen) and (table := self.screen.active_table()):
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self.clock()))
            path = Path.cwd() / f"ktui-{self.current_mode}-{stamp}.csv"
            try:
                path.write_text(table.to_csv(), encoding="utf-8")
            except OSError as error:
                self.notify(f"cannot write {path}: {error.strerror}", severity="error", markup=False)
            else:
                self.notify(f"{len(table.rows):,} rows written to {path}", markup=False)

    def action_rules(self, wanted: str = "") -> None:
        """Choose the Kubernetes version that the server follows."""
        if problem := why_not(self):
            self.notify(problem, severity="warning", markup=False)
        else:
            self._take_in_hand()
            now = followed_behaviour(self.state) or behaviour_of()
            effect = partial(effect_content, self.in_hand or EXAMPLE, self.state, now)
            self.push_screen(RulesScreen(now, wanted, effect), self.follow_rules)

    def follow_rules(self, chosen: Behaviour | None) -> None:
        """Have the server follow the rules chosen."""
        if chosen is not None:
            asking = switch_rules(self, chosen.version, chosen.changed_gates)
            self.run_worker(asking, group="rules", exclusive=True)

    def action_restart(self) -> None:
        if self.link.stage is Stage.STOPPED and self.link.restartable:
            self.follow()

    def action_next_theme(self) -> None:
        names = [theme.name for theme in self.own_themes]
        place = names.index(self.theme) + 1 if self.theme in names else 0
        self.theme = names[place % len(names)]

    def action_help(self) -> None:
        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen(self.screen))

    async def action_quit(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
        if self.source is not None:
            await self.source.close()
        self.exit(0)
