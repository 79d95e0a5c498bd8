"""`ktui web` in a real browser: drawn, typed into, resized, left, reloaded, closed, and refused to others."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from tests.e2e.browser import Browser, Tab, browsing, find_browser
from tests.e2e.conftest import Home
from tests.e2e.terminal import HANGS, processes_of

pytestmark = [pytest.mark.terminal, pytest.mark.etcd, pytest.mark.anyio, pytest.mark.timeout(600)]

SMALL = ("--pods", "40", "--nodes", "4", "--namespaces", "6")
HELD_UP = 30.0  # seconds: a server that waits for its open pages would take a minute


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True, slots=True)
class Served:
    """A running `ktui web`, and a browser."""

    address: str
    process: asyncio.subprocess.Process
    browser: Browser
    marker: str

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]

    def pages(self) -> int:
        return sum("--page-of=" in line for line in processes_of(self.marker))

    async def opened(self) -> Tab:
        tab = await self.browser.tab()
        await tab.resize(1280, 800)
        await tab.open(self.address)
        await tab.sees("demo", "watch caches")
        return tab


@contextlib.asynccontextmanager
async def served(home: Home) -> AsyncIterator[Served]:
    if (program := find_browser()) is None:
        pytest.skip("no Chromium on PATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KTUI_", "ETCDCTL_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ktui", "web", *SMALL,
        env=kept | home.environment, cwd=home.path, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(HANGS):
            said = (await process.stdout.readline()).decode().split()
        async with browsing(program, home.path / "profile") as browser:
            yield Served(said[1], process, browser, home.marker)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    await until(lambda: processes_of(home.marker) == [])


async def until(holds: Callable[[], bool], seconds: float = HANGS) -> None:
    """Other processes send no signal: look, and look again."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.05)


async def test_a_page_draws_has_the_keyboard_and_says_when_it_has_ended(home: Home) -> None:
    async with served(home) as here:
        tab = await here.opened()
        assert await tab.value("location.href") == f"{here.origin}/"  # the token has left the address
        await tab.wait_for("document.querySelector('#terminal canvas').width > 1000")
        await tab.wait_for("document.fonts.check('16px \"Roboto Mono\"')")
        await tab.press("2")  # without a click
        await tab.sees("phases", "funnel")
        await tab.resize(700, 480)
        await tab.press("1")
        await tab.sees("RV progress")
        await tab.press("e")
        await tab.sees("export to")
        assert not list(home.path.glob("ktui-*.csv"))  # not before it has a name
        await tab.enter()
        await tab.sees("rows written to")
        assert list(home.path.glob("ktui-*.csv"))
        await tab.press("q")
        await tab.wait_for("document.body.classList.contains('-closed')")
        await tab.wait_for("document.activeElement.id === 'again'")
        await until(lambda: here.pages() == 0)
        await tab.value("window.drawn = ''; document.getElementById('again').click()")
        await tab.sees("watch caches")
        assert await tab.value("complaints") == []


async def test_two_tabs_a_reload_and_a_closed_tab(home: Home) -> None:
    async with served(home) as here:
        one, two = await here.opened(), await here.opened()
        await until(lambda: here.pages() == 2)
        await one.press("3")
        await one.sees("what it does")
        await two.call("Page.reload")
        await two.sees("watch caches")
        await until(lambda: here.pages() == 2)
        await two.close()
        await until(lambda: here.pages() == 1)
        await one.press("1")
        await one.sees("RV progress")


async def test_stopping_it_ends_the_pages_and_says_so_in_them(home: Home) -> None:
    async with served(home) as here:
        tab = await here.opened()
        await until(lambda: here.pages() == 1)
        here.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(here.process.wait(), HELD_UP) == 0
        assert processes_of(here.marker) == []
        await tab.wait_for("document.body.classList.contains('-closed')")
        await tab.value("document.getElementById('again').click()")
        await tab.wait_for("document.body.innerText.includes('ktui web has stopped')")


async def test_a_killed_one_leaves_no_page_and_no_server(home: Home) -> None:
    async with served(home) as here:
        await here.opened()
        here.process.kill()
        await until(lambda: processes_of(here.marker) == [])


async def test_no_other_client_gets_in(home: Home, tmp_path: Path) -> None:
    async with served(home) as here:
        await here.opened()  # the browser has the cookie
        async with foreign_site(here.origin) as site:
            tab = await here.browser.tab()
            await tab.open(site)
            await tab.wait_for("document.title !== ''")
            assert await tab.value("document.title") == "websocket refused"
            assert here.pages() == 1
        stranger = await here.browser.tab()
        await stranger.open(f"http://localhost:{here.origin.rpartition(':')[2]}/")  # another site's cookies
        await stranger.wait_for("document.body.innerText.includes('needs its token')")


@contextlib.asynccontextmanager
async def foreign_site(origin: str) -> AsyncIterator[str]:
    """A page of another origin that opens a websocket to `origin`."""
    page = f"""<!DOCTYPE html><script>
      const socket = new WebSocket("{origin.replace("http", "ws")}/ws?width=80&height=24");
      socket.onopen = () => document.title = "websocket open";
      socket.onerror = () => document.title = "websocket refused";
    </script>"""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    server = web.TCPSite(runner, "127.0.0.1", 0)
    await server.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()
