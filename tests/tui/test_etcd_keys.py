"""The keys below a prefix."""

from __future__ import annotations

import pytest

from ktui.contract.etcd_documents import KeyPage, StoredKey
from ktui.tui.etcd.keys_pane import KeyList

from .asking import asking_app, until, until_shown
from .etcd import put_cursor
from .fake_server import FakeServer
from .still import NORMAL, shown

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("etcd")]


async def test_keys_are_read_a_page_at_a_time() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        assert len(screen.keys.list.keys) == 500
        await until_shown(pilot, " pods/ · 500 of 3,000")
        screen.keys.table.focus()
        await pilot.press("end")
        await until(pilot, lambda: len(screen.keys.list.keys) == 1_000)
        assert any(path.endswith("&after=/registry/pods/team-01/web-0499") for path in server.asked)


async def test_a_filter_never_makes_a_whole_prefix_be_read() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        screen.keys.table.focus()
        asked = len([path for path in server.asked if "/keys?" in path])
        await pilot.press("slash", *"web-0499", "enter")
        await until(pilot, lambda: len(screen.keys.table.rows) == 1)
        assert len([path for path in server.asked if "/keys?" in path]) == asked


async def test_hostile_keys_and_labels_are_text() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "weird[red]/")
        text = shown(app)
        assert "· weird[red]/" in text
        assert "x[red]y␛[31m" in text
        assert "\x1b" not in text


def test_what_all_names_have_in_common_is_in_the_title() -> None:
    keys = KeyList("/registry/cilium.io/")
    names = ("ciliumnodes/node-1", "ciliumnodes/node-2")
    stored = [StoredKey(f"/registry/cilium.io/{name}") for name in names]
    keys.extend(KeyPage(7, 2, stored))
    assert keys.shared == "/registry/cilium.io/ciliumnodes/"
    begun = KeyList("/registry/cilium.io/")
    begun.extend(KeyPage(7, 3, stored, stored[-1].key))  # another page may have others
    assert begun.shared == "/registry/cilium.io/"
