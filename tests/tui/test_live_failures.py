"""What goes wrong on the way to a live kube-apiserver is a sentence on screen, until it is over."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ktui.client import exec_plugin
from ktui.client.exec_plugin import Plugin
from ktui.client.kube_connection import KubeConnection, Material
from ktui.contract.events import AnyEvent
from ktui.core.live import live_state
from ktui.live import scraper
from ktui.live.scraper import Scraper
from ktui.tui.live.app import LiveApp
from ktui.tui.live.source import ClusterSource
from tests.etcd.certificates import DAY, HOUR, Authority
from tests.unit.live.bad_pages import FORBIDDEN, UNUSABLE, odd
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, metrics, serving

from .still import HANGS, shown, until_said

pytestmark = pytest.mark.anyio
SIZE = (200, 30)  # a sentence in one line


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraper, "DUMP_SECONDS", 0.05)  # the pilot waits for timers of a frame
    monkeypatch.setattr(live_state, "GONE_AFTER", 1e6)  # a loaded machine does not scrape 20 times a second


def app_over(connect: Callable[[], KubeConnection]) -> LiveApp:
    return LiveApp(ClusterSource(lambda: Scraper(connect, 0.05), "context recorded"), start_timers=True)


async def until_gone(pilot: Any, text: str) -> None:
    async with asyncio.timeout(HANGS):
        while text in shown(pilot.app):
            await pilot.pause()


def instead_of_metrics(answer: Answer, _: int, path: str) -> Answer | None:
    return answer if path == "/metrics" else None


async def test_bad_pages_one_after_the_other() -> None:
    with serving(Recorded()) as recorded:
        app = app_over(recorded.connection)
        async with app.run_test(size=SIZE) as pilot:
            await until_said(pilot, "2/2 replicas")
            for answer, says in UNUSABLE.values():
                recorded.override = partial(instead_of_metrics, answer)
                await until_said(pilot, "no new figures", says)
                recorded.override = lambda _, path: None
                await until_gone(pilot, "no new figures")
            page = odd(metrics(0, FIRST))
            recorded.override = lambda _, path: (200, "text/plain", page) if path == "/metrics" else None
            recorded.moment, sent = LAST, len(recorded.requests)
            async with asyncio.timeout(HANGS):
                while len(recorded.requests) < sent + 20:
                    await pilot.pause()
            assert "no new figures" not in shown(app)
            recorded.override = lambda _, path: FORBIDDEN if path == "/metrics" else None
            await until_said(pilot, "denied /metrics: 403: may not; get on /metrics would grant it")


class HangingLogin:
    """A kubeconfig whose user's program gives credentials at first, or hangs."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.hangs = True

    def __call__(self) -> KubeConnection:
        if self.hangs:
            plugin = Plugin(command="sleep", args=["300"], api_version="client.authentication.k8s.io/v1")
            exec_plugin.run_plugin(plugin, "me", {}, Path(), terminal=False)
        return self.recorded.connection()


async def test_a_program_for_credentials_that_hangs_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "PATIENCE", 0.1)
    with serving(Recorded()) as recorded:
        app = app_over(HangingLogin(recorded))
        async with app.run_test(size=SIZE) as pilot:
            await until_said(
                pilot, "the program 'sleep' has given no credentials for", "is ended after 120 s"
            )
    exec_plugin._end_all()  # as at the end of the process, which the program does not hold up


async def test_a_program_for_credentials_is_announced_on_screen() -> None:
    """Before the feed starts, which runs it."""
    said: list[str] = []
    source = ClusterSource(lambda: Started(said), "context prod", lambda: "by running 'aws'")
    await source.connect(said.append)
    assert said == ["connecting to context prod", "by running 'aws'", "started"]


class Started(Scraper):
    """A feed that records its start, and sends nothing."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(lambda: KubeConnection(""))
        self._said = said

    async def start(self) -> list[AnyEvent]:
        self._said.append("started")
        return []


async def test_credentials_that_expire_while_their_program_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraper, "PATIENCE", -0.4)
    monkeypatch.setattr(exec_plugin, "PATIENCE", 0.0)
    with serving(Recorded()) as recorded:
        login = HangingLogin(recorded)
        login.hangs = False
        app = app_over(login)
        async with app.run_test(size=SIZE) as pilot:
            await until_said(pilot, "2/2 replicas")
            login.hangs = True
            recorded.override = lambda _, path: (401, "text/plain", b"") if path == "/metrics" else None
            await until_said(pilot, "no new figures: the program 'sleep' has given no credentials")
            login.hangs = False
            recorded.override = lambda _, path: None
            exec_plugin._end_all()
            await until_gone(pilot, "no new figures")


class RenewedServer:
    """Recorded pages over TLS, with a certificate that can be replaced; each answer closes its connection.

    Each certificate has a context of its own, which a handshake takes whole: to load another into one that is
    in use replaces its certificate and its key one after the other.
    """

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.sni_callback = self._choose
        self.recorded = Recorded(closes=True)

    def show(self, name: str, age: timedelta = HOUR) -> None:
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        shown.load_cert_chain(*self.authority.issue(name, age=age))
        self._shown = shown

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        connection.context = self._shown

    def connection(self) -> KubeConnection:
        ca = Material("certificate-authority", self.authority.file.read_bytes())
        return KubeConnection(self.recorded.url, token="admin", context="recorded", ca=ca)


async def test_a_certificate_that_has_expired_until_it_is_renewed(tmp_path: Path) -> None:
    server = RenewedServer(tmp_path)
    server.show("old", age=3 * DAY)
    with serving(server.recorded, server.context):
        app = app_over(server.connection)
        async with app.run_test(size=SIZE) as pilot:
            await until_said(pilot, f"the certificate of {server.recorded.url}", "certificate has expired")
            server.show("renewed")
            await until_said(pilot, "2/2 replicas")
            server.show("old", age=3 * DAY)
            await until_said(pilot, "no new figures", "certificate has expired")
            server.show("renewed again")
            await until_gone(pilot, "no new figures")
