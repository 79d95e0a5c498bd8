"""Keys of a prefix that was read in part: sorted by the server, out of all of them."""

from __future__ import annotations

import pytest

from .asking import asking_app, until, until_shown
from .etcd import put_cursor
from .fake_server import FakeServer
from .still import NORMAL

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("etcd")]


async def test_the_largest_of_all_keys_come_from_the_server() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        screen.keys.table.focus()
        await until(pilot, lambda: screen.keys.table.sorted_by_owner)
        await pilot.press("s", "b")
        await until_shown(pilot, "2,000 of 3,000 by bytes")
        sizes = [row.bytes for row in screen.keys.table.rows]
        assert sizes[0] == max(sizes) == 5_968 + 96 and sizes == sorted(sizes, reverse=True)
        assert "/ktui/v1/etcd/keys?prefix=/registry/pods/&limit=2000&sort=-bytes" in server.asked
        await pilot.press("S")
        await until(pilot, lambda: bool(screen.keys.list.keys) and screen.keys.list.sort == "bytes")
        assert screen.keys.table.rows[0].bytes == 5_968
        await pilot.press("s", "full_stop")
        await until(pilot, lambda: bool(screen.keys.list.keys) and not screen.keys.list.sort)
        assert screen.keys.table.rows[0].key.endswith("web-0000")


async def test_a_list_that_is_here_is_sorted_here() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "secrets/")
        screen.keys.table.focus()
        await until(pilot, lambda: bool(screen.keys.list.keys))
        await pilot.press("s", "b")
        await until(pilot, lambda: bool(screen.keys.table.sort_by))
        assert not [path for path in server.asked if "sort=" in path]


async def test_the_order_of_a_whole_list_is_not_that_of_a_part() -> None:
    app = asking_app(FakeServer())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "secrets/")
        await until(pilot, lambda: bool(screen.keys.list.keys))
        screen.keys.table.sort("bytes")
        screen.keys.start("/registry/pods/", "/registry/")
        await until(pilot, lambda: len(screen.keys.table.rows) == 500)
        assert not screen.keys.table.sort_by and screen.keys.table.rows[0].key.endswith("web-0000")
