"""The Lab: compose, foresee, fire, race, page, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ktui.client import burden
from ktui.client.target import KubeTarget
from ktui.tui.app import KtuiApp
from ktui.tui.lab_history import LabHistory
from ktui.tui.model.lab_predict import Elsewhere
from ktui.tui.screens.lab import LabScreen, firing
from ktui.tui.screens.lab.aim import Aim
from ktui.tui.screens.lab.pages import PagesScreen
from ktui.tui.screens.text import TextScreen
from ktui.tui.source import Link, Stage

from .asking import SIZES, Snap, asking_app, until, until_shown
from .lab_server import LabServer, proof
from .still import NORMAL, SMALL, WIDE, still_app

pytestmark = pytest.mark.anyio

FAILING = "no server answers at http://127.0.0.1:1 (connection refused)"


@pytest.fixture(autouse=True)
def no_past(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history of its own for each test, and no kubeconfig."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))


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


def lab_app(server: LabServer | None = None) -> KtuiApp:
    return asking_app(server or LabServer())


def settled(screen: LabScreen, count: int) -> bool:
    screen.ktui.tick()
    return len(screen.bench.results) == count and not screen.bench.running


async def race(pilot: Any) -> None:
    screen = await fill(pilot, label_selector="app=web")
    await until(pilot, lambda: bool(screen.candidates.namespaces))
    await pilot.press("r")
    await until(pilot, lambda: settled(screen, 8))
    await until_shown(pilot, "results · 8", "no selector")


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
        await until(pilot, lambda: screen.prediction.route == "etcd")
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
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods"]
        result = screen.bench.results[0]
        assert (result.foreseen.route, result.route, result.surprising) == ("cache", "cache", False)
        compared = {each.name: (each.foreseen, each.verdict, each.measured) for each in result.comparisons}
        assert compared == {
            "route": ("C", "=", "C"),
            "seats": ("8", "=", "8"),
            "fetched": ("3,000", "=", "3,000"),
            "etcd reads": ("1", "=", "1"),
        }
        await until_shown(
            pilot,
            "= 4",
            "as composed",
            "27.0M",
            "any version will do",
            "route C = C · seats 8 = 8 · fetched 3,000 = 3,000 · etcd reads 1 = 1",
            "17.9 MB processed, 0.66 for each byte returned",
            "2.2 MB on the wire (gzip)",
        )


async def test_a_wrong_prediction_is_marked() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        server.from_etcd = True
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert screen.bench.results[0].surprising
        await until_shown(pilot, "C≠E", "≠ route", "route C ≠ E")


async def test_a_race_asks_in_eight_ways_one_after_the_other() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.candidates.namespaces))
        await pilot.press("r")
        await until(pilot, lambda: settled(screen, 8))
        results = screen.bench.results
        assert [(result.label, result.measured and result.measured.pages) for result in results] == [
            ("unset", 1),
            ("rv=0", 1),
            ("pages of 500", 6),
            ("NotOlderThan", 1),
            ("Exact", 1),
            ("WatchList", 1),
            ("in team-00", 1),
            ("metadata only", 1),
        ]
        measured = [result.measured for result in results if result.measured is not None]
        assert [one.items for one in measured] == [3_000] * 6 + [250, 3_000]
        assert not any(result.surprising for result in results), [result.comparisons for result in results]
        assert "sendInitialEvents=true" in server.fired[10]


def old_app(server: LabServer | None = None) -> KtuiApp:
    """A server with the rules of 1.30, which reads etcd whenever no resourceVersion is named."""
    server = server or LabServer()
    server.consistent_reads = False
    app = lab_app(server)
    assert app.state.server is not None
    app.feed([replace(app.state.server, kube_version="1.30")])
    app.fold()
    return app


async def undercut(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await until(pilot, lambda: screen.prediction.route == "etcd")
    await pilot.press("a")
    await until(pilot, lambda: settled(screen, 2))
    return screen


async def test_a_fires_the_cheaper_form_and_tells_what_it_saves() -> None:
    server = LabServer()
    app = old_app(server)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await undercut(pilot)
        assert server.fired == ["/api/v1/pods", "/api/v1/pods?resourceVersion=0"]
        assert screen.bench.results[1].dear == 1
        await until_shown(
            pilot,
            "E→E",
            "C→C",
            "add resourceVersion=0",
            "saves against #1:",
            "−100 % etcd bytes (17.9 MB → 0 B)",
            "60 ms → 12 ms",
        )
        await pilot.press("up", "a")
        await until(pilot, lambda: settled(screen, 3))
        assert screen.bench.results[2].measured.pages == 6  # type: ignore[union-attr]
        await pilot.press("home", "a")
        await until(pilot, lambda: settled(screen, 4))
        assert screen.bench.results[3].form.accept == "metadata"
        await until_shown(pilot, "metadata only", "saves against #1", "−88 % received (27.0 MB → 3.3 MB)")
        await pilot.press("home", "a")
        await until_shown(pilot, "no cheaper form of #1")


async def test_c_fires_the_next_page() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("c")
        await until(pilot, lambda: settled(screen, 2))
        assert screen.form.continue_token
        assert server.fired[1].startswith("/api/v1/pods?limit=500&continue=")
        measured = screen.bench.results[1].measured
        assert measured is not None
        assert (measured.items, measured.remaining) == (500, 2_000)


async def test_y_shows_the_request_from_elsewhere_page_by_page() -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, namespace="team-00", limit="50")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("enter")
        await until_shown(pilot, '"foreseen": [', "curl", "kubectl", "client-go", "Python")
        said = []
        for _ in range(4):
            await pilot.press("y")
            assert isinstance(app.screen, PagesScreen)
            said.append(app.screen.text)
        path = "/api/v1/namespaces/team-00/pods?limit=50"
        assert said[0].endswith(f"\"$SERVER\"'{path}'")
        assert said[1] == f"kubectl get --raw '{path}'"
        assert (
            said[2]
            == 'list, err := clientset.CoreV1().Pods("team-00").List(ctx, metav1.ListOptions{Limit: 50})'
        )
        assert "client.CoreV1Api().list_namespaced_pod(" in said[3]
        await pilot.press("escape")
        assert isinstance(app.screen, LabScreen)


@pytest.mark.parametrize(
    ("equal", "said"), [(True, "pods: cache = etcd at rv 48102"), (False, "cache ≠ etcd")]
)
async def test_the_cache_is_compared_with_etcd(equal: bool, said: str) -> None:
    server = LabServer()
    server.proof = proof(equal=equal)
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("equals_sign")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "POST /ktui/v1/caches/pods/check {}" in server.asked
        await until_shown(pilot, said, "8c2f00d15ea5e001", "3 RPCs, 17.9 MB")
        await pilot.press("escape")
        await until_shown(pilot, said)
        assert screen.bench.results == []


# What is kept.


async def test_results_survive_a_restart_without_tokens() -> None:
    first = lab_app()
    async with first.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("c")
        await until(pilot, lambda: settled(screen, 2))
        token = screen.form.continue_token
    path = LabHistory().path
    assert path.stat().st_mode & 0o777 == 0o600
    assert token not in path.read_text()

    second = lab_app()
    async with second.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        assert [(each.number, each.label, each.past) for each in screen.bench.results] == [
            (1, "as composed", True),
            (2, "page after #1", True),
        ]
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 3))
        assert screen.bench.results[2].number == 3
        await pilot.press("X")
        assert screen.bench.results == []
        assert not path.exists()


# A real kube-apiserver.


def aiming(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: LabServer) -> None:
    """A kubeconfig with two contexts that both lead to `server`."""
    (tmp_path / "kubeconfig").write_text(
        "contexts: [{name: prod, context: {}}, {name: kind, context: {}}]\ncurrent-context: kind\n"
    )

    server.real = True

    async def aim(context: str) -> Aim:
        target = KubeTarget(server)  # type: ignore[arg-type]
        return Aim(
            context, target, Elsewhere(await target.world()), ("credentials go out unencrypted (http://)",)
        )

    monkeypatch.setattr(firing, "take_aim", aim)


async def aim_at_kind(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await pilot.press("t")
    await until_shown(pilot, "ktui's own server", "prod", "kind  (current context)")
    await pilot.press("down", "down", "enter")
    await until(pilot, lambda: screen.aim is not None)
    return screen


async def test_a_real_apiserver_is_measured_from_the_clients_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, own = LabServer(), LabServer()
    aiming(monkeypatch, tmp_path, server)
    app = lab_app(own)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await aim_at_kind(pilot)
        await until_shown(
            pilot, "LIST at kind, kube-apiserver 1.31", "foreseen by the rules of 1.31", "unencrypted"
        )
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods?limit=1", "/api/v1/pods"], "its size is asked for first"
        assert own.fired == []
        result = screen.bench.results[0]
        assert (result.server, result.bytes) == ("kind", 27_000_000)
        assert result.foreseen.fetched is not None and result.foreseen.fetched.high == 3_000
        await until_shown(
            pilot,
            "C→?",
            "? route not told",
            "/metrics are not to be had (HTTP 403)",
            "27.0 MB received",
            "fetched 3,000 ? ?",
            "priority level workload-low",
        )


@pytest.mark.parametrize(("answer", "fired"), [("n", 1), ("y", 2)])
async def test_a_large_list_of_a_real_apiserver_is_asked_for_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, fired: int
) -> None:
    server = LabServer()
    aiming(monkeypatch, tmp_path, server)
    monkeypatch.setattr(burden, "MANY_OBJECTS", 1_000)
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await aim_at_kind(pilot)
        await pilot.press("f")
        await until_shown(pilot, "This LIST goes over 3,000 objects, about 27.0 MB as JSON", "of kind")
        await pilot.press(answer)
        await until(pilot, lambda: settled(screen, fired - 1))
        assert len(server.fired) == fired


# What stops it.


async def test_one_request_at_a_time_and_x_stops_it() -> None:
    server = LabServer()
    app = lab_app(server)
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
    server = LabServer()
    server.failing = FAILING
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("r")
        await until(pilot, lambda: bool(screen.bench.results) and not screen.bench.running)
        assert [result.error for result in screen.bench.results] == [FAILING]
        await until_shown(pilot, FAILING)


async def test_nothing_is_fired_for_a_resource_that_is_not_there() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await fill(pilot, resource="podz")
        await pilot.press("f")
        await pilot.pause()
        assert server.fired == []


async def test_enter_in_the_form_fires_and_escape_leaves_it() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("i", *["down"] * 6, *"50", "enter")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods?limit=50"]
        await pilot.press("escape")
        assert screen.results.has_focus


async def test_r_restarts_a_server_that_has_stopped() -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        app.set_link(Link(Stage.STOPPED, "killed by signal 9", restartable=True))
        await pilot.press("r")
        await pilot.pause()
        assert screen.bench.results == []


# What it looks like.


@SIZES
def test_race(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(lab_app(), run_before=race, terminal_size=size)


def test_wide(snap_compare: Snap) -> None:
    assert snap_compare(lab_app(), run_before=race, terminal_size=WIDE)


@SIZES
def test_undercut(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def run(pilot: Any) -> None:
        await undercut(pilot)
        if pilot.app.size.height < 32:  # no room for the panel: the title says it
            await until_shown(pilot, "results · 2  against #1: −100 % etcd bytes")
        await pilot.pause()

    assert snap_compare(old_app(), run_before=run, terminal_size=size)


@SIZES
def test_elsewhere(
    snap_compare: Snap, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def race_at_kind(pilot: Any) -> None:
        screen = await aim_at_kind(pilot)
        await pilot.press("r")
        await until_shown(pilot, "These 4 LISTs, one after the other, go over 12,000 objects", "108 MB")
        await pilot.press("y")
        await until(pilot, lambda: settled(screen, 5))
        pilot.app.clear_notifications()
        await pilot.pause()

    aiming(monkeypatch, tmp_path, LabServer())
    assert snap_compare(lab_app(), run_before=race_at_kind, terminal_size=size)


def test_as_client_go(snap_compare: Snap) -> None:
    async def turn(pilot: Any) -> None:
        screen = await fill(pilot, label_selector="app=web", resource_version="0", limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("y", "y", "y", "y")
        await until_shown(pilot, "clientset.CoreV1()")

    assert snap_compare(lab_app(), run_before=turn, terminal_size=NORMAL)


@SIZES
def test_refused(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def refuse(pilot: Any) -> None:
        await fill(pilot, match="Exact", namespace="x[red]y", limit="500")
        await pilot.press("i", "down")
        await until_shown(pilot, "422 Invalid", "x[red]y")

    assert snap_compare(asking_app(), run_before=refuse, terminal_size=size)


def test_empty(snap_compare: Snap) -> None:
    assert snap_compare(still_app(), press=("5",), terminal_size=SMALL)
