"""The dashboard: folds telemetry into the state, and paints screens from it.

What only a key needs (commands, rules, help) is imported at that key, which keeps the time to the first
frame short.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.command import Provider
from textual.content import Content
from textual.widgets import Input

from ktui.tui.keys import bindings as keys
from ktui.tui.memory import LineHistory
from ktui.tui.navigation.modes import MODES as ALL_MODES
from ktui.tui.navigation.modes import OWN_FLOW
from ktui.tui.navigation.navigator import NavigationActions
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.screen_bases.first_screen import FirstScreen, opening
from ktui.tui.screen_bases.mode_screen import ModeScreen

if TYPE_CHECKING:
    from ktui.tui.commands.all_commands import Commands
    from ktui.tui.story import Story

MISTAKES = 3  # errors of the config file that are shown at the start
PANEL_EVERY = 3  # ticks: panels are painted at a third of the tables' rate


def _palette() -> type[Provider]:
    from ktui.tui.commands.all_commands import KtuiCommands  # start-up time

    return KtuiCommands


class KtuiApp(NavigationActions):
    """All screens, over one state."""

    TITLE = "ktui"
    CSS_PATH = Path(__file__).with_name("base.tcss")  # absolute: AuditApp is in another folder
    MODES: ClassVar[dict[str, Any]] = {mode.name: opening(mode) for mode in (*ALL_MODES, OWN_FLOW)}
    DEFAULT_MODE = ALL_MODES[0].name
    BINDINGS: ClassVar[list[BindingType]] = [*keys.APP, *keys.AFTER_A_JUMP]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    ENABLE_COMMAND_PALETTE = True

    _drains = 0

    @cached_property
    def story(self) -> Story:
        """The tour's steps for F9; with `--story`, and until it is taken, the banner offers it."""
        from ktui.tui.story import Story  # start-up time

        return Story(offered=self.preferences.story or self.preferences.tour_is_new)

    @cached_property
    def typed(self) -> LineHistory:
        """The history of commands, of this run and earlier ones."""
        return LineHistory("commands")

    def on_mount(self) -> None:
        if self.preferences.keymap or self.preferences.columns:
            self.call_after_refresh(self._notify_mistakes)

    def _notify_mistakes(self) -> None:
        """Show the first MISTAKES errors of the config: all of them might cover the screen."""
        mistakes = list(self.preferences.mistakes())
        if len(mistakes) > MISTAKES:
            mistakes[MISTAKES:] = [f"{len(mistakes) - MISTAKES} more: `ktui info` lists all"]
        for text in mistakes:
            self.notify(text, title="config", severity="warning", timeout=30)

    # Painting.

    def tick(self) -> None:
        """Fold the events received and let the current screen paint."""
        super().tick()
        if problem := self.recording.failed():
            self.notify(problem, title="recording ended", severity="error", timeout=20)
        if not self.screen_stack:  # the app is ending, but the timer may tick once more
            return
        screen = self.screen
        if not isinstance(screen, ModeScreen) or not screen.paintable:
            return
        self._drains += 1
        if self.start_timers:
            self.state.live.begin_frame()
        if not self.paused:
            screen.paint_tables(self.state)
        if self._drains % PANEL_EVERY == 0 or not self.start_timers:
            screen.paint_frame(self.state, self.link)
            screen.paint_panels(self.state)

    def paint_link(self) -> None:
        if self.screen_stack and isinstance(self.screen, ModeScreen) and self.screen.paintable:
            self.screen.paint_frame(self.state, self.link)

    # Actions of the app's keys.

    @property
    def commands(self) -> Commands:
        """The commands that can be typed after `:`."""
        from ktui.tui.commands.all_commands import COMMANDS  # start-up time

        return COMMANDS

    def action_command(self) -> None:
        if isinstance(self.screen, ModeScreen):
            self.screen.query_one(Prompt).open(
                ":", "", hint="tab completes · ↑ earlier lines", history=self.typed,
                entered=lambda text: self.commands.run(self, text),
                suggest=lambda text: self.commands.suggest(self, text),
            )  # fmt: skip

    def action_pause(self) -> None:
        if self.intake.playback is not None:
            self.intake.playback.pause()
            self.tick()
            return
        self.paused = not self.paused
        if isinstance(self.screen, ModeScreen):
            self.screen.paint() if not self.paused else self.screen.paint_frame(self.state, self.link)

    def action_writes(self) -> None:
        self.writes = not self.writes
        if isinstance(self.screen, ModeScreen):
            self.screen.paint()

    def action_rules(self, wanted: str = "") -> None:
        """Open the choice of the Kubernetes version that the server follows, at version `wanted`."""
        from ktui.tui.dialogs.rules import choose_rules  # start-up time

        self.keep_selection()
        choose_rules(self, wanted)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command":
            return not isinstance(self.focused, Input)  # in an input `:` is a character
        if action == "come_back":
            return self._escape_ends_jump
        if action == "command_palette":
            return not isinstance(self.screen, FirstScreen)  # which the next one replaces
        return (
            self.intake.replays if action.startswith("replay_") else super().check_action(action, parameters)
        )

    @property
    def _escape_ends_jump(self) -> bool:
        """True if Esc returns to the start of a jump: there is no input or filter that it would end first."""
        screen = self.screen
        if self.came_from is None or not isinstance(screen, ModeScreen) or not screen.paintable:
            return False
        table = screen.active_table()
        return not isinstance(self.focused, Input) and not (table is not None and table.filter)

    @property
    def story_text(self) -> Content | None:
        # Once it was begun, or where it is offered: by `--story`, or at a first launch with a demo.
        server = self.state.server
        demo = self.preferences.tour_is_new and server is not None and server.etcd_kind == "embedded"
        return self.story.text if self.story_active or self.preferences.story or demo else None

    @property
    def story_active(self) -> bool:
        return "story" in self.__dict__ and self.story.active

    def action_story_next(self) -> None:
        from ktui.tui.dialogs.rules import why_not  # start-up time

        if self.client is None:
            reason = "a recording answers no requests" if self.intake.replays else why_not(self)
            self.notify(f"no tour: {reason}", severity="warning")
            return
        self.preferences.remember_tour()
        self.run_worker(self.story.next(self), group="story")

    def action_story_dismiss(self) -> None:
        self.story.dismiss()
        self.preferences.remember_tour()
        self.paint_link()

    def action_next_theme(self) -> None:
        names = [theme.name for theme in self.own_themes]
        place = names.index(self.theme) + 1 if self.theme in names else 0
        self.theme = names[place % len(names)]

    def action_help(self) -> None:
        from ktui.tui.dialogs.help import HelpScreen  # start-up time

        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen(self.screen))
