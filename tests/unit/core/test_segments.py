"""Recordings in segments: they rotate, each is readable alone, and a directory reads as one recording."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ktui.contract.events import AnyEvent, Dropped, EtcdProgress, Marker, ServerInfo
from ktui.contract.recording import RecordingError
from ktui.core.recordings import segments as module
from ktui.core.recordings.markers import TimelineMarker, worst_finding
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.recorder import write_recording
from ktui.core.recordings.segmented import LONGEST_SEGMENT, SegmentedRecorder
from ktui.core.recordings.segments import check_beginning, choose_segments, segment_name, segments_of
from tests.recordings import read_recording

NOW = 1_800_000_000.0
SERVER = ServerInfo(
    at=NOW, ktui_version="0", kube_version="1.36", etcd_version="", etcd_kind="kube-apiserver", endpoints=[],
    writable=False, progress="assumed",
)  # fmt: skip


def events(first: int, count: int) -> list[AnyEvent]:
    return [EtcdProgress(seq=n, at=NOW + n, head=n) for n in range(first, first + count)]


def beginning() -> Sequence[AnyEvent]:
    return [SERVER]


class Told(list[str]):
    """What a recorder said."""


@pytest.fixture
def told() -> Told:
    return Told()


def recorder(directory: Path, told: Told, **options: float) -> SegmentedRecorder:
    retention, most = options.get("retention", 1e9), int(options.get("most", 1 << 30))
    return SegmentedRecorder(directory, retention, most, options.get("now", NOW), told.append)


@pytest.fixture
def five(tmp_path: Path) -> Iterator[Path]:
    """Five segments of equal size; the second has the worst finding."""
    for number in range(1, 6):
        marks: list[AnyEvent] = [Marker(at=NOW + number, text=f"finding {number}", severity=1, cost=number)]
        if number == 2:
            marks.append(Marker(at=NOW + 2.5, text="the worst", severity=3, cost=1.0))
        write_recording(
            tmp_path / segment_name(number, NOW + number), [SERVER, *events(number * 100, 90), *marks]
        )
    yield tmp_path


def test_segments_rotate_by_age_and_each_begins_with_the_state(tmp_path: Path, told: Told) -> None:
    writer = recorder(tmp_path, told)
    for hour in range(3):
        now = NOW + hour * LONGEST_SEGMENT
        writer.write(events(hour * 10, 10), beginning, now)
        writer.write(events(hour * 10 + 5, 5), beginning, now + 1)
    writer.close()
    found = segments_of(tmp_path)
    assert [path.name for path in found] == [
        "segment-000001-20270115T080000Z.ndjson.gz",
        "segment-000002-20270115T090000Z.ndjson.gz",
        "segment-000003-20270115T100000Z.ndjson.gz",
    ]
    assert [len(list(read_recording(path))) for path in found] == [16, 16, 16]
    assert {type(check_beginning(path)) for path in found} == {ServerInfo}
    assert (writer.segments, writer.events, writer.missing, told) == (3, 45, 0, [])


def test_the_directory_is_private(tmp_path: Path, told: Told) -> None:
    recorder(tmp_path / "new", told).close()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_the_oldest_segments_go_beyond_size_and_retention(tmp_path: Path, told: Told) -> None:
    most = 80_000
    for number in range(1, 12):
        path = tmp_path / segment_name(number, NOW)
        path.write_bytes(gzip.compress(os.urandom(10_000) + b"\n"))
        age = 100_000 if number < 3 else 0
        os.utime(path, (time.time() - age, time.time() - age))
    writer = recorder(tmp_path, told, most=most, retention=50_000.0, now=time.time())
    writer.write(events(1, 10), beginning, time.time())
    writer.close()
    kept = segments_of(tmp_path)
    assert [module.number_of(path) for path in kept] == [6, 7, 8, 9, 10, 11, 12]
    assert sum(path.stat().st_size for path in kept) <= most
    assert writer.deleted == 5
    later = recorder(tmp_path, told, retention=50_000.0, now=time.time() + 60_000)
    later.close()
    assert segments_of(tmp_path) == []


def test_other_files_stay(tmp_path: Path, told: Told) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    os.utime(other, (1, 1))
    recorder(tmp_path, told).close()
    assert other.read_text() == "mine"


def test_a_full_segment_is_ended(tmp_path: Path, told: Told) -> None:
    writer = recorder(tmp_path, told, most=8 * 100)
    writer.write(events(1, 500), beginning, NOW)
    while writer.bytes < 100:  # the writer's thread sends no signal
        time.sleep(0.01)
    writer.write(events(501, 5), beginning, NOW + 1)
    writer.close()
    assert writer.segments == 2


def test_two_recorders_exclude_each_other(tmp_path: Path, told: Told) -> None:
    first = recorder(tmp_path, told)
    with pytest.raises(RecordingError, match=f"another `ktui record` writes into {tmp_path}"):
        recorder(tmp_path, told)
    first.close()
    recorder(tmp_path, told).close()


def test_a_directory_that_cannot_be_one(tmp_path: Path, told: Told) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"cannot record into .*: File exists"):
        recorder(tmp_path / "file", told)


@pytest.mark.parametrize("cut", [1, 9, 40, 200])
def test_a_torn_end_is_cut_and_told(cut: int, tmp_path: Path, told: Told) -> None:
    path = tmp_path / segment_name(7, NOW)
    write_recording(path, [SERVER, *events(1, 400)])
    whole = list(read_recording(path))
    path.write_bytes(path.read_bytes()[:-cut])
    with RecordingReader(path) as torn:
        readable = [line.event for line in torn.lines()]
        assert torn.warning
    recorder(tmp_path, told).close()
    assert len(told) == 1 and told[0].startswith(f"{path.name} was not ended by its recorder: ")
    with RecordingReader(path) as mended:
        assert [line.event for line in mended.lines()] == readable == whole[: len(readable)]
        assert not mended.warning
    assert path.stat().st_mode & 0o777 == 0o600
    recorder(tmp_path, told).close()
    assert len(told) == 1, "only once"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


_FULL = """
import resource, sys, time
from pathlib import Path
from ktui.contract.events import EtcdProgress
from ktui.core.recordings import segmented
segmented.RETRY = 0.0
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
def events(n):
    numbers = range(n * 5000, n * 5000 + 5000)
    return [EtcdProgress(at=1e9 + i, head=i * 7919 % 10007, compact=i * i) for i in numbers]
writer = segmented.SegmentedRecorder(Path(sys.argv[1]), 1e6, 1 << 30, 1e9, print)
limit(40_000)  # as on a full disk: files cannot grow
n = 0
while writer._recorder is None or not writer._recorder.problem:
    writer.write(events(n), list, 1e9)
    n += 1
    while writer._recorder is not None and writer._recorder.waiting and not writer._recorder.problem:
        time.sleep(0.01)
limit(0)
for _ in range(3):
    writer.write(events(n), list, 1e9 + 1)
    while writer._recorder is not None and not writer._recorder.problem:
        time.sleep(0.01)
limit(hard)
writer.write(events(n + 1), list, 1e9 + 2)
writer.write(events(n + 2), list, 1e9 + 3)
writer.close()
print(n, writer.segments, writer.events, writer.missing, repr(writer.problem))
"""


def test_a_full_disk_leaves_readable_segments_and_the_recording_goes_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path)], capture_output=True, text=True, check=True, timeout=100
    )
    *said, figures = done.stdout.splitlines()
    before, segments, written, missing, problem = figures.split()
    first, second = segments_of(tmp_path)
    assert "cannot continue recording" in said[0] and "File too large" in said[0]
    assert "what was recorded stays readable" in said[0]
    assert said[-1] == f"recording again into {second.name}"
    assert (segments, problem) == ("2", "''")
    kept = list(read_recording(first))
    assert kept and kept == [event for event in kept if isinstance(event, EtcdProgress)]
    again = list(read_recording(second))
    assert isinstance(again[0], Dropped) and again[0].count == int(missing)
    assert len(again) == 10_001
    assert int(written) + int(missing) == (int(before) + 5) * 5_000


def test_a_directory_reads_as_one_recording(five: Path) -> None:
    with RecordingReader(five) as reader:
        found = [line.event for line in reader.lines()]
        assert not reader.warning
        assert reader.stored == sum(path.stat().st_size for path in segments_of(five))
    assert found == [event for path in segments_of(five) for event in read_recording(path)]


def test_a_torn_segment_in_between_ends_with_its_last_whole_line(five: Path) -> None:
    second = segments_of(five)[1]
    plain = gzip.decompress(second.read_bytes())
    second.write_bytes(gzip.compress(plain[:-10]))
    with RecordingReader(five) as reader:
        found = [line.event for line in reader.lines()]
        assert reader.warning == (
            f"{second.name}: its last line is incomplete; everything before it is readable"
        )
    assert len(found) == 5 * 92 + 1 - 1
    second.unlink()
    with RecordingReader(five) as reader:
        assert len(list(reader.lines())) == 4 * 92


def test_what_is_too_large_is_read_around_the_worst_finding(
    five: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = segments_of(five)
    size = len(gzip.decompress(paths[0].read_bytes()))
    assert choose_segments(five).paths == paths
    assert choose_segments(five, most=1).paths == [paths[1]]
    assert choose_segments(five, most=int(2.5 * size)).paths == paths[:2]
    assert choose_segments(five, most=int(3.5 * size)).paths == paths[:3]
    monkeypatch.setattr(module.choose_segments, "__defaults__", (lambda share: None, int(3.5 * size)))
    with RecordingReader(five) as reader:
        assert reader.warning == (
            "3 of 5 segments, those around the worst finding; each of the others is a recording of its own"
        )


def test_without_findings_the_newest_are_read(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write_recording(tmp_path / segment_name(number, NOW), [SERVER, *events(1, 90)])
    assert choose_segments(tmp_path, most=1).paths == segments_of(tmp_path)[2:]


def test_an_empty_directory(tmp_path: Path) -> None:
    for read in (check_beginning, RecordingReader):
        with pytest.raises(
            RecordingError, match=f"{tmp_path} is a directory without segments of `ktui record`"
        ):
            read(tmp_path)


def test_the_worst_finding_is_the_most_severe_then_the_most_expensive_then_the_first() -> None:
    mine = TimelineMarker(1.0, "mine", own=True)
    low, high = TimelineMarker(2.0, "a", severity=1, cost=9.0), TimelineMarker(4.0, "b", severity=2, cost=3.0)
    again = TimelineMarker(5.0, "c", severity=2, cost=3.0)
    assert worst_finding([mine, low, again, high]) == high
    assert worst_finding([mine]) is None
