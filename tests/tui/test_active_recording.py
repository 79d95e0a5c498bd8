"""Recording while the dashboard runs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ktui.contract.events import AnyEvent, Marker, RequestFinished, RequestStarted, ServerInfo
from ktui.core import reducer
from ktui.core.recordings.recorder import Recorder
from ktui.core.state import State
from ktui.tui.app import KtuiApp
from ktui.tui.source import Link, Report, Stage, TelemetrySource
from tests.recordings import read_recording

from .still import HANGS, NORMAL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

NOW = 1_790_000_000.0


@pytest.fixture(autouse=True)
def in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written() -> Path:
    (path,) = Path.cwd().glob("ktui-*.ndjson.gz")
    return path


def finished(id_: int) -> RequestFinished:
    return RequestFinished(at=NOW + 20, id=id_, status=200, route="cache", ms=3.0)


async def until(holds: Callable[[], object], pilot: object) -> None:
    deadline = time.monotonic() + HANGS
    while not holds():
        assert time.monotonic() < deadline
        await pilot.pause(0.01)  # type: ignore[attr-defined]


async def test_r_records_from_the_present_on() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("R")
        app.tick()
        await pilot.pause()
        assert "● REC " in shown(app).splitlines()[0]
        app.feed([finished(16)])
        app.tick()
        await pilot.press("R")
        app.tick()
        await pilot.pause()
        assert "● REC" not in shown(app) and not app.recording.running
    told = list(read_recording(written()))
    assert isinstance(told[0], ServerInfo) and told[0].at == NOW
    assert told[-1] == finished(16)
    under_way = [event.id for event in told if isinstance(event, RequestStarted)]
    assert 16 in under_way and 1 not in under_way, "what is still open, but nothing that is over"
    state = State()
    reducer.apply(state, told)
    assert set(state.caches) == set(app.state.caches) and state.head.revision == app.state.head.revision
    assert state.requests[16].finished == finished(16)


async def test_markers_go_into_the_recording() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("m")
        await pilot.pause()
        assert not app.recording.running
        await pilot.press("R", "m", *"here", "enter")
        await pilot.press("colon", *"marker and here", "enter")
        await pilot.press("R")
    marks = [event for event in read_recording(written()) if isinstance(event, Marker)]
    assert marks == [Marker(at=NOW, text="here"), Marker(at=NOW, text="and here")]


async def test_a_named_recording_never_goes_over_a_file() -> None:
    Path("mine.ndjson").write_text("mine")
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"record mine.ndjson", "enter")
        await pilot.pause()
        assert "mine.ndjson: File exists" in shown(app) and not app.recording.running
        await pilot.press("escape", "colon", *"record yours.ndjson", "enter")
        assert app.recording.running
        await pilot.press("colon", *"record third.ndjson", "enter")
        await pilot.pause()
        assert "recording to yours.ndjson already" in shown(app)
        app.recording.stop()
    assert Path("mine.ndjson").read_text() == "mine" and not Path("third.ndjson").exists()


async def test_a_full_disk_is_told_and_the_dashboard_goes_on() -> None:
    app = KtuiApp(start_timers=False, clock=lambda: NOW, recorder=Recorder(Path("/dev/full")))
    app.intake.link = Link(Stage.LIVE)
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        app.feed(demo_events())
        await until(lambda: app.recording.problem, pilot)  # the first tick that sees it ends the recording
        app.tick()
        await pilot.pause()
        told = [toast.message for toast in app._notifications]
        assert told == ["cannot continue recording to /dev/full: No space left on device"]
        assert not app.recording.running and len(app.state.requests) == 16
        app.feed([finished(16)])
        app.tick()
        assert app.state.requests[16].done


class Alive(TelemetrySource):
    """A server that reports the demo and then nothing more."""

    restartable = True

    async def connect(self, report: Report) -> None:
        report("starting")

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield demo_events()

    async def why_stopped(self) -> str:
        return "it was only a test"


async def test_a_recording_from_the_start_holds_all_that_came() -> None:
    app = KtuiApp(Alive(), start_timers=False, recorder=Recorder(Path("all.ndjson")))
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.link.stage is Stage.STOPPED, pilot)
        app.tick()
        await pilot.press("q")
    assert list(read_recording(Path("all.ndjson"))) == demo_events()


def test_while_recording(snap_compare: Callable[..., bool]) -> None:
    app = still_app(demo_events())

    async def run(pilot: object) -> None:
        assert app.recording.start(Path("r.ndjson")) == ""
        await until(lambda: not app.recording.waiting, pilot)
        app.tick()

    try:
        assert snap_compare(app, says="● REC 1", run_before=run, terminal_size=NORMAL)
    finally:
        app.recording.stop()
