"""Requests saved in the Lab: named, listed, sent, deleted; a file that others have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ktui.client.running import state_home
from ktui.core.lab.form import ListForm
from ktui.tui.lab.saved import LONGEST, MOST, SavedRequests, SavedScreen

from .asking import until, until_shown
from .lab import fill, lab_app, screen_of, settled
from .lab_server import LabServer
from .still import NORMAL

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("lab")]


async def open_saved(pilot: Any) -> SavedScreen:
    await pilot.press("l")
    await until(pilot, lambda: isinstance(pilot.app.screen, SavedScreen))
    screen = pilot.app.screen
    assert isinstance(screen, SavedScreen)
    return screen


async def test_a_request_is_saved_listed_sent_and_deleted() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await fill(pilot, resource="nodes", label_selector="app=web", continue_token="secret")
        await open_saved(pilot)
        await until_shown(pilot, "nothing is saved yet: s saves the request in the form")
        await pilot.press("s", "enter")
        await until_shown(pilot, "a saved request needs a name")
        await pilot.press(*"web nodes", "enter")
        await until_shown(pilot, "web nodes", "LIST /api/v1/nodes?labelSelector=app=web")
        await pilot.press("escape")
        await fill(pilot, resource="pods", label_selector="", continue_token="")
        await open_saved(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen_of(app), 1))
        assert server.fired == ["/api/v1/nodes?labelSelector=app=web"]
        assert screen_of(app).lab.form.resource == "nodes"
        await open_saved(pilot)
        await pilot.press("x")
        await until_shown(pilot, "Delete 'web nodes'?")
        await pilot.press("y")
        await until_shown(pilot, "nothing is saved yet")
        await pilot.press("escape")
        assert not SavedRequests().read()


async def test_a_saved_request_is_put_into_the_form() -> None:
    assert SavedRequests().save("old", ListForm("leases", limit="7")) == ""
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        await fill(pilot, resource="pods")
        await open_saved(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not None and not isinstance(app.screen, SavedScreen))
        form = screen_of(app).lab.form
        assert (form.resource, form.limit) == ("leases", "7") and not screen_of(app).lab.runner.results


def test_saving_replaces_the_same_name_and_leaves_the_token_out(tmp_path: Path) -> None:
    saved = SavedRequests(tmp_path / "deep" / "file")
    assert saved.save(" a ", ListForm(continue_token="x")) == "" == saved.save("a", ListForm("nodes"))
    assert [(each.name, each.form) for each in saved.read()] == [("a", ListForm("nodes"))]
    assert saved.path.stat().st_mode & 0o777 == 0o600
    assert "printable" in saved.save("\x1b[31m", ListForm()) and "needs a name" in saved.save(" ", ListForm())
    for number in range(MOST - 1):
        saved.save(f"n{number}", ListForm())
    assert saved.save("one more", ListForm()) == f"{MOST} requests are saved: delete one first"
    assert saved.save("a", ListForm("pods")) == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'[{"name": "a"}]',
        b'[{"name": "a", "form": {"resource": 7}}]',
        b'[{"name": "\\u001b[31m", "form": {}}]',
        b'[{"name": "a", "form": {"resource": "\\u0007"}}]',
        b'[{"name": "a", "form": {"limit": "%b"}}]' % (b"1" * 5_000),
        b'[{"name": "%b", "form": {}}]' % (b"a" * (LONGEST + 1)),
        b"[%b]" % b",".join([b'{"name": "a", "form": {}}'] * (MOST + 1)),
        b" " * (1 << 21),
        b"\xff",
    ],
)
def test_a_hostile_file_is_neither_used_nor_overwritten(tmp_path: Path, content: bytes) -> None:
    saved = SavedRequests(tmp_path / "file")
    saved.path.write_bytes(content)
    assert not saved.read() and str(saved.path) in saved.problem and saved.problem.isprintable()
    assert saved.save("mine", ListForm()) == saved.problem
    assert saved.path.read_bytes() == content


async def test_a_file_that_cannot_be_used_is_named() -> None:
    state_home().mkdir(parents=True, exist_ok=True)
    (state_home() / "lab-requests.json").write_bytes(b"{")
    app = lab_app()
    async with app.run_test(size=(300, 40)) as pilot:
        await fill(pilot, resource="pods")
        await open_saved(pilot)
        await until_shown(pilot, "lab-requests.json", "correct or remove it")
