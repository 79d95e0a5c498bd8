"""`:` leads to screens, resources, keys, revisions and requests, and says what makes no sense."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ktui.client.running import state_home
from ktui.core.references import KeyRef, Object, Place
from ktui.tui.app import KtuiApp
from ktui.tui.commands.all_commands import _not_in_log
from ktui.tui.dialogs.jump import JumpScreen
from ktui.tui.etcd.screen import EtcdScreen
from ktui.tui.prompt.prompt import LineField, Prompt, Suggestions

from .asking import asking_app, until, until_shown
from .fake_server import FakeServer
from .still import NORMAL, shown

pytestmark = pytest.mark.anyio


async def type_command(pilot: Any, text: str) -> None:
    await pilot.press("colon")
    prompt = pilot.app.screen.query_one(Prompt)
    await pilot.press(*("space" if char == " " else char for char in text))
    await pilot.pause()
    assert prompt.is_open


def problem_of(app: KtuiApp) -> str:
    field = app.screen.query_one(LineField)
    return field.hint if field.is_problem else ""


def suggested(app: KtuiApp) -> list[str]:
    return [one.text for one in app.screen.query_one(Suggestions).shown]


async def test_a_resource_is_a_word_that_leads_into_its_cache() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "po")
        assert suggested(app)[0] == "pods"
        await pilot.press("tab", "enter")
        await until(pilot, lambda: app.current_mode == "cache")
        await until(pilot, lambda: app.screen.inside == "pods" and app.screen.view.objects.total == 3_000)
        assert "Cache › pods" in shown(app)


async def test_a_short_name_and_a_plural_without_group_will_do() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "cep")
        assert suggested(app) == ["ciliumendpoints.cilium.io"] or app.commands.find(app, "cep") is None
        found = app.commands.find(app, "ciliumendpoints")
        assert found is not None and found.word == "ciliumendpoints.cilium.io"


async def test_arguments_are_completed_from_what_is_known() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "etcd /registry/po")
        assert suggested(app) == ["etcd /registry/pods/"]
        await pilot.press("escape")
        await type_command(pilot, "request 1")
        assert "request 16" in suggested(app)
        await pilot.press("escape")
        await type_command(pilot, "kube 1.3")
        assert suggested(app)[:2] == ["kube 1.38", "kube 1.37"]


async def test_tab_and_arrows_choose_and_enter_takes_what_is_written() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "w")
        words = suggested(app)
        assert words[:2] == ["watches", "workloads"]
        field = app.screen.query_one("Prompt Input")
        await pilot.press("tab", "tab")
        assert field.value == "workloads" and suggested(app) == words, "the list stays to choose from"
        await pilot.press("up")
        assert field.value == "watches"
        await pilot.press("down", "down")
        assert field.value == words[2]
        await pilot.press("shift+tab", "shift+tab", "enter")
        await until(pilot, lambda: app.current_mode == "watches")


async def test_a_suggestion_is_clicked() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "wat")
        await pilot.click(Suggestions, offset=(3, 0))
        await until(pilot, lambda: app.current_mode == "watches")


async def test_what_was_typed_comes_back_in_another_run() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "requests")
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "requests")
    again = asking_app()
    async with again.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", "up")
        assert again.screen.query_one("Prompt Input").value == "requests"
        await pilot.press("down")
        assert again.screen.query_one("Prompt Input").value == ""


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("request 999999", "there is no request 999999 yet: the newest is "),
        ("request x", "'x' is not a request number"),
        ("watch 4711", "no WATCH 4711 is open"),
        ("cache teapots", "etcd holds no resource 'teapots'"),
        ("theme", "theme what? theme NAME"),
        ("theme pink", "no theme 'pink'"),
        ("rv soon", "'soon' is not a revision"),
        ("filter ms>>", "ms"),
        ("nowhere", "no screen 'nowhere'"),
    ],
)
async def test_a_line_that_makes_no_sense_says_why(line: str, problem: str) -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        await pilot.pause()
        assert problem in app.commands.run(app, line)


async def test_a_wrong_line_stays_to_be_mended() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, "request 4711")
        await pilot.press("enter")
        await pilot.pause()
        assert "no request 4711 yet" in problem_of(app)
        assert app.screen.query_one("Prompt Input").value == "request 4711"


async def test_a_namespace_filters_the_table() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        await type_command(pilot, "ns team-00")
        await pilot.press("enter")
        await pilot.pause()
        rows = app.screen.log_view.table.rows
        assert rows and {row.started.namespace for row in rows} == {"team-00"}


def app_with_key(key: str) -> KtuiApp:
    server = FakeServer()
    known = server.answers["/ktui/v1/etcd/key?key=/registry/pods/team-00/web-0000"]
    server.answers[f"/ktui/v1/etcd/key?key={key}"] = {**known, "key": key}
    return asking_app(server)


async def test_a_key_of_etcd_is_shown_wherever_its_prefix_is() -> None:
    key = "/registry/pods/team-00/web-0003"
    app = app_with_key(key)
    async with app.run_test(size=NORMAL) as pilot:
        await type_command(pilot, f"etcd {key}")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EtcdScreen))
        screen = app.screen
        await until(pilot, lambda: screen.value.detail is not None and screen.value.detail.key == key)
        await until(pilot, lambda: screen.keys.table.row is not None and screen.keys.table.row.key == key)
        assert screen.place == Place("etcd", KeyRef(key))
        await until_shown(pilot, "etcd › pods/team-00 › web-0003")


async def test_the_cursor_goes_to_a_key_of_a_prefix_that_is_read_already() -> None:
    first, second = ("/registry/pods/team-00/web-0003", "/registry/pods/team-00/web-0007")
    app = app_with_key(second)
    async with app.run_test(size=NORMAL) as pilot:
        app.go_to(Place("etcd", KeyRef(first)))
        await until(pilot, lambda: isinstance(app.screen, EtcdScreen))
        screen = app.screen
        await until(pilot, lambda: screen.keys.table.row is not None and screen.keys.table.row.key == first)
        app.go_to(Place("etcd", KeyRef(second)))
        await until(pilot, lambda: screen.keys.table.row.key == second)


async def test_a_key_is_shown_at_the_revision_that_is_meant() -> None:
    key = "/registry/pods/team-00/web-0003"
    app = app_with_key(key)
    async with app.run_test(size=NORMAL) as pilot:
        app.go_to(Place("etcd", KeyRef(key, revision=38_412)))
        await until(pilot, lambda: isinstance(app.screen, EtcdScreen) and app.screen.past.past is not None)
        revisions = app.screen.past.table
        await until(pilot, lambda: revisions.row is not None and revisions.row.mod_revision == 38_412)
        await pilot.pause()
        assert [crumb.text for crumb in app.screen.crumbs()] == ["pods/team-00", "web-0003", "revisions"]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.past.past is None)


async def test_a_revision_leads_to_what_changed_at_it() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        assert app.client is not None
        ring = await app.client.get_json("/ktui/v1/caches/pods/events?limit=200")
        event = ring["events"][100]
        await type_command(pilot, f"rv {event['rv']}")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.pause()
        assert f"pods {event['namespace']}/{event['name']} changed" in shown(app)
        changed = Object("pods", event["namespace"], event["name"], int(event["rv"]))
        assert Place("cache", changed) in [place for _, _, place in app.screen.entries]


async def test_a_revision_not_reached_is_said() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await type_command(pilot, "rv 99999999")
        await pilot.press("enter")
        await until(pilot, lambda: any("not reached yet" in note.message for note in app._notifications))


async def test_letters_typed_at_once_go_into_the_line_and_do_not_act_as_keys() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        for key in ("colon", "p", "o"):  # all in the queue before the first one is handled
            app.simulate_key(key)
        await until(pilot, lambda: app.screen.query_one("Prompt Input").value == "po")
        await pilot.press("colon", "slash")
        assert app.screen.query_one("Prompt Input").value == "po:/"


async def test_a_client_is_pointed_at_this_server() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        assert "not on this machine" in app.commands.run(app, "kubeconfig")
        assert app.state.server is not None
        path = state_home() / "servers" / str(app.state.server.pid) / "kubeconfig"
        path.parent.mkdir(parents=True)
        path.write_text("")
        assert app.commands.run(app, "kubeconfig") == ""
        await until(pilot, lambda: f"export KUBECONFIG={path}" in getattr(app.screen, "text", ""))
        assert app.clipboard == f"export KUBECONFIG={path}"


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ([], "there is no request 7: the log is empty"),
        ([3, 5], "there is no request 7 yet: the newest is 5"),
        ([8, 9], "request 7 is no longer in the log, which begins at 8"),
        ([5, 9], "request 7 is not in the log"),
    ],
)
def test_a_request_that_is_not_there_was_not_always_dropped(held: list[int], says: str) -> None:
    state: Any = SimpleNamespace(requests=dict.fromkeys(held))
    assert _not_in_log(7, state) == says
