"""A recording may come from anywhere: it plays, or one sentence names file, line and mistake."""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings

from ktui.cli.recording import as_text, summarise
from ktui.contract.recording import RecordingError
from ktui.core.recordings import segments
from ktui.core.recordings.segments import check_beginning
from ktui.core.reducer import state_events
from ktui.core.replay.index import Index
from ktui.core.replay.player import Player
from ktui.core.sharing.share import Sharer
from tests.recordings import read_recording
from tests.unit.core.mutated import LINES, recordings

pytestmark = pytest.mark.slow


@contextmanager
def file_of(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.ndjson"
        path.write_bytes(content)
        yield path


def check_sentence(error: RecordingError, path: Path) -> None:
    text = str(error)
    assert text.startswith(str(path)) and "\n" not in text
    assert re.search(r"line \d+|is empty|has no telemetry events", text), text


@settings(max_examples=120)
@given(recordings())
def test_mutated_recordings_play_or_are_refused(content: bytes) -> None:
    with file_of(content) as path:
        try:
            summary = summarise(path)
        except RecordingError as error:
            check_sentence(error, path)
        else:
            assert as_text(summary).replace("\n", "").isprintable()
        with suppress(RecordingError):
            list(Sharer(b"secret", hashing=True).share(read_recording(path)))
        try:
            index = Index(path)
        except RecordingError as error:
            check_sentence(error, path)
            return
        player = Player(index)
        while not player.ended:
            player.step_forward()
        state_events(player.state, index.ended)  # an empty list where the state holds nothing
        assert player.number == index.events
        player.seek((index.began + index.ended) / 2)
        index.close()


SERVER, PROGRESS = LINES[0], b'{"type":"progress","at":1790000001,"head":7}'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"type":"progress","at":1e308,"head":7}', "Expected `float` <= 253402300799.0 - at `$.at`"),
        (b'{"type":"progress","at":1e999,"head":7}', "Number out of range - at `$.at`"),
        (b'{"type":"progress","at":NaN,"head":7}', "JSON is malformed: invalid character"),
        (b'{"type":"progress","at":-1,"head":7}', "Expected `float` >= 0.0 - at `$.at`"),
        (b'{"type":"progress","at":1,"head":-7}', "Expected `int` >= 0 - at `$.head`"),
        (b'{"type":"progress","at":1,"head":' + b"9" * 30 + b"}", "Expected `int` <= 9223372036854775807"),
        (b'{"type":"progress","at":1,"head":' + b"9" * 9_000 + b"}", "Integer value out of range"),
        (b'{"type":"progress","at":1}', "missing required field `head`"),
        (b'{"type":"progress","head":1,"x":' + b"[" * 1_000_000, "JSON nests too deeply"),
        (b'{"type":"tomorrow","x":' + b'{"x":' * 500_000, "JSON nests too deeply"),
        (b'{"type":"marker","text":"\xff"}', "a text in it is not UTF-8"),
        (b'{"type":"request_finished","id":1,"status":200,"route":"","ms":1,"phases":{"etcd":-1}}', ">= 0.0"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_line_is_named_with_what_is_wrong(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "r"
    path.write_bytes(b"\n".join([SERVER, PROGRESS, line, PROGRESS]) + b"\n")
    for read in (summarise, Index, lambda path: list(read_recording(path))):
        with pytest.raises(RecordingError) as raised:
            read(path)
        assert str(raised.value).startswith(f"{path} is damaged: line 3: not a telemetry event: ")
        assert says in str(raised.value)
    path.write_bytes(line + b"\n")
    with pytest.raises(RecordingError, match="line 1: not a telemetry event"):
        check_beginning(path)


@pytest.mark.parametrize("content", [bytes(9 << 20), b"x" * (9 << 20)], ids=["zeros", "letters"])
def test_a_giant_line_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r"
    for made in (content, SERVER + b"\n" + content, gzip.compress(content)):
        path.write_bytes(made)
        with pytest.raises(RecordingError, match=r"line \d is longer than any event \(4 MiB\)"):
            summarise(path)


def test_a_bomb_is_not_unpacked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its lines are: a recording never packs that well, and the disk is not ours to fill."""
    monkeypatch.setattr(segments, "MOST_UNPACKED", 1 << 20)
    path = tmp_path / "r.gz"
    path.write_bytes(gzip.compress(SERVER + b"\n" + (b'{"type":"of tomorrow"}\n' * 1_000_000)))
    with pytest.raises(RecordingError) as raised:
        summarise(path)
    packed = path.stat().st_size
    assert str(raised.value) == f"{path} is not a recording: unpacked it has more than 200 times its size"
    assert packed < 100_000


@pytest.mark.parametrize("name", ["/dev/null", "/dev/zero", "/"])
def test_what_is_no_file(name: str) -> None:
    with pytest.raises(RecordingError):
        summarise(Path(name))
