"""What the tests of the Lab share: an app over a server of theirs, and what is done on its screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ktui.client.target import KubeTarget
from ktui.core.lab.server import Elsewhere
from ktui.tui.app import KtuiApp
from ktui.tui.lab import aiming as lab_aiming
from ktui.tui.lab.aim import Aim
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
        screen.composing.fields.set_value(name, value)
    await until(pilot, lambda: values.items() <= screen.composing.fields.values.items())
    await pilot.pause()
    return screen


def lab_app(server: LabServer | None = None) -> KtuiApp:
    return asking_app(server or LabServer())


def settled(screen: LabScreen, count: int) -> bool:
    screen.ktui.tick()
    return len(screen.firing.bench.results) == count and not screen.firing.bench.running


async def race(pilot: Any) -> None:
    screen = await fill(pilot, label_selector="app=web")
    await until(pilot, lambda: bool(screen.known.candidates.namespaces))
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
    app.fold()
    return app


async def undercut(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await until(pilot, lambda: screen.prediction.route == "etcd")
    await pilot.press("a")
    await until(pilot, lambda: settled(screen, 2))
    return screen


def aiming(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: LabServer) -> None:
    """A kubeconfig with two contexts that both lead to `server`."""
    (tmp_path / "kubeconfig").write_text(
        "contexts: [{name: prod, context: {}}, {name: kind, context: {}}]\ncurrent-context: kind\n"
    )

    server.real = True

    async def aim(context: str) -> Aim:
        target = KubeTarget(server)  # type: ignore[arg-type]
        return Aim(
            context, target, Elsewhere(await target.world()), ("credentials go out unencrypted (http://)",)
        )

    monkeypatch.setattr(lab_aiming, "take_aim", aim)


async def aim_at_kind(pilot: Any) -> LabScreen:
    screen = await open_lab(pilot)
    await pilot.press("t")
    await until_shown(pilot, "ktui's own server", "prod", "kind  (current context)")
    await pilot.press("down", "down", "enter")
    await until(pilot, lambda: screen.aiming.aim is not None)
    return screen
