"""What the tests of the Lab share: an app over a server of theirs, and what is done on its screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ktui.client.target import KubeTarget
from ktui.tui.app import KtuiApp
from ktui.tui.lab import screen as lab_screen
from ktui.tui.lab.context import KubeServer
from ktui.tui.lab.screen import LabScreen

from .asking import asking_app, until, until_shown
from .lab_server import LabServer


def screen_of(app: Any) -> LabScreen:
    assert isinstance(app.screen, LabScreen)
    return app.screen


async def open_lab(pilot: Any) -> LabScreen:
    await pilot.press("5")
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    screen = screen_of(pilot.app)
    await until(pilot, lambda: bool(screen.prediction.path))
    return screen


async def fill(pilot: Any, **values: str) -> LabScreen:
    screen = await open_lab(pilot)
    for name, value in values.items():
        screen.form_pane.fields.set_value(name, value)
    await until(pilot, lambda: values.items() <= screen.form_pane.fields.values.items())
    await pilot.pause()
    return screen


def lab_app(server: LabServer | None = None) -> KtuiApp:
    return asking_app(server or LabServer())


def settled(screen: LabScreen, count: int) -> bool:
    screen.ktui.tick()
    return len(screen.lab.runner.results) == count and not screen.lab.runner.running


async def compare(pilot: Any) -> None:
    screen = await fill(pilot, label_selector="app=web")
    await until(pilot, lambda: bool(screen.lab.namespaces))
    await pilot.press("r")
    await until(pilot, lambda: settled(screen, 8))
    await until_shown(pilot, "results · 8", "no selector")


def old_app(server: LabServer | None = None) -> KtuiApp:
    """A server with the rules of 1.30, which reads etcd whenever no resourceVersion is named."""
    server = server or LabServer()
    server.consistent_reads = False
    app = lab_app(server)
    assert app.state.server is not None
    app.feed([replace(app.state.server, kube_version="1.30")])
    app.intake.fold()
    return app


async def try_cheaper(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await until(pilot, lambda: screen.prediction.route == "etcd")
    await pilot.press("a")
    await until(pilot, lambda: settled(screen, 2))
    return screen


def two_contexts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: LabServer) -> None:
    """A kubeconfig with two contexts that both lead to `server`."""
    (tmp_path / "kubeconfig").write_text(
        "contexts: [{name: prod, context: {}}, {name: kind, context: {}}]\ncurrent-context: kind\n"
    )

    server.real = True

    async def connect(context: str) -> KubeServer:
        target = KubeTarget(server)  # type: ignore[arg-type]
        return KubeServer(
            context, target, await target.assumptions(), ("credentials go out unencrypted (http://)",)
        )

    monkeypatch.setattr(lab_screen, "connect", connect)


async def choose_kind(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await pilot.press("t")
    await until_shown(pilot, "ktui's own server", "prod", "kind  (current context)")
    await pilot.press("down", "down", "enter")
    await until(pilot, lambda: screen.lab.kube is not None)
    return screen
