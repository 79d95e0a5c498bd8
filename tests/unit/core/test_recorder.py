"""Recordings as they are written: in a thread, readable at any moment, and never in the way."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ktui.contract.events import AnyEvent, Dropped, EtcdProgress
from ktui.contract.recording import RecordingError
from ktui.core.recordings import recorder as module
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.recorder import Recorder, write_recording
from tests.recordings import read_recording

EVENTS: list[AnyEvent] = [EtcdProgress(seq=n, at=100.0 + n, head=n) for n in range(1, 500)]


def until(holds: object) -> None:
    """Wait for another thread or process, which sends no signal."""
    deadline = time.monotonic() + 60
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["r.ndjson", "r.ndjson.gz"])
def test_a_recording_reads_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    recorder = Recorder(path)
    recorder.write(EVENTS[:1])
    recorder.write(EVENTS[1:])
    recorder.close()
    assert list(read_recording(path)) == EVENTS
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_recording_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    path.touch()
    path.chmod(0o666)
    Recorder(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_recording_is_no_symbolic_link(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    path.symlink_to(tmp_path / "other")
    with pytest.raises(RecordingError) as refused:
        Recorder(path)
    assert str(refused.value) == f"cannot record to {path}: it is a symbolic link, name the file itself"
    assert not (tmp_path / "other").exists()


def test_what_any_gzip_has_written_is_read_too(tmp_path: Path) -> None:
    write_recording(tmp_path / "r.ndjson", EVENTS)
    half = (tmp_path / "r.ndjson").read_bytes()
    two = gzip.compress(half) + gzip.compress(half)
    (tmp_path / "two.gz").write_bytes(two)
    assert list(read_recording(tmp_path / "two.gz")) == [*EVENTS, *EVENTS]


_KILLED = """
import sys, time
from pathlib import Path
from ktui.contract.events import EtcdProgress
from ktui.core.recordings.recorder import Recorder
recorder = Recorder(Path(sys.argv[1]))
recorder.write([EtcdProgress(seq=n, at=100.0 + n, head=n) for n in range(1, 500)])
while recorder.flushed < 499:
    time.sleep(0.01)
print("flushed", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("name", ["r.ndjson", "r.ndjson.gz"])
def test_a_killed_recorder_leaves_what_is_a_second_old(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    writer = subprocess.Popen([sys.executable, "-c", _KILLED, str(path)], stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None and writer.stdout.readline() == b"flushed\n"
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
    with RecordingReader(path) as reader:
        assert [line.event for line in reader.lines()] == EVENTS
        assert bool(reader.warning) == name.endswith(".gz"), "a gzip file without its end is reported"


def test_a_full_disk_ends_the_recording_with_one_sentence() -> None:
    recorder = Recorder(Path("/dev/full"))
    recorder.write(EVENTS)
    until(lambda: recorder.problem)
    assert recorder.problem == "cannot continue recording to /dev/full: No space left on device"
    recorder.write(EVENTS)
    recorder.close()


def test_what_a_slow_disk_cannot_take_is_counted_in_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BACKLOG", 10)
    monkeypatch.setattr(module, "PAUSE", 60.0)  # the writer sleeps until the end
    recorder = Recorder(tmp_path / "r.ndjson")
    recorder.write(EVENTS[:8])
    recorder.write(EVENTS[8:12])
    recorder.write(EVENTS[12:13])
    recorder.close()
    told = list(read_recording(tmp_path / "r.ndjson"))
    assert told == [*EVENTS[:8], Dropped(count=4, at=EVENTS[12].at), EVENTS[12]]


def test_a_fresh_recording_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    path.write_text("mine")
    with pytest.raises(RecordingError, match=r"cannot record to .*: File exists"):
        Recorder(path, fresh=True)
    with pytest.raises(RecordingError, match=r"cannot write .*: File exists"):
        write_recording(path, EVENTS)
    assert path.read_text() == "mine"


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot record"):
        Recorder(tmp_path / "no" / "such" / "directory")
    with pytest.raises(RecordingError, match=r"plain or gzip, end the name in \.gz"):
        Recorder(tmp_path / "r.ndjson.zst")


def test_a_copy_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> object:
        yield EVENTS[0]
        raise RecordingError("the source is damaged")

    with pytest.raises(RecordingError, match=r"cannot write .*: the source is damaged"):
        write_recording(tmp_path / "r.ndjson", broken())  # type: ignore[arg-type]
    assert not (tmp_path / "r.ndjson").exists()
