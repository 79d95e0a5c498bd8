"""`ktui --story`: each step has a sentence and does what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from ktui.contract import paths
from ktui.tui.app import KtuiApp
from ktui.tui.lab.screen import LabScreen
from ktui.tui.preferences import Preferences
from ktui.tui.story import STEPS

from .asking import until, until_shown
from .lab import screen_of as lab_of
from .lab import settled
from .lab_server import LabServer
from .still import SMALL, WIDE, demo_events, shown, still_app

pytestmark = pytest.mark.anyio


class SwitchedServer(LabServer):
    """Follows the rules of another version when it is told to, and says so by `switched`."""

    def __init__(self) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.switched: Callable[[str], None] = lambda version: None

    async def send_json(
        self, method: str, path: str, body: Any, content_type: str = "", kind: Any = Any
    ) -> Any:
        if path == paths.BEHAVIOUR:
            self.followed.append(body.kube_version)
            self.consistent_reads = body.kube_version != "1.30"
            self.switched(body.kube_version)
        return await super().send_json(method, path, body, content_type, kind)


def story_app() -> KtuiApp:
    app = still_app(demo_events(), preferences=Preferences(story=True))
    app.intake.client = SwitchedServer()  # type: ignore[assignment]
    return app


async def step(pilot: Any, results: int) -> None:
    """The next step, which adds results to the Lab until there are enough."""
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    await until(pilot, lambda: settled(lab_of(pilot.app), results))


async def test_the_story_goes_through_its_steps() -> None:
    app = story_app()
    async with app.run_test(size=WIDE) as pilot:
        await until_shown(pilot, f"story  {len(STEPS)} steps through what LISTs cost · f9 begins")
        for number in range(1, 5):
            await step(pilot, 2 * number)
            await until_shown(pilot, f"story {number}/6", STEPS[number - 1].sentence[:60])
        results = lab_of(app).lab.runner.results
        assert all(each.trial is not None for each in results[1::2])
        assert [each.path.partition("?")[2] for each in results[:6]] == [
            "",
            "resourceVersion=0",
            "resourceVersion=0",
            "labelSelector=tier=backend&resourceVersion=0",
            "limit=500",
            "limit=500&resourceVersion=0",
        ]
        assert results[7].measured is not None and results[7].measured.pages == 6

        server = app.intake.client
        own = app.state.server
        assert own is not None and isinstance(server, SwitchedServer)
        server.switched = lambda version: app.feed([replace(own, kube_version=version)])
        await step(pilot, 10)
        await until(pilot, lambda: server.followed == ["1.30", "1.31", own.kube_version])
        results = lab_of(app).lab.runner.results
        told = [(each.label, each.predicted.route, each.route) for each in results[8:10]]
        assert told == [("under 1.30", "etcd", "etcd"), ("under 1.31", "cache", "cache")]

        await step(pilot, 12)
        await until_shown(pilot, "story 6/6", "f9 ends")
        results = lab_of(app).lab.runner.results
        assert {each.path.partition("?")[0] for each in results[10:]} == {"/api/v1/services"}
        await pilot.press("f9")
        await until(pilot, lambda: app.tick() or "story" not in shown(app))


async def test_without_story_nothing_is_offered_and_the_key_begins_it() -> None:
    app = still_app(demo_events())
    app.intake.client = LabServer()  # type: ignore[assignment]
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert "story" not in shown(app)
        await step(pilot, 2)
        await until_shown(pilot, "story 1/6")


async def test_a_recording_has_no_story() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("f9")
        await pilot.pause()
        assert "story" not in shown(app) and app.current_mode == "overview"
