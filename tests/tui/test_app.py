"""What holds on every screen: keys, prompt, connection, themes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, RequestFinished, RequestStarted
from ktui.tui.app import KtuiApp
from ktui.tui.intake import BACKLOG
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.replay.source import ReplaySource
from ktui.tui.source import Link, Report, Stage, TelemetrySource
from ktui.tui.widgets.banner import Banner

from .still import DEMO, HANGS, NORMAL, SMALL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]


class BrokenSource(TelemetrySource):
    """A server that lives for one batch, each time it is started."""

    restartable = True

    def __init__(self) -> None:
        self.starts = 0
        self.gone = asyncio.Event()

    async def connect(self, report: Report) -> None:
        self.starts += 1
        report("starting etcd")

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield demo_events()
        await self.gone.wait()
        raise ClientError("the connection broke off")

    async def why_stopped(self) -> str:
        return "killed by signal 9"

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        self.gone.set()


async def until(holds: Callable[[], bool], pilot: object) -> None:
    """Wait for a condition, a message round at a time."""
    async with asyncio.timeout(HANGS):
        while not holds():
            await pilot.pause()


async def test_a_dead_server_is_said_and_r_starts_it_again() -> None:
    source = BrokenSource()
    app = KtuiApp(source, start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.link.stage is Stage.LIVE, pilot)
        app.tick()
        assert len(app.state.requests) == 16
        source.gone.set()
        await until(lambda: app.link.stage is Stage.STOPPED, pilot)
        banner = app.screen.query_one(Banner)
        assert banner.text == "the server has stopped: killed by signal 9 — press r to restart it"
        source.gone.clear()
        await pilot.press("r")
        await until(lambda: app.link.stage is Stage.LIVE, pilot)
        assert source.starts == 2 and not banner.text
        assert not app.state.requests, "a new server numbers its requests from 1"


async def test_a_replay_shows_what_the_recording_tells() -> None:
    app = KtuiApp(ReplaySource(DEMO), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.intake.playback is not None, pilot)
        await pilot.press("shift+end")

        def arrived() -> bool:
            app.tick()
            return len(app.state.requests) == 16

        await until(arrived, pilot)
        assert app.link.stage is Stage.REPLAY


async def test_a_recording_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    app = KtuiApp(ReplaySource(tmp_path / "gone.ndjson"), start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await until(lambda: app.link.stage is Stage.STOPPED, pilot)
        assert "gone.ndjson" in app.link.detail


async def test_a_flood_is_bounded_and_what_is_lost_is_counted() -> None:
    app = still_app()
    events = demo_events()
    async with app.run_test(size=NORMAL) as pilot:
        app.feed(events * (BACKLOG // len(events) + 2))
        app.tick()
        await pilot.pause()
        assert app.state.dropped > 0
        assert "events dropped" in shown(app)


async def test_numbers_and_names_go_to_screens() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        assert app.current_mode == "requests"
        await pilot.press("colon", *"over", "enter")
        await until(lambda: app.current_mode == "overview", pilot)
        await pilot.press("left_square_bracket")
        assert app.current_mode == "requests"
        await pilot.press("right_square_bracket")
        assert app.current_mode == "overview"


async def test_a_wrong_command_says_what_there_is() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"nowhere", "enter")
        await pilot.pause()
        assert app.screen.query_one(Prompt).is_open
        assert "no screen 'nowhere'; there are overview, requests, cache, etcd, lab" in shown(app)


async def test_escape_clears_a_filter_and_enter_keeps_it() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        table = app.screen.requests
        await pilot.press("slash", *"route:E", "enter")
        assert [row.id for row in table.rows] == [1, 7, 8]
        await pilot.press("slash", *" ms>20")
        assert [row.id for row in table.rows] == [7]
        await pilot.press("escape")
        assert len(table.rows) == 16 and app.focused is table


async def test_an_unknown_column_keeps_the_filter_before() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        table = app.screen.requests
        await pilot.press("slash", *"kubelet ")
        await pilot.pause()
        before = [row.id for row in table.rows]
        assert 0 < len(before) < table.total
        await pilot.press(*"colour:red")
        await pilot.pause()
        assert "no column 'colour': route time client" in shown(app)
        assert not any(term.column == "colour" and term.value for term in table.filter.terms)
        assert [row.id for row in table.rows] == before


async def test_sort_by_two_columns() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        table = app.screen.requests
        table.sort("time")
        table.sort("client")
        await pilot.pause()
        kubelets = [row.id for row in table.rows if row.started.client == "kubelet"]
        assert [row.started.client for row in table.rows] == sorted(row.started.client for row in table.rows)
        assert kubelets == sorted(kubelets)
        await pilot.press("S")
        assert table.sort_by[0] == ("client", True)


async def test_export_writes_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("slash", *"route:E", "enter", "e", "enter")
        await app.workers.wait_for_complete()
    (path,) = tmp_path.glob("ktui-overview-*.csv")
    lines = path.read_text().splitlines()
    assert lines[0].startswith("route,time,client,request") and len(lines) == 4


async def test_the_selected_object_is_its_telemetry() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("up", "y")
        await pilot.pause()
        assert '"reason_id": "c.atleast"' in app.screen.text
        await pilot.press("escape")
        assert app.current_mode == "overview" and app.focused is not None


def test_help(snap_compare: Snap) -> None:
    says = ("esc closes", "everywhere", "routes")
    assert snap_compare(still_app(demo_events()), says=says, press=("question_mark",), terminal_size=NORMAL)


async def test_help_lists_the_live_bindings() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("2", "question_mark")
        await pilot.pause()
        text = shown(app)
        assert "next panel of the detail" in text and "filter the table by column" in text
        await pilot.press("question_mark")
        assert app.current_mode == "requests"


@pytest.mark.parametrize("size", [SMALL, NORMAL])
async def test_every_screen_opens_and_survives_no_data(size: tuple[int, int]) -> None:
    app = still_app()
    async with app.run_test(size=size) as pilot:
        for key in "12345":
            await pilot.press(key)
            await pilot.pause()
            app.tick()


async def test_writes_are_shown_when_asked_for() -> None:
    post = RequestStarted(
        id=77,
        at=1_790_000_012.0,
        verb="POST",
        path="/api/v1/namespaces/a/pods",
        query="",
        resource="pods",
        namespace="a",
        name="",
        client="kubectl",
        user_agent="kubectl",
    )
    app = still_app([*demo_events(), post, RequestFinished(id=77, status=201, route="etcd", ms=4.0)])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        assert "reads · w all" in shown(app)
        assert 77 not in {row.id for row in app.screen.requests.rows}
        await pilot.press("w")
        await pilot.press("up", "down")  # the explanation stays until the cursor is moved
        await pilot.pause()
        assert "a write: one transaction" in shown(app)
        assert 77 in {row.id for row in app.screen.requests.rows}
