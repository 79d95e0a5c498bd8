"""The revisions of a key, and what changed between two of them."""

from __future__ import annotations

import pytest

from .asking import asking_app, until, until_shown
from .etcd import open_past, show_first_key
from .fake_server import FakeServer
from .still import NORMAL, shown

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("etcd")]


async def test_the_past_of_a_key_shows_what_changed() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_past(pilot)
        assert "revisions · all 3" in shown(app)
        assert "−   phase: Pending" in shown(app) and "+   phase: Running" in shown(app)
        assert "resourceVersion" not in screen.value.query_one("#object").text  # type: ignore[attr-defined]
        await pilot.press("down")
        await until_shown(pilot, "from     at revision 31,000", "+   nodeName: node-07")
        asked = len(server.asked)
        await pilot.press("up")
        await until_shown(pilot, "from     at revision 38,412")
        assert len(server.asked) == asked  # both were read before
        await pilot.press("end")
        await until_shown(pilot, "the oldest revision in etcd")
        await pilot.press("m", "home")
        await until_shown(pilot, "from     at revision 31,000", "to       at revision 44,000", "◆")
        await pilot.press("escape")
        await until_shown(pilot, "created  at revision 31,000")
        assert screen.past.past is None and screen.keys.table.has_focus


async def test_a_secrets_past_is_redacted_too() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await show_first_key(pilot, "secrets/")
        await pilot.press("p")
        await until_shown(pilot, "redacted, R reveals")
        assert not any("reveal" in path for path in server.asked)
        await pilot.press("R")
        await until(pilot, lambda: any("reveal=1" in path for path in server.asked))
