"""`ktui web` by its real server: who is let in, and that a page is the program."""

import asyncio
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from ktui.apiserver.http.loopback import is_loopback
from ktui.cli.main import main
from ktui.cli.web_server import CLEAR, PATIENCE, PageServer

pytestmark = pytest.mark.anyio

TOKEN = "t0ken-of-the-test"
# What textual-serve expects of a page's program: its sign, then packets.
PROGRAM = """
import sys
out = sys.stdout.buffer
out.write(b"__GANGLION__\\n")
text = b"first frame " + b" ".join(word.encode() for word in sys.argv[1:])
out.write(b"D" + len(text).to_bytes(4, "big") + text)
out.flush()
sys.stdin.buffer.read(5)
"""


# A program that a page cannot ask to end, from before its first frame on.
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@asynccontextmanager
async def served(program: str = PROGRAM) -> AsyncIterator[tuple[PageServer, aiohttp.ClientSession]]:
    """A running server whose pages run `program`, and a browser that has not been there yet."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = PageServer([sys.executable, "-c", program, "--theme=my theme"], listening, TOKEN)
        running = asyncio.create_task(server.run())
        jar = aiohttp.CookieJar(unsafe=True)  # of addresses, too
        async with aiohttp.ClientSession(server.public_url, cookie_jar=jar) as browser:
            yield server, browser
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def opened(program: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The websocket of a page."""
    async with served(program) as (server, browser):
        await enter(browser)
        async with browser.ws_connect(
            "/ws?width=80&height=24", headers={"Origin": server.public_url}
        ) as page:
            yield page


async def enter(browser: aiohttp.ClientSession) -> None:
    async with browser.get("/", params={"token": TOKEN}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/static/js/textual.js", "/ws", "/download/x"])
async def test_without_the_token_nothing_is_served(path: str) -> None:
    async with served() as (_, browser), browser.get(path) as answer:
        assert answer.status == 403
        assert "needs its token" in await answer.text()


async def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    async with served() as (server, browser):
        async with browser.get(f"/?fontsize=20&token={TOKEN}", allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/?fontsize=20")
            cookie = answer.headers["Set-Cookie"]
            assert all(word in cookie for word in (f"ktui_{server.port}=", "HttpOnly", "SameSite=Strict"))
        async with browser.get("/static/js/textual.js") as answer:
            assert answer.status == 200
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


async def test_the_page_is_served_under_every_loopback_name_and_loads_nothing_from_elsewhere() -> None:
    async with served() as (_, browser):
        await enter(browser)
        async with browser.get("/", headers={"Host": "localhost:9999"}) as answer:
            assert answer.status == 200
            page = await answer.text()
        assert "//" not in re.sub("<!--.*?-->", "", page, flags=re.S)
        wanted = re.findall(r'(?:href|src)="([^"]+)"', page)
        assert len(wanted) > 4
        for path in wanted:
            async with browser.get(path) as answer:
                assert answer.status == 200, path


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[", "10.0.0.1"]
)
async def test_a_foreign_name_is_refused_even_with_the_token(host: str) -> None:
    async with served() as (_, browser):
        await enter(browser)
        async with browser.get("/", headers={"Host": host}) as answer:
            assert answer.status in (400, 403)
            assert "needs its token" not in await answer.text()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:1", "https://{host}"]
)
async def test_a_websocket_is_opened_by_its_own_page_only(origin: str) -> None:
    async with served() as (server, browser):
        await enter(browser)
        headers = {"Origin": origin.format(host=URL(server.public_url).authority)} if origin else {}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await browser.ws_connect("/ws", headers=headers)
        assert refused.value.status == 403


async def test_a_page_gets_the_first_frame_of_its_program() -> None:
    async with opened(PROGRAM) as page:
        assert await page.receive_bytes(timeout=60) == b"first frame --theme=my theme"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.exit('ktui: no such \x1b[31mtheme')", b"ktui: no such \xe2\x90\x9b[31mtheme"),
        ("import os; os.kill(os.getpid(), 9)", b"the dashboard was killed by SIGKILL"),
        (PROGRAM.replace("sys.stdin.buffer.read(5)", "sys.exit(4)"), b"the dashboard ended with status 4"),
        ("print('no Textual app'); raise SystemExit(5)", b"the dashboard ended with status 5"),
    ],
    ids=["refused", "killed", "late", "other"],
)
async def test_a_page_whose_program_has_failed_says_so_and_closes(program: str, said: bytes) -> None:
    async with opened(program) as page:
        last = b""
        async with asyncio.timeout(60):
            async for message in page:
                last = message.data
        assert last.startswith(CLEAR.encode())
        assert last.endswith(said)
        assert page.closed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DEAF, "time.sleep(100)"),
        ("", "while True: out.write(b'D' + (9).to_bytes(4, 'big') + b'and again')"),  # not read fast enough
    ],
    ids=["deaf", "talkative"],
)
async def test_the_program_ends_with_its_page(before: str, after: str, tmp_path: Path) -> None:
    living = tmp_path / "pid"
    mine = f"import os, pathlib, time\npathlib.Path({str(living)!r}).write_text(str(os.getpid()))\n"
    async with opened(mine + before + PROGRAM.replace("sys.stdin.buffer.read(5)", after)) as page:
        await page.receive_bytes(timeout=60)
        async with asyncio.timeout(60):
            await page.close()
            while alive(int(living.read_text())):
                await asyncio.sleep(0.01)  # another process sends no signal


async def test_stopping_takes_its_pages_along_within_a_second(tmp_path: Path) -> None:
    living = tmp_path / "pids"
    mine = f"import os\nopen({str(living)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
    program = PROGRAM.replace("sys.stdin.buffer.read(5)", "import time; time.sleep(100)")
    async with opened(mine + DEAF + program) as page:
        await page.receive_bytes(timeout=60)
        turns: list[float] = []
        counting = asyncio.create_task(count_turns(turns))
    counting.cancel()
    assert not alive(int(living.read_text()))
    assert sum(turns) < 4 * PATIENCE


async def count_turns(turns: list[float]) -> None:
    """The time that passes, but for when the whole machine stands still."""
    while True:
        await asyncio.sleep(0.01)  # the step that is counted
        turns.append(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::", "example.org"])
def test_other_machines_are_not_listened_to(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "--host", host, "--port", "8123"]) == 2
    said = capsys.readouterr().err
    assert f"--host {host} is not a loopback address" in said
    assert "ssh -L 8123:127.0.0.1:8123" in said


def test_a_taken_port_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["web", "--port", str(port)]) == 3
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in capsys.readouterr().err


def test_without_textual_serve_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.delitem(sys.modules, "ktui.cli.web_server")
    assert main(["web"]) == 2
    assert "[web]'\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("", False), ("::", False),
     ("localhost.evil.example", False)],
)  # fmt: skip
def test_what_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
