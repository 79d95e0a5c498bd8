"""`ktui --kubeconfig FILE --context NAME`: the Lab fires there from the start."""

from typing import Any

import pytest

from ktui.client.connection import ClientError
from ktui.client.target import KubeTarget
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.kube.versions import behaviour_of
from ktui.tui.lab import screen as lab_screen
from ktui.tui.lab.context import KubeServer
from ktui.tui.preferences import Preferences

from .asking import until, until_shown
from .lab import lab_app, open_lab
from .lab_server import LabServer
from .still import NORMAL

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("lab")]


def preferring(monkeypatch: pytest.MonkeyPatch, context: str, connect: Any) -> Any:
    monkeypatch.setattr(lab_screen, "connect", connect)
    app = lab_app(LabServer())
    app.preferences = Preferences(kube_context=context)
    return app


async def test_the_lab_aims_at_the_preferred_context(monkeypatch: pytest.MonkeyPatch) -> None:
    server = LabServer()
    server.real = True

    async def take(context: str) -> KubeServer:
        target = KubeTarget(server)  # type: ignore[arg-type]
        return KubeServer(context, target, ServerAssumptions(behaviour_of("1.31"), True, {}))

    app = preferring(monkeypatch, "kind", take)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: screen.lab.kube is not None)
        await until_shown(pilot, "LIST at kind, kube-apiserver 1.31")


async def test_one_that_does_not_answer_is_said_and_ktuis_own_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(context: str) -> KubeServer:
        raise ClientError(f"{context} does not answer")

    app = preferring(monkeypatch, "kind", refuse)
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        screen = await open_lab(pilot)
        await until_shown(pilot, "kind does not answer")
        assert screen.lab.kube is None


async def test_without_a_preference_nothing_is_aimed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def take(context: str) -> KubeServer:
        asked.append(context)
        raise AssertionError

    app = preferring(monkeypatch, "", take)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.pause()
        assert (screen.lab.kube, asked) == (None, [])
