"""The actions of keys in a replay and on a recording: seek, speed, step, markers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.core.format import clock_time
from ktui.tui.dashboard import Dashboard
from ktui.tui.prompt.prompt import Prompt

if TYPE_CHECKING:
    from ktui.core.recordings.markers import TimelineMarker
    from ktui.tui.replay.playback import Playback

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
        self._play(partial(self._to_marker, step))

    def action_record(self) -> None:
        toggle_recording(self)

    def action_marker(self) -> None:
        ask_marker(self)

    def _play(self, act: Callable[[Playback], None]) -> None:
        playback = self.intake.playback
        if playback is not None:
            act(playback)
            self.tick()

    def _to_marker(self, step: int, playback: Playback) -> None:
        if (marker := _marker(playback, step)) is not None:
            playback.seek(marker.at)
        else:
            self.notify("no marker there: m adds one")


def _marker(playback: Playback, step: int) -> TimelineMarker | None:
    position = playback.position
    if step > 0:
        return after(playback.markers, position.at)
    return before(playback.markers, position.at - (_NEAR if position.playing else 0.0))


def after(markers: Sequence[TimelineMarker], at: float) -> TimelineMarker | None:
    """Return the first marker after a time; `markers` oldest first. None without one."""
    place = bisect_right(markers, at, key=lambda item: item.at)
    return markers[place] if place < len(markers) else None


def before(markers: Sequence[TimelineMarker], at: float) -> TimelineMarker | None:
    """Return the last marker before a time; `markers` oldest first. None without one."""
    place = bisect_left(markers, at, key=lambda item: item.at)
    return markers[place - 1] if place else None


def ask_marker(app: Dashboard) -> None:
    """Prompt for a marker's text; the marker is for the moment of this key."""
    playback = app.intake.playback
    if playback is None and not app.recording.running:
        app.notify("markers need a recording: R starts one")
        return
    at = playback.position.at if playback is not None else app.clock()
    app.screen.query_one(Prompt).open(
        "◆",
        "",
        hint=f"what happened at {clock_time(at)}? enter sets the marker, esc leaves it",
        typed=lambda text: "",
        entered=lambda text: set_marker(app, text, at),
    )


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


def watch_recording(app: Dashboard) -> None:
    """Notify the user when a recording has ended because of an error."""
    if problem := app.recording.failed():
        app.notify(problem, title="recording ended", severity="error", timeout=20)
