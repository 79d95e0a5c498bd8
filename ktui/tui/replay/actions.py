"""The actions of keys in a replay and on a recording: seek, speed, step, markers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.core.format import clock_time
from ktui.tui.dashboard import Dashboard
from ktui.tui.prompt.prompt import Prompt

if TYPE_CHECKING:
    from ktui.tui.replay.playback import Playback

_time = attrgetter("at")
_NEAR = 0.5  # seconds after a marker in which "previous marker" still skips it while playing


class ReplayActions(Dashboard):
    """The app's actions in a replay (`replay_…`) and on the recording in progress."""

    def action_replay_seek(self, seconds: float) -> None:
        """Move by `seconds`, back if negative."""
        self._play(lambda playback: playback.move(seconds))

    def action_replay_start(self) -> None:
        self._play(lambda playback: playback.seek(playback.index.began))

    def action_replay_end(self) -> None:
        self._play(lambda playback: playback.seek(playback.index.ended))

    def action_replay_step(self, events: int) -> None:
        self._play(lambda playback: playback.step(events))

    def action_replay_slower(self) -> None:
        self._play(lambda playback: playback.player.slower())

    def action_replay_faster(self) -> None:
        self._play(lambda playback: playback.player.faster())

    def action_replay_mark(self, step: int) -> None:
        """Go to the next marker (1) or the previous one (-1)."""

        def go(playback: Playback) -> None:
            at, playing, markers = playback.position.at, playback.position.playing, playback.markers
            place = bisect_right(markers, at, key=_time)
            if step < 0:
                place = bisect_left(markers, at - (_NEAR if playing else 0.0), key=_time) - 1
            if 0 <= place < len(markers):
                playback.seek(markers[place].at)
            else:
                self.notify("no marker there: m adds one")

        self._play(go)

    def action_record(self) -> None:
        toggle_recording(self)

    def action_marker(self) -> None:
        """Prompt for a marker's text; the marker is for the moment of this key."""
        playback = self.intake.playback
        if playback is None and not self.recording.running:
            self.notify("markers need a recording: R starts one")
            return
        at = playback.position.at if playback is not None else self.clock()
        hint = f"what happened at {clock_time(at)}? enter sets the marker, esc leaves it"
        entered = partial(set_marker, self, at=at)
        self.screen.query_one(Prompt).open("◆", "", hint=hint, typed=lambda text: "", entered=entered)

    def _play(self, act: Callable[[Playback], None]) -> None:
        playback = self.intake.playback
        if playback is not None:
            act(playback)
            self.tick()


def set_marker(app: Dashboard, text: str, at: float | None = None) -> str:
    """Set a marker at a time (default: now). Return an error, "" if there is none."""
    playback = app.intake.playback
    if playback is not None:
        return playback.mark(text, playback.position.at if at is None else at)
    if not app.recording.running:
        return "nothing is being recorded: `record` starts it"
    app.recording.mark(text, app.clock() if at is None else at)
    app.notify(f"marked {text}".rstrip())
    return ""


def toggle_recording(app: Dashboard) -> None:
    """Start recording to a file named after the current time, or stop."""
    if app.recording.running:
        app.notify(app.recording.stop(), title="recording ended")
    elif problem := start_recording(app, ""):
        app.notify(problem, severity="warning")


def start_recording(app: Dashboard, name: str) -> str:
    """Record to file `name`, "" for one named after the current time. Return an error or ""."""
    if app.intake.replays:
        return "this is already a recording: `ktui recording cut` makes a smaller one of it"
    return app.recording.start(Path(name).expanduser() if name else None)
