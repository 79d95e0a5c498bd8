"""The ids of tables and columns that a config file may name are those of the screens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ktui.config.errors import InvalidEntry
from ktui.tui.app import KtuiApp
from ktui.tui.navigation.modes import MODES
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.screen_bases.table_screen import TableScreen
from ktui.tui.table.column_ids import COLUMNS, check_columns
from ktui.tui.table.vtable import VTable

from .auditing import audit_app, read, write_log
from .still import WIDE

pytestmark = pytest.mark.anyio


def ids_of(screen: TableScreen) -> dict[str, Sequence[str]]:
    """Column ids by table id; hidden ones too."""
    return {screen.table_id(table): [column.id for column in table.columns] for table in screen.query(VTable)}


async def test_every_table_of_every_mode_is_listed() -> None:
    app = KtuiApp(start_timers=False)
    found: dict[str, Sequence[str]] = {}
    async with app.run_test(size=WIDE) as pilot:
        for mode in MODES:
            await app.action_go(mode.name)
            await pilot.pause()
            assert isinstance(app.screen, ModeScreen)
            found |= ids_of(app.screen)
            if mode.name == "overview":
                await pilot.press("v")  # the tables of stored data are made when they are shown
                await pilot.pause()
                found |= ids_of(app.screen)
    listed = {table: set(ids) for table, ids in COLUMNS.items() if not table.startswith("audit.")}
    listed["versions.versions"] -= {"limit"}  # its LIST has none
    assert {table: set(ids) for table, ids in found.items()} == listed


async def test_every_table_of_the_audit_is_listed(tmp_path: Path) -> None:
    app = audit_app(write_log(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot)
        found = ids_of(app.audit)
    listed = {table: set(ids) for table, ids in COLUMNS.items() if table.startswith("audit.")}
    assert {table: set(ids) for table, ids in found.items()} == listed


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"requests.log": ("ms", "client")}, None),
        ({"requests.top": ("cpu", "cup")}, "requests.top has no column 'cup'; did you mean 'cpu'?"),
        ({"request.log": ("ms",)}, "there is no table 'request.log'; did you mean 'requests.log'?"),
    ],
)
def test_a_choice_is_checked(chosen: dict[str, tuple[str, ...]], problem: str | None) -> None:
    told = [InvalidEntry(next(iter(chosen)), problem)] if problem else []
    assert list(check_columns(chosen)) == told
