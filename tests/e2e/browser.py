"""A headless Chromium, driven by its DevTools protocol: no library of a browser's own is needed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.e2e.terminal import HANGS

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
)  # fmt: skip
# What the protocol says when a page gave way to the next before it had answered.
BETWEEN_PAGES = ("context was destroyed", "navigated or closed", "default execution context")
# Keeps what the program draws, for the canvas can only be looked at, and what the page complains of.
LISTEN = """
window.drawn = "";
window.complaints = [];
addEventListener("error", event => complaints.push(event.message ?? String(event.target?.src)), true);
addEventListener("securitypolicyviolation", event => complaints.push(event.blockedURI));
window.WebSocket = class extends WebSocket {
  constructor(...words) {
    super(...words);
    this.addEventListener("message", event => {
      if (typeof event.data !== "string") window.drawn += new TextDecoder().decode(event.data);
    });
  }
};
"""


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class BetweenPagesError(AssertionError):
    """The page that was asked is no longer there, and the next is not there yet."""


class Tab:
    """One tab; `wait_for` looks until an expression in the page is true."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target

    async def call(self, method: str, **params: object) -> Any:
        return await self._browser.call(method, self._session, **params)

    async def open(self, url: str) -> None:
        await self.call("Page.enable")
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=LISTEN)
        await self.call("Page.navigate", url=url)

    async def value(self, expression: str) -> Any:
        said = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        return said["result"].get("value")

    async def wait_for(self, expression: str, seconds: float = HANGS) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not await self._is_true(expression):
                    await asyncio.sleep(0.05)  # the page sends no signal
        except TimeoutError:
            text = await self.value("document.body.innerText + '\\n' + window.drawn?.slice(-3000)")
            raise AssertionError(f"never {expression}; the page had:\n{text!r}") from None

    async def _is_true(self, expression: str) -> bool:
        try:
            return bool(await self.value(f"Boolean({expression})"))
        except BetweenPagesError:
            return False

    async def sees(self, *texts: str) -> None:
        """Until the program has drawn each of the texts, from now on or before."""
        for text in texts:
            await self.wait_for(f"window.drawn?.includes({text!r})")

    async def press(self, text: str) -> None:
        """Type letters, as a keyboard does, after forgetting what was drawn."""
        await self.value("window.drawn = ''")
        for letter in text:
            await self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    async def enter(self) -> None:
        """Press Enter, after forgetting what was drawn."""
        await self.value("window.drawn = ''")
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    async def resize(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def close(self) -> None:
        await self._browser.call("Target.closeTarget", targetId=self._target)


class Browser:
    """A running Chromium with a profile of its own."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}

    async def tab(self) -> Tab:
        made = await self.call("Target.createTarget", url="about:blank")
        joined = await self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        return Tab(self, joined["sessionId"], made["targetId"])

    async def call(self, method: str, session: str = "", **params: object) -> Any:
        number = next(self._numbers)
        self._answers[number] = answer = asyncio.get_running_loop().create_future()
        about = {"sessionId": session} if session else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **about})
        async with asyncio.timeout(HANGS):
            return await answer

    async def listen(self) -> None:
        async for message in self._socket:
            said = message.json()
            answer = self._answers.pop(said.get("id", 0), None)
            if answer is not None and "error" in said:
                answer.set_exception(_error(said["error"]["message"]))
            elif answer is not None:
                answer.set_result(said["result"])


def _error(message: str) -> AssertionError:
    between = any(words in message for words in BETWEEN_PAGES)
    return BetweenPagesError(message) if between else AssertionError(message)


@contextlib.asynccontextmanager
async def browsing(program: str, profile: Path) -> AsyncIterator[Browser]:
    """A browser until the block ends."""
    process = await asyncio.create_subprocess_exec(
        program, *FLAGS, f"--user-data-dir={profile}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port, path = await _address(profile / "DevToolsActivePort")
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            browser = Browser(socket)
            listening = asyncio.create_task(browser.listen())
            yield browser
            listening.cancel()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _address(file: Path) -> tuple[str, str]:
    """Port and path of the protocol, which the browser writes down once it listens."""
    async with asyncio.timeout(HANGS):
        while len(lines := file.read_text().split() if file.exists() else []) < 2:
            await asyncio.sleep(0.05)  # another process sends no signal
    return lines[0], lines[1]
