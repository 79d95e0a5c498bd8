"""`ktui web` as a user runs it: the printed address leads to a live dashboard."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]


async def seen(address: URL, wanted: tuple[str, ...]) -> None:
    """Open the page as a browser does and read until all that is wanted was drawn."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(address.origin(), cookie_jar=jar) as browser:
        async with browser.get(address.path_qs) as page:
            assert page.status == 200
        url = "/ws?width=120&height=40"
        async with browser.ws_connect(url, headers={"Origin": str(address.origin())}) as page:
            drawn = b""
            async with asyncio.timeout(60):
                while not all(word.encode() in drawn for word in wanted):
                    drawn += await page.receive_bytes()


async def test_the_address_leads_to_a_live_dashboard(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ETCDCTL_", "KTUI_"))}
    own = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ktui", "web", "--pods", "40", "--nodes", "3", "--kube-version", "1.30",
        env=kept | own | {"KTUI_NAMESPACES": "3"}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            said = (await process.stdout.readline()).decode().split()
        assert said[0] == "open"
        await seen(URL(said[1]), ("demo", "1.30", "pods"))
    finally:
        process.terminate()
        async with asyncio.timeout(60):
            assert await process.wait() == 0
