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
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

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
    """The next step, which adds results to the Lab until there are enough, and ends."""
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    await until(pilot, lambda: settled(lab_of(pilot.app), results))
    await until(pilot, lambda: not pilot.app.story.busy)


async def test_the_story_goes_through_its_steps() -> None:
    app = story_app()
    async with app.run_test(size=WIDE) as pilot:
        await until_shown(pilot, "F9: a tour in two minutes: what LISTs cost", "shift+F9 hides this line")
        for number in range(1, 5):
            await step(pilot, 2 * number)
            await until_shown(pilot, f"tour {number}/6", STEPS[number - 1].sentence[:60])
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
        assert not list(app._notifications), "they would hide the results"
        await until_shown(pilot, "tour 6/6", "F9 ends")
        results = lab_of(app).lab.runner.results
        assert {each.path.partition("?")[0] for each in results[10:]} == {"/api/v1/services"}
        await pilot.press("f9")
        await until(pilot, lambda: app.tick() or "tour" not in shown(app))


def caption(app: KtuiApp) -> str:
    """The tour's text as painted, on one line."""
    lines = [line.removeprefix("▌").strip() for line in shown(app).splitlines() if line.startswith("▌")]
    return " ".join(lines)


@pytest.mark.parametrize("size", [SMALL, NORMAL], ids=["80x24", "120x40"])
async def test_no_caption_and_no_variant_is_cut(size: tuple[int, int]) -> None:
    app = story_app()
    async with app.run_test(size=size) as pilot:
        for number, told in enumerate(STEPS[:4], 1):
            await step(pilot, 2 * number)
            await until(pilot, lambda told=told: app.tick() or told.sentence in caption(app))
            assert caption(app).endswith(" · F9 next")
            variant = lab_of(app).lab.runner.results[-1].label
            await until_shown(pilot, f" {variant} ")


async def test_without_story_nothing_is_offered_and_the_key_begins_it() -> None:
    app = still_app(demo_events())
    app.intake.client = LabServer()  # type: ignore[assignment]
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert "tour" not in shown(app)
        await step(pilot, 2)
        await until_shown(pilot, "tour 1/6")


async def test_without_a_server_there_is_no_tour_and_the_key_says_why() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await pilot.press("f9")
        await until_shown(pilot, "no tour: no server answers yet")
        assert app.current_mode == "overview"


async def test_at_a_first_launch_it_is_offered_until_it_is_dismissed() -> None:
    remembered = list[bool]()
    app = still_app(
        demo_events(),
        preferences=Preferences(tour_is_new=True, remember_tour=lambda: remembered.append(True)),
    )
    app.intake.client = LabServer()  # type: ignore[assignment]
    async with app.run_test(size=SMALL) as pilot:
        await until_shown(pilot, "F9: a tour in two minutes")
        await pilot.press("shift+f9")
        await until(pilot, lambda: app.tick() or "tour" not in shown(app))
        assert remembered == [True]


async def test_over_an_etcd_of_others_it_is_not_offered() -> None:
    app = still_app(demo_events(), preferences=Preferences(tour_is_new=True))
    async with app.run_test(size=SMALL) as pilot:
        own = app.state.server
        assert own is not None
        app.feed([replace(own, etcd_kind="external")])
        app.tick()
        await until(pilot, lambda: app.tick() or "tour" not in shown(app))


async def test_it_waits_for_the_demo_cluster_and_no_other_banner_hides_it() -> None:
    app = story_app()
    async with app.run_test(size=WIDE) as pilot:
        own = app.state.server
        assert own is not None
        app.feed([replace(own, filling="62 %, 3,050 of 4,932 objects, now events, 1.0s left")])
        app.tick()
        await pilot.press("f9")
        begins = "begins when the demo cluster is complete"
        await until_shown(pilot, "tour 1/6", begins, "filling the demo cluster  62 %")
        await pilot.press("f9")  # does nothing more
        assert app.current_mode == "overview"
        app.feed([own])
        await until(pilot, lambda: app.tick() or isinstance(app.screen, LabScreen))
        await until(pilot, lambda: settled(lab_of(app), 2))
        await until_shown(pilot, "tour 1/6", "F9 next")
