"""The pace of a replay, without any clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from replayed import written

from ktui.contract.events import EtcdProgress
from ktui.core.recordings.recorder import write_recording
from ktui.core.replay import player as module
from ktui.core.replay.index import Index
from ktui.core.replay.player import FASTEST, SPEEDS, Player


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """One event a second from 100 to 110, then silence until 400."""
    path = tmp_path / "r.ndjson"
    write_recording(path, [EtcdProgress(at=float(at), head=at) for at in [*range(100, 111), 400, 401]])
    index = Index(path)
    yield index
    index.close()


@pytest.mark.parametrize(
    ("speed", "elapsed", "at", "told"),
    [
        (1.0, [0.0], 100.0, 0),
        (1.0, [0.1], 100.1, 1),
        (1.0, [0.5, 0.5], 101.0, 2),
        (1.0, [0.1] * 35, 103.5, 4),
        (0.25, [1.0] * 10, 102.5, 3),
        (4.0, [1.0], 104.0, 5),
        (64.0, [0.125], 108.0, 9),
        (FASTEST, [0.1], 401.0, 13),
        (1.0, [1.0] * 10, 110.0, 11),
        (1.0, [1.0] * 11, 111.0, 11),  # silence …
        (1.0, [1.0] * 12, 400.0, 12),  # … lasts two seconds at most
        (1.0, [1.0] * 13, 401.0, 13),
        (64.0, [0.2, 1.0], 176.8, 11),
        (0.25, [1.0] * 41, 110.25, 11),  # slow motion is no silence
        (64.0, [1.0] * 9, 401.0, 13),
    ],
)
def test_pace(index: Index, speed: float, elapsed: list[float], at: float, told: int) -> None:
    player = Player(index, speed)
    for seconds in elapsed:
        player.advance(seconds)
    assert (round(player.at, 6), player.number) == (at, told)
    assert player.state.head.revision == (0 if not told else [*range(100, 111), 400, 401][told - 1])


@pytest.mark.parametrize(
    ("to", "told"),
    [(0.0, 1), (100.0, 1), (105.5, 6), (105.0, 6), (300.0, 11), (400.0, 12), (1e9, 13)],
)
def test_seek(index: Index, to: float, told: int) -> None:
    player = Player(index)
    player.advance(5.0)
    player.seek(to)
    assert player.number == told and player.at == min(max(to, 100.0), 401.0)
    player.advance(1.0)
    assert player.number == min(told + (told != 11), 13), "it goes on from there"


def test_pause_and_end(index: Index) -> None:
    player = Player(index)
    player.playing = False
    player.advance(9.0)
    assert (player.at, player.number) == (100.0, 0)
    player.seek(400.5)
    player.playing = True
    player.advance(1.0)
    assert player.ended and player.playing
    player.advance(1.0)
    assert not player.playing


def test_steps_of_one_event(index: Index) -> None:
    player = Player(index)
    player.step_forward()
    player.step_forward()
    assert (player.at, player.number) == (101.0, 2)
    assert player.last is not None and player.last.event == EtcdProgress(at=101.0, head=101)
    player.put(index.place_after(1))
    assert (player.at, player.number, player.last) == (100.0, 1, None)


def test_speeds_go_up_and_down_their_ladder(index: Index) -> None:
    player = Player(index, 3.0)
    up = []
    for _ in range(8):
        player.faster()
        up.append(player.speed)
    assert up == [4.0, 8.0, 16.0, 32.0, 64.0, FASTEST, FASTEST, FASTEST]
    for _ in SPEEDS:
        player.slower()
    assert player.speed == 0.25


def test_a_flood_is_told_in_portions(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", 4)
    player = Player(index, FASTEST)
    player.advance(0.1)
    assert (player.number, player.at) == (4, 103.0), "where it is, not where it should be"
    player.advance(0.1)
    assert player.number == 8


def test_counters_differ_after_a_seek(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    written(path, 50, restart_at=25)
    index = Index(path)
    player, seen = Player(index, FASTEST), set()
    for at in (index.began, index.ended, index.began, index.ended):
        player.seek(at)
        seen.add(msgspec.structs.astuple(player.state.touched))
    player.seek(index.began)
    seen.add(msgspec.structs.astuple(player.state.touched))
    for _ in range(5):  # over the restart
        player.advance(1.0)
    seen.add(msgspec.structs.astuple(player.state.touched))
    assert len(seen) == 6 and player.state.server is not None and player.state.server.pid == 8
    assert len(player.state.requests) == 25
    index.close()
