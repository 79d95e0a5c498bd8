"""The virtual table: 100,000 rows, the cursor, hostile cells."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from textual.app import App, ComposeResult

from ktui.core.table.columns import Column
from ktui.tui.looks import themes
from ktui.tui.table.vtable import VTable

pytestmark = pytest.mark.anyio

COLUMNS = (
    Column("name", "name", lambda row: row[0], width=10, flex=1),
    Column(
        "n", "n", lambda row: (str(row[1]), "bold $route-etcd"), lambda row: row[1], width=8, align="right"
    ),
)


class TableApp(App[None]):
    def __init__(self, follow: bool = False, reuse: bool = False) -> None:
        super().__init__()
        self.table = VTable(COLUMNS, key=lambda row: row[0], follow=follow, reuse=reuse)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def compose(self) -> ComposeResult:
        yield self.table


def rows(count: int) -> list[tuple[str, int]]:
    return [(f"row-{index:06}", index) for index in range(count)]


def line(table: VTable[tuple[str, int]], y: int) -> str:
    return table.render_line(y).text


async def test_only_visible_lines_are_built() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(100_000))
        await pilot.press("end")
        await pilot.pause()
        assert app.table.row == ("row-099999", 99_999)
        assert "row-099999" in line(app.table, 11)
        assert len(app.table.painter.strips) < 50


async def test_the_cursor_stays_on_its_row_while_others_come() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(50))
        await pilot.press("down", "down")
        app.table.set_rows([("new", -1), *rows(50)])
        assert app.table.row == ("row-000002", 2)


async def test_a_table_that_reuses_rows_keeps_those_that_are_equal() -> None:
    app = TableApp(reuse=True)
    async with app.run_test(size=(40, 12)):
        app.table.set_rows(rows(3))
        before = list(app.table.rows)
        app.table.set_rows([("row-000000", 7), *rows(3)[1:]])
        first, second, third = app.table.rows
        assert first == ("row-000000", 7)
        assert second is before[1] and third is before[2]


async def test_only_changed_lines_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        first = rows(30)
        app.table.set_rows(first)
        await pilot.press("down")
        await pilot.pause()
        painted: list[int] = []
        render_line = app.table.render_line
        monkeypatch.setattr(app.table, "render_line", lambda y: painted.append(y) or render_line(y))
        app.table.set_rows([*first[:4], ("row-000004", 40), *first[5:20], ("row-000020", 41), *first[21:]])
        await pilot.pause()
        assert painted == [5]  # the header is line 0; row 20 is out of view
        painted.clear()
        await pilot.press("down")
        await pilot.pause()
        assert painted == [2, 3]
        painted.clear()
        app.table.sort("name", False)  # in this order already
        await pilot.pause()
        assert painted == list(range(12)) and "name▴" in line(app.table, 0)


async def test_a_following_table_stops_when_the_cursor_leaves_the_end() -> None:
    app = TableApp(follow=True)
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(50))
        assert app.table.row == ("row-000049", 49)
        await pilot.press("up")
        app.table.set_rows(rows(60))
        assert app.table.row == ("row-000048", 48)
        await pilot.press("end")
        app.table.set_rows(rows(70))
        assert app.table.row == ("row-000069", 69)


async def test_a_click_moves_the_cursor_and_one_on_the_head_sorts() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(50))
        await pilot.click(app.table, offset=(3, 5))
        assert app.table.row == ("row-000004", 4)
        await pilot.click(app.table, offset=(36, 0))
        await pilot.click(app.table, offset=(36, 0))
        assert app.table.sort_by == (("n", True),)
        assert app.table.rows[0] == ("row-000049", 49)


async def test_cells_are_never_markup_nor_escape_sequences() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows([("x[red]y", 1), ("[/registry]", 2), ("e\x1b[2Jf", 3), ("世界" * 20, 4)])
        await pilot.pause()
        assert "x[red]y" in line(app.table, 1) and "[/registry]" in line(app.table, 2)
        assert "e␛[2Jf" in line(app.table, 3)
        assert all(app.table.render_line(y).cell_length == 39 for y in range(12))


async def test_an_empty_table_says_why() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "nothing yet" in line(app.table, 1)
        app.table.set_rows(rows(5))
        app.table.set_filter("n>9")
        assert "no rows match n>9" in line(app.table, 1)


async def test_the_row_under_the_cursor_stays_on_its_line() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(200))
        await pilot.press("pagedown", "pagedown", "up")
        before = next(y for y in range(12) if line(app.table, y).startswith("row-000021"))
        app.table.set_rows([(f"new-{index}", -1) for index in range(30)] + rows(200))
        await pilot.pause()
        assert app.table.row == ("row-000021", 21)
        assert line(app.table, before).startswith("row-000021")


async def test_the_wheel_takes_the_cursor_along_and_ends_following() -> None:
    app = TableApp(follow=True)
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(200))
        await pilot.pause()
        for _ in range(20):
            app.table.scroll_relative(y=-3, animate=False, immediate=True)
        await pilot.pause()
        top = app.table.scroll_offset.y
        assert not app.table.following and app.table.row == (f"row-{top + 10:06}", top + 10)
        app.table.set_rows(rows(230))
        await pilot.pause()
        assert app.table.scroll_offset.y == top
        app.table.scroll_end(animate=False, immediate=True)
        await pilot.pause()
        assert app.table.following


async def test_shift_click_on_a_head_adds_the_second_key() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(50))
        await pilot.click(app.table, offset=(36, 0))
        await pilot.click(app.table, offset=(3, 0), shift=True)
        assert app.table.sort_by == (("n", False), ("name", False))
        assert "n▴¹" in line(app.table, 0) and "name▴²" in line(app.table, 0)


async def test_a_head_says_what_its_column_is() -> None:
    told = (Column("n", "n", lambda row: str(row[1]), width=8, about="how many [so far]", unit="B"),)
    app = TableApp()
    async with app.run_test(size=(40, 12), tooltips=True) as pilot:
        app.table.set_columns(told)
        app.table.set_rows(rows(5))
        await pilot.hover(app.table, offset=(3, 0))
        assert app.table.tooltip.plain == "n: how many [so far] (bytes, k = 1000)"
        await pilot.hover(app.table, offset=(3, 3))
        assert app.table.tooltip is None


async def test_a_filter_of_many_rows_leaves_the_keys_their_turn() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(150_000))
        app.table.set_filter("9")
        assert app.table._arranger.busy and len(app.table.rows) == 150_000  # the letter is painted first
        await pilot.press("down", "down")
        assert app.table.row == ("row-000029", 29)
        while app.table._arranger.busy:
            await pilot.pause()
        assert not app.table.marks.doing
        assert len(app.table.rows) == sum("9" in str(i) for i in range(150_000))
        assert app.table.row == ("row-000029", 29)


async def test_a_table_without_room_for_a_title_keeps_the_mark_of_the_sort() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_columns([Column("scanned", "scanned", lambda row: row[0], width=5, align="right")])
        app.table.set_rows(rows(5))
        app.table.sort("scanned", True)
        await pilot.pause()
        assert line(app.table, 0).startswith("scan▾")


async def test_states_that_a_newer_one_replaced_are_counted_at_the_foot() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(150_000))
        app.table.set_filter("9")
        for count in (150_001, 150_002, 150_003):  # it is still busy with the first
            app.table.set_rows(rows(count))
        while app.table._arranger.busy:
            await pilot.pause()
        assert app.table.marks.folded == 2
        assert app.table.marks.content().plain.endswith("2 updates folded")
        assert app.table.total == 150_003
        app.table.action_clear_filter()
        await pilot.pause()
        assert not app.table.marks.folded, "what is neither filtered nor sorted shows as it comes"


async def test_a_table_is_arranged_though_the_process_is_suspended_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look at Textual's clock comes a second after the last one: its timers miss their only tick."""
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        seconds = itertools.count()
        monkeypatch.setattr("textual._time.get_time", lambda: float(next(seconds)))
        app.table.set_rows(rows(50_000))
        app.table.set_filter("9")
        async with asyncio.timeout(60):
            while app.table._arranger.busy:
                await pilot.pause()
        assert app.table.hidden


async def test_a_sort_mark_stands_behind_a_title_that_fills_its_column() -> None:
    app = TableApp()
    app.table.set_columns(
        (
            Column("status", "status", lambda row: row[0], width=6),
            Column("seats", "seats", lambda row: str(row[1]), lambda row: row[1], width=5, align="right"),
        )
    )
    async with app.run_test(size=(13, 4)):
        app.table.set_rows(rows(2))
        app.table.sort("status", False)
        assert line(app.table, 0).startswith("status▴seats")
        app.table.sort("seats", True, rank=1)
        assert line(app.table, 0).startswith("statu▴¹sea▾²"), "the last column has no gap behind it"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, "analytics/api-nwbh5b9ckb-6fkpd"),
        (20, "analytics/…ckb-6fkpd"),
        (9, "anal…fkpd"),
        (2, "a…"),
    ],
)
async def test_where_the_end_of_a_text_tells_the_middle_is_left_out(width: int, shown: str) -> None:
    app = TableApp()
    key = ("analytics/", "$ink-muted"), ("api-nwbh5b9ckb-6fkpd", "")
    app.table.set_columns((Column("key", "key", lambda row: key, width=width, tail=True),))
    async with app.run_test(size=(42, 4)):
        app.table.set_rows(rows(1))
        assert line(app.table, 1).rstrip() == shown


async def test_the_middle_is_left_out_by_cells() -> None:
    app = TableApp()
    app.table.set_columns((Column("key", "key", lambda row: "日本語日本語日本語", width=9, tail=True),))
    async with app.run_test(size=(12, 4)):
        app.table.set_rows(rows(1))
        assert line(app.table, 1).rstrip() == "日本…本語"
