"""The Lab: compose, foresee, fire, race, page, compare."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.client.api import Fired
from ktui.telemetry.events import RequestFinished, RequestStarted
from ktui.tui.app import KtuiApp
from ktui.tui.screens.lab import LabScreen
from ktui.tui.source import Link, Stage

from .asking import SIZES, Snap, asking_app, until, until_shown
from .fake_server import FakeServer, answer_of
from .still import NORMAL, SMALL, WIDE, still_app

pytestmark = pytest.mark.anyio

FAILING = "no server answers at http://127.0.0.1:1 (connection refused)"


def screen_of(app: Any) -> LabScreen:
    assert isinstance(app.screen, LabScreen)
    return app.screen


async def open_lab(pilot: Any) -> LabScreen:
    await pilot.press("5")
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    screen = screen_of(pilot.app)
    await until(pilot, lambda: bool(screen.prediction.path))
    return screen


async def fill(pilot: Any, **values: str) -> LabScreen:
    screen = await open_lab(pilot)
    for name, value in values.items():
        screen.fields.set_value(name, value)
    await until(pilot, lambda: values.items() <= screen.fields.values.items())
    await pilot.pause()
    return screen


def tells(app: KtuiApp) -> Any:
    """The server's telemetry of each request that the Lab fires."""

    def tell(fired: Fired) -> None:
        started = RequestStarted(
            id=fired.request_id,
            verb="LIST",
            path=fired.path,
            query="",
            resource="pods",
            namespace="",
            name="",
            client="ktui",
            user_agent="ktui",
        )
        objects = fired.cost["fetched"]
        finished = RequestFinished(
            id=fired.request_id,
            status=fired.status,
            route=fired.route,
            ms=fired.total_ms,
            fetched=objects,
            evaluated=objects,
            returned=objects,
            seats=fired.cost["seats"],
            etcd_keys=objects if fired.route == "etcd" else 1,
            rv="48102",
        )
        app.feed([started, finished])

    return tell


def telling_app(server: FakeServer | None = None) -> KtuiApp:
    server = server or FakeServer()
    app = asking_app(server)
    server.on_fire = tells(app)
    return app


def settled(screen: LabScreen, count: int) -> bool:
    screen.ktui.tick()
    results = screen.bench.results
    return len(results) == count and all(each.measures.etcd_keys is not None for each in results)


async def race(pilot: Any) -> None:
    screen = await fill(pilot, label_selector="app=web")
    await pilot.press("r")
    await until(pilot, lambda: settled(screen, 6))
    await until_shown(pilot, "results · 6", "no selector")


# What it foresees.


async def test_the_prediction_follows_what_is_typed() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        assert screen.prediction.route == "cache"
        await pilot.press("i", "end", *".apps")
        await until(pilot, lambda: screen.prediction.problem is not None)
        assert screen.prediction.problem is not None
        assert "pods.apps" in screen.prediction.problem.message
        await pilot.press(*["backspace"] * 5)
        await until(pilot, lambda: screen.prediction.problem is None)


async def test_another_versions_rules_are_foreseen() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, kube_version="1.24")
        assert screen.prediction.route == "etcd"
        await until_shown(pilot, "foreseen by the rules of 1.24", "E etcd")


@pytest.mark.parametrize(
    ("values", "said", "field"),
    [
        ({"label_selector": "a in (b"}, "400 BadRequest", "labelSelector"),
        ({"match": "Exact"}, "422 Invalid", "…Match"),
        ({"limit": "many"}, "400 BadRequest", "limit"),
    ],
)
async def test_what_the_server_would_refuse_is_said_in_place(
    values: dict[str, str], said: str, field: str
) -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, **values)
        await until_shown(pilot, said)
        wrong = [row.query_one("Label").render().plain for row in screen.query("FieldForm .-wrong")]  # type: ignore[union-attr]
        assert wrong == [field]


async def test_custom_resources_are_known_by_their_short_names() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: screen.table.by_name("cep") is not None)
        screen.fields.set_value("resource", "cep")
        await until(pilot, lambda: screen.prediction.path == "/apis/cilium.io/v2/ciliumendpoints")


async def test_fields_are_completed() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.candidates.namespaces))
        await pilot.press("i", "down", *"team-1")
        await pilot.pause()
        await pilot.press("right")
        await until(pilot, lambda: screen.form.namespace == "team-10")
        await pilot.press("down", "down", *"spec.no")
        await pilot.pause()
        await pilot.press("right")
        await until(pilot, lambda: screen.form.field_selector == "spec.nodeName=")


# What it fires.


async def test_a_fired_list_is_measured_beside_its_prediction() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods"]
        result = screen.bench.results[0]
        assert (result.predicted, result.route, result.surprising) == ("cache", "cache", False)
        assert (result.measures.returned, result.measures.bytes) == (3_000, 17_904_000)
        assert result.measures.etcd_keys == 1
        await until_shown(
            pilot, "as composed", "17.9M", "any version will do", "kubectl get --raw /api/v1/pods"
        )


async def test_a_wrong_prediction_is_marked() -> None:
    server = FakeServer()
    server.lists["/api/v1/pods"] = answer_of("/api/v1/pods?resourceVersionMatch=Exact", 9_001)
    app = telling_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert screen.bench.results[0].surprising
        await until_shown(pilot, "C≠E", "foreseen was watch cache")


async def test_a_race_asks_six_ways_one_after_the_other() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await race(pilot)
        results = screen_of(app).bench.results
        assert [result.label for result in results] == [
            "unset",
            "rv=0",
            "pages of 500",
            "NotOlderThan",
            "Exact",
            "no selector",
        ]
        assert [result.measures.requests for result in results] == [1, 1, 6, 1, 1, 1]
        assert results[2].measures.returned == 3_000
        assert len(server.fired) == 11


async def test_c_fires_the_next_page() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("c")
        await until(pilot, lambda: settled(screen, 2))
        assert screen.form.continue_token
        assert server.fired[1].startswith("/api/v1/pods?limit=500&continue=")
        assert screen.bench.results[1].measures.returned == 500
        assert screen.bench.results[1].remaining == 2_000


async def test_one_request_at_a_time_and_x_stops_it() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.candidates.namespaces))
        server.gate.clear()
        await pilot.press("f")
        await until(pilot, lambda: screen.bench.running)
        await pilot.press("f")
        app.tick()
        await until_shown(pilot, "1.2M", "x stop")  # what has streamed in so far
        assert len(screen.bench.results) == 1
        await pilot.press("x")
        await until(pilot, lambda: not screen.bench.running)
        assert screen.bench.results[0].error == "stopped"
        assert server.fired == []


async def test_an_unreachable_server_ends_the_race_and_says_so() -> None:
    server = FakeServer()
    server.failing = FAILING
    app = telling_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("r")
        await until(pilot, lambda: bool(screen.bench.results) and not screen.bench.running)
        assert [result.error for result in screen.bench.results] == [FAILING]
        await until_shown(pilot, FAILING)


async def test_nothing_is_fired_for_a_resource_that_is_not_there() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await fill(pilot, resource="podz")
        await pilot.press("f")
        await pilot.pause()
        assert server.fired == []


async def test_enter_in_the_form_fires_and_escape_leaves_it() -> None:
    server = FakeServer()
    app = telling_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("i", *["down"] * 6, *"50", "enter")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods?limit=50"]
        await pilot.press("escape")
        assert screen.results.has_focus


async def test_r_restarts_a_server_that_has_stopped() -> None:
    app = telling_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        app.set_link(Link(Stage.STOPPED, "killed by signal 9", restartable=True))
        await pilot.press("r")
        await pilot.pause()
        assert screen.bench.results == []


# What it looks like.


@SIZES
def test_race(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(telling_app(), run_before=race, terminal_size=size)


def test_wide(snap_compare: Snap) -> None:
    assert snap_compare(telling_app(), run_before=race, terminal_size=WIDE)


@SIZES
def test_refused(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def refuse(pilot: Any) -> None:
        await fill(pilot, match="Exact", namespace="x[red]y", limit="500")
        await pilot.press("i", "down")
        await until_shown(pilot, "422 Invalid", "x[red]y")

    assert snap_compare(asking_app(), run_before=refuse, terminal_size=size)


def test_empty(snap_compare: Snap) -> None:
    assert snap_compare(still_app(), press=("5",), terminal_size=SMALL)
