"""The Lab: compose, predict, what stops it, what it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ktui.core.references import Place, Read, Selection
from ktui.tui.source import Link, Stage

from .asking import PICTURED, SIZES, Snap, asking_app, until, until_shown
from .lab import (
    choose_kind,
    compare,
    fill,
    lab_app,
    old_app,
    open_lab,
    settled,
    try_cheaper,
    two_contexts,
)
from .lab_server import LabServer
from .still import NORMAL, SMALL, WIDE

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("lab")]

FAILING = "no server answers at http://127.0.0.1:1 (connection refused)"


# What it predicts.


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


async def test_the_gist_stands_in_the_title_only_where_the_panel_has_no_room() -> None:
    app = lab_app()
    async with app.run_test(size=SMALL) as pilot:
        screen = await open_lab(pilot)
        await compare(pilot)
        title = screen.query_one("#results-box")
        await until(
            pilot,
            lambda: "winner: rv=0, NotOlderThan, Exact (etcd requests 1 → 0)" in str(title.border_title),
        )
        await pilot.press("up")
        await until(pilot, lambda: "route" in str(title.border_title))
        await pilot.resize_terminal(*NORMAL)
        await until(pilot, lambda: "route" not in str(title.border_title))
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: "route" in str(title.border_title))


async def test_another_versions_rules_are_predicted() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, kube_version="1.24")
        await until(pilot, lambda: screen.prediction.route == "etcd")
        await until_shown(pilot, "predicted by the rules of 1.24", "E etcd")


@pytest.mark.parametrize(
    ("values", "said", "field"),
    [
        ({"label_selector": "a in (b"}, "400 BadRequest", "labelSelector"),
        ({"match": "Exact"}, "422 Invalid", "resourceVersionMatch"),
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
        await until(pilot, lambda: screen.lab.table.by_name("cep") is not None)
        screen.form_pane.fields.set_value("resource", "cep")
        await until(pilot, lambda: screen.prediction.path == "/apis/cilium.io/v2/ciliumendpoints")


async def test_fields_are_completed() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.lab.namespaces))
        await pilot.press("i", "down", *"team-1")
        await pilot.pause()
        await pilot.press("right")
        await until(pilot, lambda: screen.lab.form.namespace == "team-10")
        await pilot.press("down", "down", *"spec.no")
        await pilot.pause()
        await pilot.press("right")
        await until(pilot, lambda: screen.lab.form.field_selector == "spec.nodeName=")


# What stops it.


async def test_one_request_at_a_time_and_x_stops_it() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.lab.namespaces))
        server.gate.clear()
        await pilot.press("f")
        await until(pilot, lambda: screen.lab.runner.running)
        await pilot.press("f")
        app.tick()
        await until_shown(pilot, "1.2M", "x stop")  # what has streamed in so far
        assert len(screen.lab.runner.results) == 1
        await pilot.press("x")
        await until(pilot, lambda: not screen.lab.runner.running)
        assert screen.lab.runner.results[0].error == "stopped"
        assert server.fired == []


async def test_an_unreachable_server_ends_the_race_and_says_so() -> None:
    server = LabServer()
    server.failing = FAILING
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("r")
        await until(pilot, lambda: bool(screen.lab.runner.results) and not screen.lab.runner.running)
        assert [result.error for result in screen.lab.runner.results] == [FAILING]
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
        assert screen.results.table.has_focus


async def test_what_is_typed_at_once_after_i_stands_in_the_form() -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        for key in ("i", "x", "y", "z"):  # all in the queue before the first is dealt with
            app.simulate_key(key)
        await until(pilot, lambda: screen.lab.form.resource == "podsxyz")


async def test_a_watch_says_that_it_is_fired_as_a_watch_list() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        watch = Selection("WATCH", "/api/v1/pods?watch=1&resourceVersion=0", "a test")
        app.go_to(Place("lab", Read(watch)))
        await until_shown(pilot, "WatchList: a WATCH + sendInitialEvents", "WatchList, predicted by")
        await until_shown(pilot, "the WATCH ends at the bookmark")
        assert any("f sends it as a WatchList" in each.message for each in app._notifications)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert screen.lab.runner.results[0].label == "WatchList"
        assert "sendInitialEvents=true" in server.fired[0]


async def test_r_restarts_a_server_that_has_stopped() -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        app.intake.set_link(Link(Stage.STOPPED, "killed by signal 9", restartable=True))
        await pilot.press("r")
        await pilot.pause()
        assert screen.lab.runner.results == []


# What it looks like.

RACED = ("results · 8", "WatchList")


@PICTURED
def test_race(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(lab_app(), says=RACED, run_before=compare, terminal_size=size)


def test_wide(snap_compare: Snap) -> None:
    assert snap_compare(lab_app(), says=RACED, run_before=compare, terminal_size=WIDE)


@SIZES
def test_undercut(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def run(pilot: Any) -> None:
        await try_cheaper(pilot)
        if pilot.app.size.height < 32:  # no room for the panel: the title says it
            await until_shown(pilot, "results · 2  against #1: saves CPU 42 → 8.4 ms")

    says = ("results · 2", "saves CPU 42 → 8.4 ms")
    assert snap_compare(old_app(), says=says, run_before=run, terminal_size=size)


@SIZES
def test_elsewhere(
    snap_compare: Snap, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def race_at_kind(pilot: Any) -> None:
        screen = await choose_kind(pilot)
        await pilot.press("r")
        await until_shown(pilot, "These 4 LISTs, one after the other, go over 12,000 objects", "108 MB")
        await pilot.press("y")
        await until(pilot, lambda: settled(screen, 5))
        pilot.app.clear_notifications()
        await pilot.pause()

    two_contexts(monkeypatch, tmp_path, LabServer())
    assert snap_compare(lab_app(), says="results · 5", run_before=race_at_kind, terminal_size=size)


def test_as_client_go(snap_compare: Snap) -> None:
    async def turn(pilot: Any) -> None:
        screen = await fill(pilot, label_selector="app=web", resource_version="0", limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("y", "y", "y", "y")

    assert snap_compare(lab_app(), says="clientset.CoreV1()", run_before=turn, terminal_size=NORMAL)


@SIZES
def test_refused(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def refuse(pilot: Any) -> None:
        await fill(pilot, match="Exact", namespace="x[red]y", limit="500")
        await pilot.press("i", "down")

    says = ("422 Invalid", "x[red]y")
    assert snap_compare(asking_app(), says=says, run_before=refuse, terminal_size=size)
