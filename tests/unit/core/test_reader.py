"""Reading recordings: what is broken off at the end is passed over, what is none says so."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.contract.events import AnyEvent, EtcdProgress, EtcdUsage
from ktui.contract.recording import RecordingError, encode_lines
from ktui.core.recordings import reader as module
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.segments import check_beginning
from tests.recordings import read_recording

EVENTS: list[AnyEvent] = [
    EtcdProgress(seq=1, at=1.5, head=48_213, compact=7),
    EtcdUsage(seq=2, at=2.0, rpcs=1, sent_bytes=2, received_bytes=3),
    EtcdProgress(seq=3, at=2.5, head=48_214),
]
WHOLE = encode_lines(EVENTS)


def read(path: Path) -> tuple[list[AnyEvent], str]:
    with RecordingReader(path) as reader:
        return [line.event for line in reader.lines() if line.event is not None], reader.warning


def refusal(path: Path) -> str:
    with pytest.raises(RecordingError) as error:
        read(path)
    return str(error.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(cut=st.integers(min_value=WHOLE.index(b"\n") + 1, max_value=len(WHOLE)), packed=st.booleans())
def test_wherever_it_is_broken_off_the_whole_lines_are_read(cut: int, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(gzip.compress(WHOLE[:cut]) if packed else WHOLE[:cut])
    events, warning = read(path)
    ends = [len(encode_lines(EVENTS[:n])) for n in (1, 2, 3)]
    # The last line's line feed may be missing: the event is whole all the same.
    assert events == [event for event, end in zip(EVENTS, ends, strict=True) if cut >= end - 1]
    assert bool(warning) == all(cut not in (end, end - 1) for end in ends)


def test_a_gzip_file_reads_as_far_as_it_goes(tmp_path: Path) -> None:
    many = encode_lines([EtcdProgress(at=float(n), head=n * 7919 % 10_007) for n in range(1, 20_000)])
    packed = gzip.compress(many)
    path = tmp_path / "r.gz"
    path.write_bytes(packed[: len(packed) // 2])
    events, warning = read(path)
    assert 5_000 < len(events) < 15_000
    assert warning == "its gzip data is incomplete; everything before it is readable"
    half = len(packed) // 2
    path.write_bytes(packed[:half] + bytes([0xFF]) * 512 + packed[half + 512 :])
    with RecordingReader(path) as reader:
        assert reader.warning == "its gzip data is damaged; everything before it is readable"
        assert reader.size > len(many) // 4
    path.write_bytes(packed[:10] + b"\xff" * 100)
    assert refusal(path).endswith("r.gz is damaged: none of it can be unpacked")


def test_lines_know_their_places(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(b'{"type":"sharded_watch","shards":3}\n\n' + WHOLE)
    with RecordingReader(path) as reader:
        lines = list(reader.lines())
        assert [line.event for line in lines] == [None, None, *EVENTS]
        assert reader.event_at(lines[-1].start) == EVENTS[-1]
        assert [line.event for line in reader.lines(lines[3].start)] == EVENTS[1:]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "r is empty: nothing was recorded"),
        (gzip.compress(b"", mtime=0), "r is empty: nothing was recorded"),
        (b"hello\nworld\n", "r is not a recording: line 1: not a telemetry event: JSON is malformed"),
        (b"hello", "r is not a recording: line 1: not a telemetry event: JSON is malformed"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), "r is not a recording: line 1: not a telemetry event: "),
        (b'[1,2]\n', "r is not a recording: line 1: not a telemetry event: Expected `object`, got `array`"),
        (b'{"head":3}\n', "r is not a recording: line 1: not a telemetry event: "),
        (WHOLE + b'{"type":"progress","head":"x"}\n', "r is damaged: line 4: not a telemetry event: "),
        (WHOLE + b"\xff\xfe\n" + WHOLE, "r is damaged: line 4: not a telemetry event: "),
    ],
)  # fmt: skip
def test_what_is_no_recording_is_one_sentence(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(content)
    said = refusal(path)
    assert said.removeprefix(f"{tmp_path}/").startswith(says) and "\n" not in said


def test_a_gigantic_line_is_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 1 << 20)
    path = tmp_path / "r"
    path.write_bytes(WHOLE + b'{"type":"progress","head":' + b"1" * (2 << 20) + b"}\n")
    assert refusal(path).endswith("r is not a recording: line 4 is longer than any event (1 MiB)")


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing").endswith("missing: No such file or directory")
    assert refusal(tmp_path).endswith("is a directory without segments of `ktui record`")
    with pytest.raises(RecordingError, match="cannot read"):
        list(read_recording(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (WHOLE, ""),
        (WHOLE[:20], "is not a recording: line 1: not a telemetry event"),
        (gzip.compress(WHOLE, mtime=0), ""),
        (gzip.compress(b"hello\n", mtime=0), "is not a recording: line 1: not a telemetry event"),
        (b"", "is empty: nothing was recorded"),
        (WHOLE + b"damaged", ""),
    ],
)
def test_the_beginning_tells_what_is_no_recording_at_all(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(content)
    if not says:
        check_beginning(path)
        return
    with pytest.raises(RecordingError, match=says):
        check_beginning(path)
