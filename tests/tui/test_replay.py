"""Recordings as the same screens: paced, paused, sought, marked."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ktui.contract.events import Marker
from ktui.core.recordings.recorder import write_recording
from ktui.core.replay import index
from ktui.core.replay.player import FASTEST
from ktui.tui.app import KtuiApp
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.replay.playback import Playback
from ktui.tui.replay.scrub_bar import ScrubBar
from ktui.tui.replay.source import ReplaySource
from ktui.tui.source import Stage
from ktui.tui.widgets.banner import Banner
from tests.recordings import read_recording

from .asking import SIZES
from .still import DEMO, HANGS, NORMAL, SMALL, shown, still_app

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]
BEGAN = 1_790_000_000.0


class Clock:
    """Seconds that pass when told so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """The demo with two marks of its own."""
    events = list(read_recording(DEMO))
    late = [event for event in events if event.at > BEGAN + 6]
    early = [event for event in events if event.at <= BEGAN + 6]
    marked = [*early, Marker(at=BEGAN + 6, text="deploy of api"), *late]
    path = tmp_path / "demo.ndjson"
    write_recording(path, marked)
    return path


async def until(holds: Callable[[], bool], pilot: object) -> None:
    """Wait for a condition, a message round at a time."""
    async with asyncio.timeout(HANGS):
        while not holds():
            await pilot.pause()  # type: ignore[attr-defined]


async def ready(app: KtuiApp, pilot: object) -> Playback:
    """The playback, once the recording has been read."""
    await until(lambda: app.intake.playback is not None, pilot)
    app.tick()
    playback = app.intake.playback
    assert playback is not None
    return playback


async def pressed(app: KtuiApp, pilot: object, *keys: str) -> str:
    """Press keys, wait for the seek that they may cause, and read the scrub bar."""
    playback = app.intake.playback
    assert playback is not None
    await pilot.press(*keys)  # type: ignore[attr-defined]
    await until(lambda: not playback.seeking, pilot)
    app.tick()
    await pilot.pause()  # type: ignore[attr-defined]
    return shown(app).splitlines()[-2]


async def test_space_holds_the_replay_and_lets_it_go_on(recording: Path) -> None:
    clock = Clock()
    app = KtuiApp(ReplaySource(recording, clock=clock), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        clock.now += 1.0
        app.tick()
        assert playback.player.at == BEGAN + 1.0
        assert "‖ ×1  14:13:21" in await pressed(app, pilot, "space") and not app.paused
        clock.now += 1.0
        app.tick()
        assert playback.player.at == BEGAN + 1.0, "paused"
        assert "▶ ×1" in await pressed(app, pilot, "space")
        clock.now += 0.5
        app.tick()
        assert playback.player.at == BEGAN + 1.5, "the time of the pause does not count"
        assert app.link.stage is Stage.REPLAY and app.state is playback.player.state


async def test_a_note_does_not_hide_the_scrub_bar(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await ready(app, pilot)
        before = await pressed(app, pilot, "shift+end")
        app.notify("said in passing")
        await until(lambda: "said in passing" in shown(app), pilot)
        assert shown(app).splitlines()[-2] == before


async def test_keys_seek_and_the_screens_follow(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        bar = await pressed(app, pilot, "full_stop")
        assert "14:13:25  00:05 / 00:10" in bar
        seen = len(app.state.requests)
        assert 0 < seen < 16 and len(app.screen.requests.rows) == seen
        await pressed(app, pilot, "shift+end")
        assert len(app.state.requests) == len(app.screen.requests.rows) == 16
        assert "00:05 / 00:10" in await pressed(app, pilot, "comma")
        assert len(app.screen.requests.rows) < 16, "back to a state of less"
        assert "00:10 / 00:10" in await pressed(app, pilot, "shift+right")
        assert "00:00 / 00:10" in await pressed(app, pilot, "shift+left")
        assert playback.player.at == BEGAN
        assert "event 70 of 368" in await pressed(app, pilot, "left_curly_bracket")
        assert "‖" in await pressed(app, pilot, "right_curly_bracket") and playback.player.number == 71


async def test_at_the_end_space_starts_again(recording: Path) -> None:
    clock = Clock()
    app = KtuiApp(ReplaySource(recording, FASTEST, clock=clock), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        for _ in range(2):
            clock.now += 0.1
            app.tick()
        await pilot.pause()
        assert "■ end  14:13:30" in shown(app) and playback.player.ended
        assert "▶ max  14:13:20" in await pressed(app, pilot, "space")


async def test_speed_keys_and_commands(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        assert "▶ ×4" in await pressed(app, pilot, "greater_than_sign", "greater_than_sign")
        assert "▶ ×0.25" in await pressed(app, pilot, *["minus"] * 5)
        await pressed(app, pilot, "colon", *"speed max", "enter")
        assert playback.player.speed == FASTEST
        assert "00:08" in await pressed(app, pilot, "colon", *"seek 0:08", "enter")
        await pilot.press("colon", *"seek tomorrow", "enter")
        assert "'tomorrow' is not a time of a recording" in shown(app)


async def test_marks_are_found_reached_and_set(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        bar = await pressed(app, pilot, "n")
        assert "14:13:26" in bar and bar.endswith("◆ 14:13:26 deploy of api")
        await pressed(app, pilot, "comma")
        await pilot.press("m")
        assert app.screen.query_one(Prompt).is_open
        await pressed(app, pilot, *"slow here", "enter")
        assert [(one.at - BEGAN, one.text) for one in playback.markers if one.own] == [
            (1.0, "slow here"),
            (6.0, "deploy of api"),
        ]
        kept = json.loads(recording.with_name("demo.ndjson.markers.json").read_text())
        assert kept == {"markers": [{"at": BEGAN + 1.0, "text": "slow here"}]}
        await pressed(app, pilot, "n")
        assert "◆ 14:13:21 slow here" in await pressed(app, pilot, "N")


async def test_a_mark_just_passed_is_passed_over_only_while_the_replay_plays(recording: Path) -> None:
    clock = Clock()
    app = KtuiApp(ReplaySource(recording, clock=clock), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        playback.mark("first", BEGAN + 1.0)
        await pressed(app, pilot, "n", "n")
        clock.now += 0.3
        app.tick()
        assert playback.position.at == pytest.approx(BEGAN + 6.3)
        assert "◆ 14:13:21 first" in await pressed(app, pilot, "N"), "not back to where it has just been"
        await pressed(app, pilot, "n")
        clock.now += 0.3
        app.tick()
        assert "◆ 14:13:26 deploy of api" in await pressed(app, pilot, "space", "N")
        assert "◆ 14:13:21 first" in await pressed(app, pilot, "N")


async def test_marks_come_back_with_the_recording_and_damage_is_told(recording: Path) -> None:
    beside = recording.with_name("demo.ndjson.markers.json")
    beside.write_text('{"markers": [{"at": 1790000003, "text": "mine"}]}')
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await ready(app, pilot)
        assert "◆ 14:13:23 mine" in await pressed(app, pilot, "n")
    beside.write_text("{")
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        assert "cannot read the markers" in playback.problem
        assert "cannot read the markers" in playback.mark("new", BEGAN)
    assert beside.read_text() == "{", "what cannot be read is not written over"


async def test_a_click_and_a_drag_on_the_track_seek(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        await pilot.click(ScrubBar, offset=(60, 0))
        await until(lambda: not playback.seeking, pilot)
        assert playback.player.at == pytest.approx(BEGAN + 5.1, abs=0.1)
        await pilot.mouse_down(ScrubBar, offset=(60, 0))
        await pilot.hover(ScrubBar, offset=(118, 0))
        await pilot.mouse_up(ScrubBar, offset=(118, 0))
        await until(lambda: not playback.seeking, pilot)
        assert playback.player.at == pytest.approx(BEGAN + 10.1, abs=0.2)


async def test_only_a_replay_has_its_keys_and_its_bar() -> None:
    app = still_app(read_recording(DEMO))
    async with app.run_test(size=NORMAL) as pilot:
        assert not app.screen.query(ScrubBar)
        await pilot.press("question_mark")
        await pilot.pause()
        assert "minute back in the recording" not in shown(app)


async def test_the_help_tells_the_keys_of_a_replay(recording: Path) -> None:
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=(120, 90)) as pilot:
        await ready(app, pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert "a minute back in the recording" in shown(app)


async def test_what_is_broken_off_is_told_at_the_end(recording: Path) -> None:
    recording.write_bytes(recording.read_bytes()[:-40])
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        playback = await ready(app, pilot)
        playback.player.playing = False
        assert "line 368 is incomplete; everything before" in await pressed(app, pilot, "shift+end")


async def test_a_damaged_recording_is_one_sentence(recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join([*lines[:100], b"damaged\n", *lines[100:]]))
    app = KtuiApp(ReplaySource(recording), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.link.stage is Stage.STOPPED, pilot)
        text = app.screen.query_one(Banner).text
        assert text.startswith("no replay: ") and "is damaged: line 101: not a telemetry event" in text


async def test_leaving_while_a_recording_is_read_ends_the_reading(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def endless(path: Path, told: Callable[[float], None]) -> object:
        try:
            while True:
                told(0.42)
                time.sleep(0.001)  # work that a thread does
        finally:
            ended.set()

    monkeypatch.setattr(index, "Index", endless)
    app = KtuiApp(ReplaySource(recording), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.link.detail == "reading demo.ndjson: 42%", pilot)
        await pilot.press("q")
    assert await asyncio.to_thread(ended.wait, HANGS)


# Pictures.


def paused_at(recording: Path, *keys: str) -> tuple[KtuiApp, Callable[[object], object]]:
    """An app that stands still in a recording, and what brings it there."""
    app = KtuiApp(ReplaySource(recording, clock=Clock()), start_timers=False, clock=lambda: BEGAN)

    async def run(pilot: object) -> None:
        await ready(app, pilot)
        for key in ("space", *keys):  # each where the one before has led: a seek takes its time
            await pressed(app, pilot, key)

    return app, run


@SIZES
def test_replay(snap_compare: Snap, recording: Path, size: tuple[int, int]) -> None:
    app, run = paused_at(recording, "n")
    says = ("‖ ×1  14:13:26  00:06 / 00:10", "deploy of api")
    assert snap_compare(app, says=says, run_before=run, terminal_size=size)


def test_replay_of_requests_while_stepping(snap_compare: Snap, recording: Path) -> None:
    app, run = paused_at(recording, "full_stop", "2", "right_curly_bracket")
    says = ("14:13:25  00:05 / 00:10  event 242 of 368", "fan_out ciliumendpoints")
    assert snap_compare(app, says=says, run_before=run, terminal_size=NORMAL)


def test_replay_at_its_end(snap_compare: Snap, tmp_path: Path) -> None:
    path = tmp_path / "demo.ndjson"
    shutil.copy(DEMO, path)
    app, run = paused_at(path, "shift+end")
    assert snap_compare(app, says="■ end", run_before=run, terminal_size=SMALL)
