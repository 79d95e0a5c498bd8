"""What the keys do to tables: filter with help, sort, hold, choose columns, copy, export, carry a filter."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input

from ktui.tui.dialogs.table_dialogs import ColumnScreen, FilterHelpScreen, SortScreen
from ktui.tui.prompt.prompt import LineField, Prompt
from ktui.tui.table.vtable import VTable
from tests.tui.asking import until
from tests.tui.tabling import Read, TablesApp, reads

pytestmark = pytest.mark.anyio
SIZE = (90, 18)
Snap = Callable[..., bool]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TablesApp:
    monkeypatch.chdir(tmp_path)
    return TablesApp(tmp_path)


def frame(table: VTable[Read]) -> str:
    """What the table's frame says at its foot."""
    from textual.content import Content

    holder = table if table.styles.border_top[0] else table.parent
    return Content.from_markup(holder.border_subtitle).plain if holder.border_subtitle else ""


async def test_the_frame_says_what_a_filter_hides(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"route:E ms>50", "enter")
        await pilot.pause()
        assert frame(app.table) == "/route:E ms>50  46 shown, 254 hidden  following"
        app.table.set_rows(reads(303))
        await pilot.pause()
        assert "257 hidden" in frame(app.table)
        await pilot.press("escape")
        await pilot.pause()
        assert frame(app.table) == "following" and len(app.table.rows) == 303


async def test_without_a_frame_the_last_line_says_it(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.styles.border = ("none", "grey")
        app.table.styles.border_top = ("solid", "grey")
        app.table.set_rows(reads(300))
        await pilot.pause()
        last = app.table.size.height - 1
        assert "following" not in app.table.render_line(last).text and app.table.row.id == 299
        await pilot.press("slash", *"route:E", "enter")
        await pilot.pause()
        last = app.table.size.height - 1
        assert app.table.render_line(last).text.strip() == "/route:E  100 shown, 200 hidden  following"
        assert "297" in app.table.render_line(last - 1).text
        await pilot.click(app.table, offset=(5, last + 1))
        assert app.table.row.id == 297
        await pilot.press("escape")
        await pilot.pause()
        assert "299" in app.table.render_line(app.table.size.height - 1).text


async def test_typing_completes_columns_and_values_and_counts_rows(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"cl", "tab")
        field = app.screen.query_one(Input)
        assert field.value == "client:"
        await pilot.press("c")
        await pilot.press("tab")
        assert field.value == "client:cilium-agent"
        await pilot.press("enter")
        assert len(app.table.rows) == 100


async def test_the_line_hints_at_what_can_follow(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"route:")
        field = app.screen.query_one(LineField)
        await pilot.pause()
        assert field.hint == "300 of 300  C  S  E"
        await pilot.press("E", "space", *"ms>")
        await pilot.pause()
        assert field.hint == "100 of 300  0 to 97.50 ms here; write 10, 300ms, 2s"
        await pilot.press("5", "0")
        await pilot.pause()
        assert field.hint == "46 of 300  0 to 97.50 ms here; write 10, 300ms, 2s"


async def test_typing_never_lays_out_the_screen(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"ms>")
        await pilot.pause()
        field, widths, layouts = app.screen.query_one(LineField), set(), []
        app.screen.screen_layout_refresh_signal.subscribe(field, layouts.append, immediate=True)
        for letter in "5000":
            await pilot.press(letter)
            await pilot.pause()
            widths.add(len(field.shown_hint))
        assert len(widths) > 1  # `138 of 300 …`, `0 of 300 …`
        assert layouts == []


async def test_a_hint_gives_way_to_the_text(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"route:E ms>")
        await pilot.pause()
        field = app.screen.query_one(LineField)
        assert field.shown_hint == field.hint and field.render_line(0).text.rstrip().endswith(field.hint)
        field.value = "route:E ms>50 " + 55 * "x"
        await pilot.pause()
        assert field.shown_hint.endswith("…") and field.hint.startswith(field.shown_hint[:-1])
        assert field.render_line(0).text.index(field.shown_hint) > len(field.value)
        field.value = "route:E ms>50 " + 90 * "x"
        await pilot.pause()
        assert field.shown_hint == "" and "x  " not in field.render_line(0).text


async def test_half_a_column_s_name_does_not_empty_the_table(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"route:E cl")
        field = app.screen.query_one(LineField)
        await pilot.pause()
        assert len(app.table.rows) == 100
        assert field.hint == "100 of 300  cl matches no row; name a column: client:"
        assert ("cl", "strike $ink-faint") in app.table.marks.runs()
        await pilot.press("enter")  # as it stands
        await pilot.pause()
        assert not app.table.rows and "no rows match route:E cl" in app.table.render_line(1).text


async def test_a_regular_expression_that_is_none_is_told_and_changes_nothing(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("slash")
        field = app.screen.query_one(LineField)
        field.value = "route:E client~/["
        await pilot.pause()
        assert len(app.table.rows) == 100 and not field.is_problem  # it may still become one
        field.value = "route:E client~/[/"
        await pilot.pause()
        assert field.is_problem and "/[/ is not a regular expression" in field.hint
        assert len(app.table.rows) == 100
        await pilot.press("enter")
        assert app.screen.query_one(Prompt).is_open


async def test_help_opens_over_the_line_and_leaves_it_as_it_was(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("slash", "question_mark")
        await pilot.pause()
        assert isinstance(app.screen, FilterHelpScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.query_one(Prompt).is_open and app.focused is app.screen.query_one(Input)
        assert app.screen.query_one(Input).value == ""


async def test_filters_are_remembered_in_a_private_file(app: TablesApp, tmp_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        for text in ("route:E", "client~cil"):
            await pilot.press("slash", "ctrl+u", *text, "enter")
        await pilot.press("escape", "slash", "up", "up")
        assert app.screen.query_one(Input).value == "route:E"
    assert (tmp_path / "filters").stat().st_mode & 0o777 == 0o600


async def test_a_filter_goes_along_and_terms_that_do_not_apply_wait(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(30))
        await pilot.press("slash", *"ms>50 client~cil", "enter")
        await app.switch_mode("other")
        await pilot.pause()
        clients, apart = app.screen.query(VTable)
        clients.set_rows(reads(30))
        apart.set_rows(reads(30))
        await pilot.pause()
        assert len(clients.rows) == 10 and len(apart.rows) == 30
        assert clients.filter.idle == {"ms>50"}
        assert frame(clients) == "/ms>50 client~cil  no ms here  10 shown, 20 hidden"
        clients.focus()
        await pilot.press("slash", *" 4", "enter")
        await app.switch_mode("log")
        await pilot.pause()
        assert app.table.filter.text == "ms>50 client~cil 4" and not app.table.filter.idle
        await pilot.press("escape")
        await app.switch_mode("other")
        await pilot.pause()
        assert not clients.filter.text and len(clients.rows) == 30


async def test_a_letter_sorts_and_shift_adds_the_second_key(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(30))
        await pilot.press("s")
        assert isinstance(app.screen, SortScreen)
        await pilot.press("c")
        await pilot.press("s", "M")
        await pilot.pause()
        assert app.table.sort_by == (("client", False), ("ms", True))
        header = app.table.render_line(0).text
        assert "client▴¹" in header and "ms▾²" in header
        assert app.table.row is app.table.rows[0]
        await pilot.press("s", "c")
        assert app.table.sort_by == (("client", True), ("ms", True))
        await pilot.press("s", "full_stop")
        assert app.table.sort_by == () and app.table.row.id == 29


async def test_a_held_table_counts_what_it_misses(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("F")
        app.table.set_rows(reads(312, start=0)[100:])
        await pilot.pause()
        assert len(app.table.rows) == 300 and frame(app.table) == "‖ paused · 12 new"
        await pilot.press("F")
        await pilot.pause()
        assert app.table.row.id == 311 and frame(app.table) == "following"


async def test_rows_below_are_counted_when_one_has_left_the_end(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(300))
        await pilot.press("up")
        app.table.set_rows(reads(305))
        await pilot.pause()
        assert frame(app.table) == "5 new below · end follows" and app.table.row.id == 298
        await pilot.press("F")
        await pilot.pause()
        assert frame(app.table) == "following" and app.table.row.id == 304


async def test_copying_takes_the_telling_cell_then_the_row(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(3))
        await pilot.press("home", "c")
        assert app.clipboard == "kubelet"
        await pilot.press("c")
        assert app.clipboard == "E etcd\tkubelet\t0.0\t0"
        await pilot.press("down", "c")
        assert app.clipboard == "cilium-agent"


async def test_exports_overwrite_nothing_and_hold_no_formula(app: TablesApp, tmp_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(3))
        for key, count in (("e", 1), ("e", 2), ("E", 3)):
            await pilot.press(key, "enter")
            await until(pilot, lambda count=count: len(list(tmp_path.glob("ktui-log-*"))) == count)
        await app.workers.wait_for_complete()
    first, second = sorted(tmp_path.glob("ktui-log-*.csv"), key=lambda path: len(path.name))
    assert second.stem == f"{first.stem}-2"
    lines = list(csv.reader(first.read_text().splitlines()))
    assert lines[0] == ["route", "client", "ms", "id", "verb"]
    assert lines[3][1] == "'=cmd|' /C calc'!A0"
    (written,) = tmp_path.glob("ktui-log-*.json")
    rows = json.loads(written.read_text())
    assert rows[2] == {
        "route": "C cache",
        "client": "=cmd|' /C calc'!A0",
        "ms": 15.0,
        "id": 2,
        "verb": "LIST",
    }


async def test_columns_are_chosen_moved_and_kept(app: TablesApp, tmp_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        app.table.set_rows(reads(3))
        await pilot.press("C")
        assert isinstance(app.screen, ColumnScreen)
        await pilot.press("down", "space", "end", "space", "K", "escape")
        await pilot.pause()
        assert app.table.chosen == ("route", "ms", "verb", "id")
    kept = TablesApp(tmp_path)
    async with kept.run_test(size=SIZE) as pilot:
        assert kept.table.chosen == ("route", "ms", "verb", "id")
        await pilot.press("C", "r", "escape")
        await pilot.pause()
        assert kept.table.chosen == ()
    assert json.loads((tmp_path / "columns.json").read_text()) == {}


async def test_the_last_column_stays(app: TablesApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("C", *["space", "down"] * 4, "escape")
        await pilot.pause()
        assert app.table.chosen == ("id",)


def test_sort_picker(snap_compare: Snap, app: TablesApp) -> None:
    async def before(pilot: object) -> None:
        app.table.set_rows(reads(300))
        app.table.sort("client")
        app.table.sort("ms", rank=1)
        await pilot.press("s")  # type: ignore[attr-defined]

    assert snap_compare(app, says=("sort by", "shift: second key"), terminal_size=SIZE, run_before=before)


def test_filter_line(snap_compare: Snap, app: TablesApp) -> None:
    async def before(pilot: object) -> None:
        app.table.set_rows(reads(300))
        await pilot.press("slash", *"route:E c")  # type: ignore[attr-defined]

    assert snap_compare(app, says=("/route:E c", "100 of 300"), terminal_size=SIZE, run_before=before)
