"""The response body of a read that is sent again."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.core.references import Selection
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.dialogs.text import MOST_BYTES, STEP_BYTES, BodyScreen, sent_as
from ktui.tui.screen_bases.mode_screen import ModeScreen

from .asking import asking_app, until, until_shown
from .fake_server import HOSTILE, FakeServer
from .lab import fill, lab_app, settled
from .lab_server import LabServer
from .still import NORMAL

pytestmark = pytest.mark.anyio

PODS = "/api/v1/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def body(lines: int) -> bytes:
    """Lines of 64 bytes, number and all."""
    return b"".join(f'    "{at:07}": "{HOSTILE if at == 5 else "é"}'.encode().ljust(63, b"-") + b"\n"
                    for at in range(lines))  # fmt: skip


async def open_body(pilot: Any, target: str = PODS) -> Any:
    screen: Any = pilot.app.screen
    assert isinstance(screen, ModeScreen)
    screen.show_body(Selection("LIST", target, "a test"), pilot.app.client)
    await until(pilot, lambda: pilot.app.screen is not screen)
    return pilot.app.screen


@pytest.mark.parametrize(
    ("target", "accept", "form", "path", "header"),
    [
        (PODS, "", "JSON", f"{PODS}?pretty=true", "application/json"),
        (f"{PODS}?limit=5", "", "JSON", f"{PODS}?limit=5&pretty=true", "application/json"),
        (PODS, "application/vnd.kubernetes.protobuf", "YAML", PODS, "application/yaml"),
        (PODS, TABLE, "YAML", PODS, TABLE.replace("json", "yaml", 1)),
    ],
)
def test_what_is_sent(target: str, accept: str, form: str, path: str, header: str) -> None:
    assert sent_as(Selection("LIST", target, "", accept=accept), form) == (path, header)


async def test_the_first_64_kb_then_more_on_demand() -> None:
    server = FakeServer()
    server.bodies = {f"{PODS}?pretty=true": body(2_500)}
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_body(pilot)
        assert isinstance(screen, BodyScreen)
        await until_shown(pilot, "65.5 kB of JSON, more follows")
        assert len(screen.text.encode()) == STEP_BYTES and HOSTILE in screen.text
        assert "\x1b" not in screen.view.text and len(screen.view.lines) == 1_025
        await pilot.press("slash", *"0001500", "enter")
        await until_shown(pilot, "not found")
        await pilot.press("m")
        await until_shown(pilot, "131 kB of JSON, more follows", "found further on")
        await pilot.press("n")
        await until_shown(pilot, "line 1 of 1 that match")
        await pilot.press("m")
        await until_shown(pilot, "160 kB of JSON, complete")
        assert screen.text.encode() == body(2_500)
        await pilot.press("c", "m", "escape", "escape")
        assert app.clipboard == screen.text
        await until(pilot, lambda: app.screen is not screen)


async def test_no_more_than_a_megabyte_is_kept() -> None:
    server = FakeServer()
    server.bodies = {f"{PODS}?pretty=true": body(20_000)}
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_body(pilot)
        for shown in range(STEP_BYTES, MOST_BYTES, STEP_BYTES):
            await until(pilot, lambda shown=shown: len(screen.text.encode()) == shown)
            await pilot.press("m")
        await until_shown(pilot, "the rest is for curl")
        await pilot.press("m", "m")
        assert len(screen.text.encode()) == MOST_BYTES


async def test_as_yaml_it_is_sent_again_and_an_error_is_a_body_too() -> None:
    server = FakeServer()
    server.bodies = {PODS: b"kind: PodList\n"}
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await open_body(pilot)
        await until_shown(pilot, '"code": 404}', "HTTP 404")
        await pilot.press("v")
        await until_shown(pilot, "kind: PodList", "14 B of YAML, complete")
        assert server.asked[-2:] == [f"application/json {PODS}?pretty=true", f"application/yaml {PODS}"]


async def test_values_of_secrets_are_shown_after_a_question() -> None:
    server = FakeServer()
    server.bodies = {"/api/v1/secrets?pretty=true": b"{}"}
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        assert isinstance(await open_body(pilot, "/api/v1/secrets"), ConfirmScreen)
        await pilot.press("y")
        await until_shown(pilot, "2 B of JSON, complete")


async def test_the_lab_shows_the_body_of_its_result_and_requests_that_of_the_row() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, resource="nodes", accept="metadata")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("B")
        await until_shown(pilot, "body of GET /api/v1/nodes", "HTTP 404")
        assert "as=PartialObjectMetadataList" in server.asked[-1]
        await pilot.press("escape", "2", "up", "B")
        await until(pilot, lambda: isinstance(app.screen, BodyScreen))


async def test_a_replay_has_no_bodies() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        app.intake.client = None
        await pilot.press("2", "up", "B")
        await until_shown(pilot, "no server to send it to")
