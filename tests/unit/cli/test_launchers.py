"""Why there is no server: the connection's own words reach the screen."""

from __future__ import annotations

import argparse
import asyncio
import os
import ssl
from pathlib import Path

import httpx
import pytest

from ktui.cli import child
from ktui.cli.child import AttachLauncher, ChildLauncher, ServerChild
from ktui.cli.targets import attached_connection
from ktui.client.api import clear_errors
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.running import announce
from ktui.tui.intake import Intake
from ktui.tui.source import LiveSource, Stage
from tests.unit.ports import silent_port

pytestmark = pytest.mark.anyio

SERVER = "https://127.0.0.1:6443"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_server_that_cannot_be_reached_is_not_said_to_have_gone() -> None:
    another = asyncio.Event()
    with silent_port() as port:
        intake = Intake(LiveSource(AttachLauncher(ServerConnection(f"http://127.0.0.1:{port}"))), another.set)
        following = asyncio.create_task(intake.follow())
        async with asyncio.timeout(60):
            while intake.link.stage is not Stage.STOPPED:
                await another.wait()
                another.clear()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert intake.link.detail.startswith(f"no server answers at http://127.0.0.1:{port}")


class Stuck(ServerChild):
    """A process that lives on, whatever became of its telemetry."""

    async def wait(self) -> str:
        await asyncio.Event().wait()
        return "never"


async def test_a_server_that_lives_on_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "DYING_SECONDS", 0.01)
    assert await ChildLauncher(Stuck([])).why_stopped() == ""


def test_a_certificate_that_is_not_trusted_names_the_way_out() -> None:
    refused = ssl.SSLCertVerificationError()
    refused.verify_message = "self-signed certificate"
    said = pytest.raises(ClientError, match=r"self-signed certificate \(give its CA with --server-ca\)")
    with said, clear_errors(ServerConnection(SERVER)):
        raise httpx.ConnectError("tls") from refused


@pytest.mark.parametrize("token", ["", "another"])
def test_the_certificate_of_a_server_of_ours_is_known_whatever_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ours = ServerConnection(SERVER, "its own", tmp_path / "ca.crt")
    announce(ours, pid=os.getpid(), name="ours", started=1.0)
    found = attached_connection(argparse.Namespace(attach=SERVER, token=token, server_ca=""))
    assert found == ServerConnection(SERVER, token or "its own", tmp_path / "ca.crt")


async def test_a_server_that_was_started_again_is_found_again() -> None:
    now = [ServerConnection(SERVER, "old")]
    launcher = AttachLauncher(now[0], lambda: now[0])
    assert (await launcher.start(str)).connection.token == "old"
    now[0] = ServerConnection(SERVER, "new")
    assert (await launcher.restart(str)).connection.token == "new"
