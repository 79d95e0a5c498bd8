"""A recording that is truncated or overwritten while it is played: an error that names it, never a signal."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ktui.contract.recording import RecordingError
from ktui.core.replay.index import Index
from ktui.tui.replay.playback import Playback

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[2] / "tui" / "data" / "demo.ndjson"
# In a process of its own: reading a mapped file that has shrunk would end it by a signal.
TRUNCATED = """
import os, sys
from pathlib import Path
from ktui.contract.recording import RecordingError
from ktui.core.replay.index import Index
index = Index(Path(sys.argv[1]))
os.truncate(sys.argv[1], int(sys.argv[2]))
for at in (index.began, (index.began + index.ended) / 2, index.ended):
    try:
        index.place_at(at)
    except RecordingError as error:
        print(error)
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Longer than what is read ahead."""
    lines = DEMO.read_bytes() * 3
    path = tmp_path / "r.ndjson"
    path.write_bytes(lines)
    return path


@pytest.mark.parametrize("size", [0, 200_000])
def test_a_seek_in_a_truncated_recording_is_an_error(recording: Path, size: int) -> None:
    command = [sys.executable, "-c", TRUNCATED, str(recording), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert set(done.stdout.splitlines()) == {f"{recording} was changed or truncated while it was read"}


def test_an_overwritten_recording_is_an_error(recording: Path) -> None:
    index = Index(recording)
    recording.write_bytes(b"x" * recording.stat().st_size)
    with pytest.raises(RecordingError, match="was changed or truncated"):
        index.place_at(index.ended)
    index.close()


def test_a_replaced_recording_plays_on(recording: Path, tmp_path: Path) -> None:
    index = Index(recording)
    before = index.place_at(index.ended)
    shutil.copy(__file__, tmp_path / "other")
    (tmp_path / "other").replace(recording)
    after = index.place_at(index.ended)
    assert (after.number, after.state.requests.keys()) == (before.number, before.state.requests.keys())
    index.close()


@pytest.mark.anyio
async def test_the_dashboard_holds_what_it_shows_and_says_why(recording: Path) -> None:
    now = 0.0
    playback = Playback(Index(recording), 1.0, lambda: now)
    now += 1.0
    playback.advance()
    at = playback.position.at
    recording.write_bytes(b"")
    playback.seek(playback.index.ended)
    assert playback._seeking is not None
    await playback._seeking
    assert playback.problem == f"{recording} was changed or truncated while it was read"
    playback.pause()
    playback.step(1)
    playback.seek(at)
    position = playback.position
    assert (position.at, position.playing, position.ended, playback.seeking) == (at, False, True, False)
    await playback.close()


def test_a_recording_that_was_broken_off_is_read_again_as_before(recording: Path) -> None:
    recording.write_bytes(recording.read_bytes()[:-40])
    index = Index(recording)
    assert "is incomplete" in index.warning
    assert index.place_at(index.ended).number == len(list(index.steps(0))) == index.events
    index.close()
