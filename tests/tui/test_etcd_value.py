"""One key: what it is, how it is stored, what is held back."""

from __future__ import annotations

import pytest

from .asking import asking_app, until, until_shown
from .etcd import put_cursor, show_first_key
from .fake_server import FakeServer
from .still import NORMAL, WIDE, shown

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("etcd")]


async def test_a_key_shows_its_metadata_object_and_bytes() -> None:
    app = asking_app()
    async with app.run_test(size=WIDE) as pilot:
        screen = await show_first_key(pilot, "pods/")
        text = shown(app)
        assert "v1 Pod · protobuf · 6.0 kB stored" in text
        assert "at revision 44,000 (version 3)" in text
        assert "phase: Running" in screen.value.query_one("#object").text  # type: ignore[attr-defined]
        assert "6b 38 73 00" in text
        await pilot.press("v")
        await until(pilot, lambda: '"kind": "Pod",' in shown(app))


async def test_a_lease_shows_its_remaining_ttl() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await show_first_key(pilot, "events/")
        await until(pilot, lambda: "694d71ddf8a1ff05, 45m left" in shown(app))


async def test_a_secret_is_revealed_only_when_asked() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "secrets/")
        assert "<redacted: 12 bytes>" in shown(app)
        assert not any("reveal" in path for path in server.asked)
        await pilot.press("R")
        await until(pilot, lambda: "aHVudGVyMi1odW50" in shown(app))
        assert not screen.value.redacted
        await pilot.press("u")  # reading again hides it again
        await until(pilot, lambda: screen.value.redacted)
        assert "aHVudGVyMi1odW50" not in shown(app)


@pytest.mark.parametrize("pane", ["prefixes", "keys", "value"])
async def test_u_reads_all_that_is_shown_again(pane: str) -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "pods/")
        if pane == "value":
            screen.value.focus_view()
        else:
            getattr(screen, pane).table.focus()
        await pilot.pause()
        server.asked.clear()
        await pilot.press("u")
        kinds = [f"/ktui/v1/etcd/{kind}?" for kind in ("prefixes", "keys", "key")]
        await until(pilot, lambda: all(any(kind in path for path in server.asked) for kind in kinds))
        await until(pilot, lambda: screen.value.detail is not None)
        assert len(server.asked) == len(kinds), server.asked
        assert screen.keys.table.row is not None and screen.value.detail is not None
        assert screen.keys.table.row.key == screen.value.detail.key


async def test_another_key_hides_what_was_revealed() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "secrets/")
        await pilot.press("R")
        await until(pilot, lambda: not screen.value.redacted)
        await put_cursor(pilot, "events/")
        await show_first_key(pilot, "secrets/")
        await until(pilot, lambda: screen.value.redacted)
        assert "aHVudGVyMi1odW50" not in shown(app)


async def test_sizes_by_field() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "pods/")
        assert "metadata.managedFields is 41% of the object" in shown(app)
        await pilot.press("v", "v", "v")
        await until_shown(pilot, "value · sizes")
        told = screen.value.query_one("#object").text.splitlines()  # type: ignore[attr-defined]
        assert [line.split()[0] for line in told] == [
            "59%",
            "41%",
            "9%",
            "2%",
            "23%",
            "17%",
            "18%",
            "11%",
            "<1%",
            "5,968",
        ]


async def test_the_caches_copy_is_compared() -> None:
    server = FakeServer()
    key = "/ktui/v1/etcd/key?key=/registry/pods/team-00/web-0000"
    for copy, says in (
        ({"rv": 44_000, "cache_rv": 48_102, "same": True}, "= same bytes at RV 48,102"),
        ({"rv": 43_000, "cache_rv": 43_900, "same": False}, "≠ at RV 43,000 at RV 43,900"),
        ({"rv": 0, "cache_rv": 43_900, "same": False}, "≠ missing"),
        (None, "not filled: not compared"),
    ):
        server.answers[key]["cache"] = copy
        app = asking_app(server)
        async with app.run_test(size=WIDE) as pilot:
            await show_first_key(pilot, "pods/")
            await until_shown(pilot, says)


async def test_a_lease_that_may_not_be_asked_says_why() -> None:
    app = asking_app()
    async with app.run_test(size=WIDE) as pilot:
        screen = await show_first_key(pilot, "events/")
        screen.keys.table.focus()
        await pilot.press("down")
        await until_shown(pilot, "TTL not requested: read-only mode sends only Range, Watch, Status")
