"""The virtual table: 100,000 rows, the cursor, hostile cells."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from ktui.tui import themes
from ktui.tui.widgets.columns import Column
from ktui.tui.widgets.vtable import VTable

pytestmark = pytest.mark.anyio

COLUMNS = (
    Column("name", "name", lambda row: row[0], width=10, flex=1),
    Column(
        "n", "n", lambda row: (str(row[1]), "bold $route-etcd"), lambda row: row[1], width=8, align="right"
    ),
)


class TableApp(App[None]):
    def __init__(self, follow: bool = False) -> None:
        super().__init__()
        self.table = VTable(COLUMNS, key=lambda row: row[0], follow=follow)

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
        assert len(app.table._strips) < 50


async def test_the_cursor_stays_on_its_row_while_others_come() -> None:
    app = TableApp()
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.set_rows(rows(50))
        await pilot.press("down", "down")
        app.table.set_rows([("new", -1), *rows(50)])
        assert app.table.row == ("row-000002", 2)


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
        assert "no row matches n>9" in line(app.table, 1)
