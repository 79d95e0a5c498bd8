"""Texts over the screen and values: searched, copied whole; panels alone; leaving."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from ktui.tui.dialogs.text import TextScreen
from ktui.tui.widgets.line_view import LineView

from .asking import asking_app, until, until_shown
from .etcd import put_cursor, show_first_key
from .fake_server import PODS, FakeServer
from .still import NORMAL, SMALL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio


async def test_an_object_is_searched_and_copied_whole() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("up", "y")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        screen: Any = app.screen
        await pilot.press("slash", *"REASON_id", "enter")
        await until_shown(pilot, "line 1 of 2 that match")
        await pilot.press("n")
        assert screen.view.search_status == "line 2 of 2 that match"
        await pilot.press("N", "c")
        assert screen.view.search_status == "line 1 of 2 that match" and app.clipboard == screen.text
        await pilot.press("slash", *"nowhere")
        await until_shown(pilot, "not found")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_a_value_is_searched_and_copied_as_yaml() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "pods/")
        screen.value.focus_view()
        await until(pilot, lambda: isinstance(app.focused, LineView))
        await pilot.press("slash", *"podIP", "enter")
        view = screen.query_one("#object", LineView)
        await until(pilot, lambda: view.has_focus and view.search_status.startswith("line 1 of"))
        await pilot.press("c")
        assert app.clipboard.startswith("kind: Pod\napiVersion: v1\n")
        await pilot.press("c", "c")
        assert app.clipboard == screen.value.detail.key  # type: ignore[union-attr]
        screen.keys.table.focus()
        await pilot.press("c")
        assert app.clipboard.startswith("/registry/pods/")


async def test_a_request_is_copied_as_url_as_curl_as_values() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2", "up", "c")
        assert app.clipboard.startswith("https://127.0.0.1:6443/api")
        await pilot.press("c")
        assert app.clipboard.startswith("curl ") and "/api" in app.clipboard
        await pilot.press("c")
        assert "\t" in app.clipboard


@pytest.mark.parametrize(("go", "expected"), [("cache", PODS), ("etcd", PODS)])
async def test_a_file_has_the_rows_that_were_not_read_yet(
    go: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        if go == "etcd":
            screen = await put_cursor(pilot, "pods/")
            screen.keys.table.focus()
        else:
            await pilot.press("colon", *"cache pods", "enter")
            await until_shown(pilot, "3,000 objects at RV")
        await pilot.press("e", "ctrl+u", *"all.csv", "enter")
        await until(pilot, lambda: (tmp_path / "all.csv").exists())
        await until(pilot, lambda: any("all.csv" in each.message for each in app._notifications))
        rows = list(csv.reader((tmp_path / "all.csv").read_text().splitlines()))
        assert len(rows) == expected + 1 and all(row[0] or row[1] for row in rows)
        await pilot.press("e", "ctrl+u", *"all.csv", "enter")
        await until_shown(pilot, "all.csv exists: another name, please")


async def test_rows_that_cannot_be_read_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        screen.keys.table.focus()
        server.failing = "etcd is gone"
        await pilot.press("e", "enter")
        await until(pilot, lambda: any("nothing written" in each.message for each in app._notifications))
    assert not list(tmp_path.glob("*.csv"))


async def test_objects_are_sorted_by_the_server() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"cache pods", "enter")
        await until_shown(pilot, "3,000 objects at RV")
        await pilot.press("s", "b")
        await until(pilot, lambda: any("sort=-bytes" in path for path in server.asked))
        await pilot.press("S")
        await until(pilot, lambda: any("sort=bytes" in path for path in server.asked))


async def test_a_panel_alone_and_all_again() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await until_shown(pilot, "RV progress", "watch caches")
        await pilot.press("Z")
        await pilot.pause()
        assert "RV progress" not in shown(app) and "requests · reads" in shown(app)
        assert app.screen.query_one("#requests").size.width > NORMAL[0] - 8
        await pilot.press("Z")
        await until_shown(pilot, "RV progress", "watch caches")


async def test_ctrl_c_leaves_from_anywhere() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("slash", "x", "ctrl+c")
        await pilot.pause()
    assert app.interrupted and app.return_code == 0


async def test_choices_in_an_error_are_whole_at_80_columns() -> None:
    app = asking_app()
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("colon", *"theme blue", "enter")
        await until(pilot, lambda: any("ktui-tritanopia" in each.message for each in app._notifications))
