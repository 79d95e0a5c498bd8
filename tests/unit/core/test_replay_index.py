"""Going anywhere in a recording gives the state that folding from its beginning gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import fields
from replayed import BEGAN, written

from ktui.contract.events import AnyEvent, EtcdProgress, Marker, ServerInfo
from ktui.contract.recording import RecordingError, encode_lines
from ktui.core import reducer
from ktui.core import state as model
from ktui.core.recordings.markers import is_restart
from ktui.core.recordings.reader import Line
from ktui.core.recordings.recorder import write_recording
from ktui.core.replay import index as keyframes
from ktui.core.replay.index import BLOCK, Index
from ktui.core.state import State

pytestmark = pytest.mark.slow


def folded(events: Sequence[AnyEvent]) -> State:
    """The state as the live dashboard has it."""
    state = State()
    for event in events:
        if isinstance(event, ServerInfo) and is_restart(state.server, event):
            state = State()
        reducer.apply(state, (event,))
    return state


def plain(value: object) -> object:
    """All that an object holds, whatever it is made of."""
    if isinstance(value, dict):
        return [(plain(key), plain(one)) for key, one in value.items()]
    if isinstance(value, list | tuple | deque):
        return [plain(one) for one in value]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(
        value, "__dict__", {}
    )
    return plain(held) if held and not isinstance(value, msgspec.Struct) else repr(value)


def as_text(state: State) -> dict[str, object]:
    """Every field to the letter, but for the counters that only say that something has changed."""
    return {
        field.name: plain(getattr(state, field.name)) for field in fields(state) if field.name != "touched"
    }


@pytest.fixture
def short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs that overflow soon, so that a short recording has all there is to have."""
    for module in (model, keyframes):
        monkeypatch.setattr(module, "READ_LOG", 200)
    for module in (model, keyframes):
        monkeypatch.setattr(module, "CALL_LOG", 60)
    monkeypatch.setattr(keyframes, "EVERY", 150)


@pytest.mark.usefixtures("short_logs")
@pytest.mark.parametrize("restart_at", [0, 300])
def test_any_place_is_the_fold_from_the_beginning(restart_at: int, tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    events = written(path, 700, restart_at=restart_at)
    index = Index(path)
    assert index.events == len(events) > 2_500
    for number in (1, 2, 149, 150, 151, 900, 1_500, 2_222, len(events) - 1, len(events)):
        place = index.place_after(number)
        assert place.number == number
        assert as_text(place.state) == as_text(folded(events[:number])), f"after {number} events"
    index.close()


def test_at_a_restart_the_old_server_is_shown_until_the_new_one_reports(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    events = written(path, 100, restart_at=50)
    restart = next(n for n, event in enumerate(events) if isinstance(event, ServerInfo) and n)
    index = Index(path)
    assert len(index.place_after(restart).state.requests) == 50
    state = index.place_after(restart + 1).state
    assert not state.requests and state.server is not None and state.server.pid == 8
    assert [marker.text for marker in index.markers] == ["server restarted"]
    index.close()


def test_keyframes_are_thinned_out_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyframes, "EVERY", 20)
    monkeypatch.setattr(keyframes, "MOST", 10)
    path = tmp_path / "r.ndjson"
    events = written(path, 300, restart_at=150)
    index = Index(path)
    assert len(index._keyframes._frames) <= 11
    for number in (5, 400, 601, 900, len(events)):
        assert as_text(index.place_after(number).state) == as_text(folded(events[:number]))
    index.close()


def test_a_time_is_all_that_came_by_then(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    events: list[AnyEvent] = [
        EtcdProgress(at=10.0, head=1),
        EtcdProgress(at=12.0, head=2),
        EtcdProgress(at=11.0, head=3),  # late: it came when it was 12 already
        EtcdProgress(head=4),
        EtcdProgress(at=15.0, head=5),
    ]
    write_recording(path, events)
    index = Index(path)
    assert (index.began, index.ended) == (10.0, 15.0)
    places = [index.place_at(at) for at in (0.0, 10.0, 11.9, 12.0, 14.0, 15.0, 99.0)]
    assert [place.number for place in places] == [1, 1, 1, 4, 4, 5, 5]
    assert [place.at for place in places] == [10.0, 10.0, 11.9, 12.0, 14.0, 15.0, 15.0]
    index.close()


def test_what_a_recording_is_about_is_found_in_one_reading(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    lines = encode_lines(
        [EtcdProgress(at=100.0, head=1), Marker(at=101.5, text="deploy"), EtcdProgress(at=103.0, head=2)]
    )
    path.write_bytes(lines + b'{"type":"sharded_watch"}\n' + b'{"type":"progr')
    index = Index(path)
    assert index.events == 3 and dict(index.seconds) == {0: 1, 1: 1, 3: 1}
    assert [(marker.at, marker.text, marker.own) for marker in index.markers] == [(101.5, "deploy", True)]
    assert index.warning == "line 5 is incomplete; everything before it is readable"
    index.close()


@pytest.mark.parametrize(
    "content", [b"\n\n", b'{"type":"sharded_watch"}\n', encode_lines([EtcdProgress(head=1)])]
)
def test_a_file_without_events_in_time_is_no_recording(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(RecordingError, match="has no telemetry events with a time"):
        Index(tmp_path / "r")


def test_an_hour_is_sought_from_a_keyframe_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of an hour's 16,000 requests, of an eighth of what is kept, an eighth as far apart."""
    reads, calls = model.READ_LOG // 8, model.CALL_LOG // 8
    for module in (model, keyframes):
        monkeypatch.setattr(module, "READ_LOG", reads)
        monkeypatch.setattr(module, "CALL_LOG", calls)
    monkeypatch.setattr(keyframes, "EVERY", keyframes.EVERY // 8)
    path = tmp_path / "r.ndjson"
    written(path, 2_000, step=8 * 0.22)
    index = Index(path)
    frame = index._keyframes.before(index.events)
    assert frame.seen <= 2_000 - reads and frame.event > index.events // 4
    lines, read = index.reader.lines, 0

    def counted(start: int = 0, number: int = 1) -> Iterator[Line]:
        nonlocal read
        for line in lines(start, number):
            read += 1
            yield line

    monkeypatch.setattr(index.reader, "lines", counted)
    place = index.place_at(BEGAN + 3_515.0)
    assert len(place.state.requests) == reads and len(place.state.calls) == calls
    assert place.number - frame.event <= read < index.events - frame.event + BLOCK
    index.close()
