"""The recording format: what is written is read back, and what is newer is skipped."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.telemetry.events import CacheState, Progress, RequestRouted, RouteStep, Toll
from ktui.telemetry.recording import (
    LineDecoder,
    Recorder,
    RecordingError,
    decode_line,
    encode_lines,
    read_recording,
)

EVENTS = [
    Progress(seq=1, at=1.5, head=48_213, compact=7),
    RequestRouted(
        seq=2,
        at=2.0,
        id=9,
        route="etcd",
        reason_id="d.unset",
        reason="…",
        steps=[RouteStep("rv?", "unset", True)],
    ),
    CacheState(seq=3, resource="pods", state="ready", rv=5, objects=3),
]


@given(st.lists(st.integers(min_value=1, max_value=40), max_size=8))
def test_chunks_of_any_size_give_the_same_events(cuts: list[int]) -> None:
    stream, decoder, events = encode_lines(EVENTS), LineDecoder(), []
    for cut in [*cuts, len(stream)]:
        events += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert events == EVENTS


def test_a_recording_reads_back(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "r.ndjson")
    recorder.write(EVENTS[:1])
    recorder.write(EVENTS[1:])
    recorder.close()
    assert list(read_recording(tmp_path / "r.ndjson")) == EVENTS


def test_types_and_fields_of_a_newer_ktui_are_skipped() -> None:
    assert decode_line(b'{"type":"sharded_watch","shards":3}') is None
    line = b'{"type":"toll","rpcs":1,"sent_bytes":2,"received_bytes":3,"seconds":4}'
    assert decode_line(line) == Toll(rpcs=1, sent_bytes=2, received_bytes=3)


@pytest.mark.parametrize(
    "line", [b"{", b"[1]", b'{"head":3}', b'{"type":"progress","head":"x"}', b"\xff\xfe"]
)
def test_a_broken_line_names_file_and_line(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.ndjson"
    path.write_bytes(encode_lines(EVENTS) + line + b"\n")
    with pytest.raises(RecordingError, match=r"broken\.ndjson, line 4: no telemetry event"):
        list(read_recording(path))


def test_files_that_cannot_be_opened_say_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot read"):
        list(read_recording(tmp_path / "missing"))
    with pytest.raises(RecordingError, match="cannot record"):
        Recorder(tmp_path / "no" / "such" / "directory")
