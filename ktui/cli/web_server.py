"""The server of `ktui web`: textual-serve's, with access control, and a dashboard process for each page."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from textual_serve.server import Server, to_int

from ktui.apiserver.http.loopback import host_of_header, is_loopback
from ktui.cli.child import ServerChild, signal_group
from ktui.cli.dashboard import check_source, server_child
from ktui.cli.logs import log_of
from ktui.cli.options import option_words
from ktui.cli.output import NO_CONNECTION, OK, emit, fail
from ktui.cli.view_options import kube_context_of
from ktui.client.connection import ClientError
from ktui.contract.recording import RecordingError
from ktui.core.format import safe
from ktui.supervision import stop as stop_tasks

log = log_of(__name__)

NO_TOKEN = "This page needs its token: open the whole address that <code>ktui web</code> has printed."
NO_HOST = "<code>ktui web</code> answers under the name of a loopback address only."
NO_ORIGIN = "A websocket is opened from ktui's own page only."
REFUSAL = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>ktui: 403</title>
<body style="background: #0f141b; color: #d3dae4; font: 16px monospace; margin: 2em 2ch">
<p><b style="color: #e8c070">403</b> {text}</p>
</body>
</html>
"""
# xterm.js writes styles into the page; nothing is loaded from other servers.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def _guard(token: str, port: int) -> Middleware:
    """Return the access control: a request needs the token, ktui's own page and a loopback host name.

    The token is in the printed address. A cookie replaces it at once, so it remains neither in the
    address bar nor in a Referer. A foreign page cannot use the cookie (SameSite), open the websocket
    (Origin), or reach the server under another host name (Host; DNS rebinding). The cookie's
    name includes the port, because browsers share cookies between ports.
    """
    cookie = f"ktui_{port}"

    def known(word: str) -> bool:
        return secrets.compare_digest(word.encode(), token.encode())

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_loopback(host_of_header(request.host)):
            return _refuse(NO_HOST)
        if "token" in request.query and known(request.query["token"]):
            clean = request.rel_url.without_query_params("token")
            answer = web.Response(status=303, headers={"Location": str(clean)})
            answer.set_cookie(cookie, token, httponly=True, samesite="Strict", path="/")
            return answer
        if not known(request.cookies.get(cookie, "")):
            return _refuse(NO_TOKEN)
        websocket = request.headers.get("Upgrade", "").lower() == "websocket" or request.path == "/ws"
        if websocket and request.headers.get("Origin", "") != f"http://{request.host}":
            return _refuse(NO_ORIGIN)
        return await handler(request)

    return guard


def _refuse(text: str) -> web.Response:
    return web.Response(status=403, text=REFUSAL.format(text=text), content_type="text/html")


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = POLICY.format(host=request.host)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"


PATIENCE = 0.5  # seconds for a page's process, and its browser, to end before they are killed
SIGN = b"__GANGLION__\n"  # what a Textual app writes before its first packet
DATA, META, PACKED = b"D", b"M", b"P"
LAST_LINES = 12  # of a process' standard error
CLEAR = "\x1b[?1049l\x1b[2J\x1b[H"


class BrowserSession(AppService):
    """textual-serve's service of one app. Its process ends with the websocket, and its output is always read:
    a process whose output blocks could not end. The page shows the last lines."""

    def __init__(
        self, words: Sequence[str], websocket: web.WebSocketResponse, downloads: DownloadManager
    ) -> None:
        send, send_text = websocket.send_bytes, websocket.send_str
        super().__init__(
            "", write_bytes=send, write_str=send_text, close=self._close, download_manager=downloads
        )
        self._words = words
        self._websocket = websocket

    async def stop(self) -> None:
        """End process and websocket within twice PATIENCE. May be called twice."""
        process, task = self._process, self._task
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        signal_group(process, signal.SIGTERM)
        await asyncio.wait({task}, timeout=PATIENCE)
        signal_group(process, signal.SIGKILL)
        await self._close()
        await asyncio.wait({task}, timeout=PATIENCE)
        task.cancel()  # its browser no longer reads
        await asyncio.gather(task, return_exceptions=True)

    async def run(self) -> None:
        """Pass packets until the process has ended, then close the page."""
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        errors = asyncio.create_task(_last_lines(process.stderr), name="a page's errors")
        takers = {DATA: self.on_data, META: self.on_meta, PACKED: self.on_packed}
        async for kind, payload in _packets(process.stdout):
            with contextlib.suppress(ConnectionError):  # the page is gone; the rest is read and dropped
                if kind in takers:
                    await takers[kind](payload)
        with contextlib.suppress(TimeoutError):  # the process has closed its output but does not end
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        signal_group(process, signal.SIGKILL)
        status, lines = await process.wait(), await errors
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        log.info("a page's dashboard %s", how)
        if status and not self._websocket.closed:
            text = [safe(line) for line in lines] or [f"the dashboard {how}"]
            with contextlib.suppress(ConnectionError):
                await self.remote_write_bytes((CLEAR + "\r\n".join(text)).encode())
        await self._close()

    async def on_meta(self, data: bytes) -> None:
        """textual-serve would close the page on `exit`, before the process can report why."""
        if json.loads(data)["type"] != "exit":
            await super().on_meta(data)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,  # `ktui web` handles Ctrl-C in the terminal, and ends its pages
        )  # fmt: skip
        self._stdin = process.stdin
        return process

    async def _close(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._websocket.close()


async def _packets(stdout: asyncio.StreamReader) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield kind and payload until the process has ended; nothing if it is not a Textual app."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        if await stdout.readexactly(len(SIGN)) != SIGN:
            await stdout.read()
            return
        while True:
            head = await stdout.readexactly(5)
            yield head[:1], await stdout.readexactly(int.from_bytes(head[1:], "big"))


async def _last_lines(stderr: asyncio.StreamReader) -> list[str]:
    kept = b""
    while read := await stderr.read(4096):
        kept = (kept + read)[-8192:]
    return kept.decode("utf-8", "replace").splitlines()[-LAST_LINES:]


ASSETS = Path(__file__).with_name("web_assets")
MOST_CELLS = 1000  # most columns or rows of a page


async def serve(args: argparse.Namespace, listening: socket.socket, token: str) -> int:
    """Serve pages until a signal, or until their ktui server has ended; return the exit status."""
    record = [f"--record={args.record}"] if args.record else []  # by the server, not by every page
    child = None if args.replay or args.attach else server_child(args, *record)
    try:
        check_source(args)
        kube_context = kube_context_of(args)
        attach = (await child.start()).url if child is not None else ""
        # Not on the pages' command lines: those are readable by every user of the machine.
        if args.token:
            os.environ["KTUI_TOKEN"] = args.token
        await PageServer(page_words(args, attach, kube_context), listening, token).run(child)
    except (ClientError, RecordingError) as error:
        return fail(str(error), NO_CONNECTION)
    finally:
        if child is not None:
            await child.stop()
    return OK


class PageServer(Server):
    """Runs one dashboard process per page; `words` are its command."""

    def __init__(self, words: list[str], listening: socket.socket, token: str) -> None:
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        super().__init__("", host=host, port=port, title="ktui", public_url=f"http://{shown}:{port}")
        self._words = words
        self._socket = listening
        self._token = token
        self._pages: set[BrowserSession] = set()

    async def run(self, child: ServerChild | None = None) -> None:
        """Run until a signal; then end the pages and `child`. Raises ClientError if `child` ends earlier."""
        runner = web.AppRunner(await self._make_app(), access_log=None, shutdown_timeout=PATIENCE)
        await runner.setup()
        try:
            await web.SockSite(runner, self._socket).start()
            emit(f"open {self.public_url}/?token={self._token}", flush=True)
            await _until_stopped(child)
        finally:
            await asyncio.gather(runner.cleanup(), *([child.stop()] if child is not None else []))

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.router.add_static("/page", ASSETS)
        app.middlewares.append(_guard(self._token, self.port))
        app.on_response_prepare.append(_add_headers)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """textual-serve would print its logo."""

    async def on_shutdown(self, app: web.Application) -> None:
        await asyncio.gather(*(page.stop() for page in self._pages))

    async def handle_index(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(ASSETS / "index.html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve a page, whose process starts and ends with the websocket."""
        websocket = web.WebSocketResponse(heartbeat=15, timeout=PATIENCE)
        await websocket.prepare(request)
        page = BrowserSession(self._words, websocket, self.download_manager)
        self._pages.add(page)
        try:
            await page.start(_cells(request, "width", 80), _cells(request, "height", 24))
            await self._process_messages(websocket, page)
        finally:
            await page.stop()
            self._pages.discard(page)
        return websocket


def _cells(request: web.Request, name: str, usual: int) -> int:
    return min(max(1, to_int(request.query.get(name, ""), usual)), MOST_CELLS)


async def _until_stopped(child: ServerChild | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if child is None:
        await stop.wait()
        return
    ended = asyncio.create_task(child.wait())
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if ended.done():
        raise ClientError(ended.result())
    await stop_tasks(ended)


def page_words(args: argparse.Namespace, attach: str, kube_context: str) -> list[str]:
    """Return a page's command. `attach` is the URL of the server of all pages, `kube_context` the Lab's."""
    words = [sys.executable, "-m", "ktui", f"--page-of={os.getpid()}"]
    same = ("config", "theme", "symbols", "log_file", "log_level", "log_format", "mouse")
    words += option_words({name: getattr(args, name) for name in same})
    if kube_context:
        words.append(f"--aim={kube_context}")
    if args.replay:
        return [*words, f"--replay={args.replay}", f"--speed={args.speed}"]
    if args.server_ca:
        words.append(f"--server-ca={args.server_ca}")
    return [*words, f"--attach={attach or args.attach}"]
