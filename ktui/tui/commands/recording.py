"""Commands of recordings and replays."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.contract.errors import RecordingError
from ktui.core.format import clock_time
from ktui.core.recordings.times import pace, spot
from ktui.tui.commands.command import Candidate, Command
from ktui.tui.dashboard import Dashboard
from ktui.tui.replay import actions

_NO_REPLAY = "this is not a replay: `ktui --replay FILE` plays a recording"


def _record(app: Dashboard, rest: str) -> str:
    if rest:
        return actions.start_recording(app, rest)
    actions.toggle_recording(app)
    return ""


def _seek(app: Dashboard, rest: str) -> str:
    playback = app.intake.playback
    if playback is None:
        return _NO_REPLAY
    try:
        playback.seek(spot(rest, playback.index.began, playback.index.ended))
    except RecordingError as error:
        return str(error)
    return ""


def _marks(app: Dashboard) -> Iterator[Candidate]:
    if (playback := app.intake.playback) is not None:
        for marker in playback.markers:
            yield Candidate(f"@{clock_time(marker.at)}", marker.text)


def _speed(app: Dashboard, rest: str) -> str:
    playback = app.intake.playback
    if playback is None:
        return _NO_REPLAY
    try:
        playback.player.speed = pace(rest)
    except RecordingError as error:
        return str(error)
    return ""


RECORDING = (
    Command(
        "record", "start or stop recording to a file", _record, "[FILE]", title="Start or stop recording"
    ),
    Command("marker", "add a marker to the recording", actions.set_marker, "[TEXT]", title="Set a marker"),
    Command("seek", "go to a time of the recording", _seek, "1:30", needed=True, candidates=_marks),
    Command("speed", "the speed of the replay", _speed, "4, max", needed=True),
)
