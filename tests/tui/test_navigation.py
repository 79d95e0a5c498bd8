"""Ways through the dashboard: jumps, crumbs, the trail, the help, the mouse."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.core.references import Object, Place, PrefixRef, Read, ResourceRef
from ktui.tui.cache.screen import CacheScreen
from ktui.tui.dialogs.help import HelpScreen
from ktui.tui.dialogs.jump import JumpScreen
from ktui.tui.keys.keymap import check_keymap
from ktui.tui.preferences import Preferences
from ktui.tui.widgets.header import HeaderBar

from .asking import SIZES, Snap, asking_app, until, until_shown
from .fake_server import FakeServer
from .still import NORMAL, SMALL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio


# Jumps.


async def test_o_offers_the_ways_on_and_a_letter_takes_one() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        app.screen.log_view.table.move_to(2)
        wanted = app.screen.log_view.table.row.target
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.press("v")
        await until(pilot, lambda: app.current_mode == "versions")
        assert app.selection is not None and app.selection.target == wanted


async def test_escape_stays_and_enter_takes_the_first_way() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("3", "o")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CacheScreen))
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        (_, _, first), *_ = app.screen.entries
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == first.mode)


async def test_a_list_is_put_into_the_lab_as_it_was_asked() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        rows = app.screen.log_view.table.rows
        at = next(place for place, row in enumerate(rows) if row.started.query.startswith("labelSelector"))
        app.screen.log_view.table.move_to(at)
        target = rows[at].target
        await pilot.press("o", "l")
        await until(pilot, lambda: app.current_mode == "lab")
        await until(pilot, lambda: app.screen.lab.form.label_selector != "")
        app.screen.paint_panels(app.state)
        assert app.screen.prediction.path.split("?")[0] == target.split("?")[0]


async def test_where_nothing_leads_on_it_is_said() -> None:
    app = still_app()
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await pilot.press("2", "o")
        await until(
            pilot,
            lambda: any("this row has no related screen" in note.message for note in app._notifications),
        )


@SIZES
def test_suggestions(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = (":po", "3.0k objects, cache ready")
    assert snap_compare(still_app(demo_events()), says=says, press=("colon", "p", "o"), terminal_size=size)


# The trail and the crumbs.


async def look_into_pods(pilot: Any) -> None:
    pilot.app.go_to(Place("cache", ResourceRef("pods")))
    await until(pilot, lambda: pilot.app.current_mode == "cache" and pilot.app.screen.inside == "pods")


async def test_back_and_forward_walk_through_what_was_open_inside() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("3")
        await look_into_pods(pilot)
        await pilot.press("2")
        await until(pilot, lambda: app.current_mode == "requests")
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.current_mode == "cache" and app.screen.inside == "pods")
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.screen.inside == "")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.screen.inside == "pods")


async def test_going_in_by_enter_and_out_by_escape_is_on_the_trail() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: app.screen.table.total > 0)
        app.screen.table.move_to([row.resource for row in app.screen.table.rows].index("pods"))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.inside == "pods")
        await pilot.pause()
        assert app.here == Place("cache", ResourceRef("pods"))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.inside == "")
        await pilot.pause()
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.screen.inside == "pods")


async def test_the_number_of_the_screen_that_is_shown_leads_to_its_top() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        await pilot.press("3")
        await until(pilot, lambda: app.screen.inside == "")


async def test_a_crumb_is_clicked() -> None:
    app = asking_app()
    async with app.run_test(size=SMALL) as pilot:
        await look_into_pods(pilot)
        await until_shown(pilot, "Cache › pods")
        at = shown(app).splitlines()[0].index("Cache")
        await pilot.click(HeaderBar, offset=(at + 1, 0))
        await until(pilot, lambda: app.screen.inside == "")


async def test_the_version_in_the_header_is_clicked() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        at = shown(app).splitlines()[0].index("kube 1.")
        await pilot.click(HeaderBar, offset=(at + 1, 0))
        await until(pilot, lambda: type(app.screen).__name__ == "RulesScreen")


async def test_an_object_is_shown_alone_and_the_crumbs_lead_back_to_all() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        app.go_to(Place("cache", Object("pods", "team-00", "web-0000")))
        await until(pilot, lambda: app.current_mode == "cache" and app.screen.inside == "pods")
        await until_shown(pilot, "Cache › pods › team-00/web-0000")
        assert any(
            "filter=team-00/web-0000" in asked or "filter=team-00%2Fweb-0000" in asked
            for asked in server.asked
        )
        await pilot.press("escape")
        await until(pilot, lambda: "web-0000" not in shown(app).splitlines()[0])


# Back from a jump.


async def jump_to_etcd(pilot: Any) -> Any:
    """From the second prefix of the Overview; that row."""
    prefixes = pilot.app.screen.query_one("#prefixes")
    prefixes.focus()
    await until(pilot, lambda: prefixes.total > 1)
    prefixes.move_to(1)
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.current_mode == "etcd")
    await until(pilot, lambda: pilot.app.here == Place("etcd", PrefixRef(prefixes.rows[1].prefix)))
    return prefixes.row


async def test_escape_comes_back_from_a_jump_to_the_row_it_began_at() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        row = await jump_to_etcd(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "overview")
        assert app.screen.query_one("#prefixes").row == row
        await pilot.press("escape")  # only once
        await pilot.pause()
        assert app.current_mode == "overview"
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.current_mode == "etcd")


async def test_deeper_inside_escape_goes_up_first() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        app.go_to(Place("cache", ResourceRef("pods")))
        await until(pilot, lambda: app.current_mode == "cache" and app.screen.inside == "pods")
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "overview")
        app.go_to(Place("cache", ResourceRef("pods")))
        await until(pilot, lambda: app.current_mode == "cache" and app.screen.inside == "pods")
        await pilot.press("3")
        await until(pilot, lambda: app.screen.inside == "")
        await pilot.press("escape")  # the number has left the jump
        await pilot.pause()
        assert app.current_mode == "cache"


async def test_escape_clears_a_filter_before_it_comes_back() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await jump_to_etcd(pilot)
        keys = app.screen.keys.table
        keys.focus()
        await pilot.press("slash", *"web", "enter")
        await until(pilot, lambda: bool(keys.filter))
        await pilot.press("escape")
        await until(pilot, lambda: not keys.filter)
        assert app.current_mode == "etcd"
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "overview")


# The help.


async def test_the_help_is_of_the_screen_below_and_is_cut_down_by_typing() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("4", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        titles = [section.title for section in app.screen.sections]
        assert titles[:4] == ["this screen", "the table", "everywhere", "routes"]
        assert titles[-1].startswith("columns")
        await pilot.press("slash", *"theme")
        await until_shown(pilot, "next theme")
        assert "prefixes" not in shown(app).split("help")[1].split("esc closes")[0]
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen), "escape leaves the filter first"
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "etcd" and not isinstance(app.screen, HelpScreen))


async def test_a_rebound_key_works_and_is_shown() -> None:
    app = still_app(demo_events(), preferences=Preferences(keymap={"go.cache": "f3", "pause": "P"}))
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await pilot.press("3")
        assert app.current_mode == "overview"
        await pilot.press("f3")
        await until(pilot, lambda: app.current_mode == "cache")
        await pilot.pause()
        assert "F3 Cache" in shown(app)
        await pilot.press("P", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert app.paused
        told = {(line.name, line.about) for section in app.screen.sections for line in section.lines}
        assert ("P", "pause the tables") in told
        assert not app._notifications


async def test_a_keymap_with_mistakes_is_told_at_the_start_and_works_nevertheless() -> None:
    keymap = {"go.cash": "f3", "help": "blub", "sort": "f2", "filter": "f2", "quti": "Q"}
    wrong = [problem.text for problem in check_keymap(keymap)]
    assert len(wrong) == 4
    app = still_app(demo_events(), preferences=Preferences(keymap=keymap, mistakes=lambda: wrong))
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await until(pilot, lambda: len(app._notifications) == 4)
        told = [toast.message for toast in app._notifications]
        assert told == [*wrong[:3], "1 more: `ktui info` lists all"]
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))


@SIZES
def test_help_of_etcd(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("› etcd", "open the prefix")
    press = ("4", "question_mark")
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=size)


# The mouse.


async def test_footer_keys_and_titles_are_clicked() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        at = shown(app).splitlines()[-1].index("3 Cache")
        await pilot.click("KeyBar", offset=(at, 0))
        await until(pilot, lambda: app.current_mode == "cache")
        await pilot.press("1")
        await until(pilot, lambda: app.current_mode == "overview")
        await pilot.click("#prefixes", offset=(4, 0))
        await until(pilot, lambda: app.current_mode == "etcd")
        await pilot.press("1")
        await pilot.click("#race", offset=(4, 1))
        await until(pilot, lambda: app.current_mode == "cache")


async def test_a_cache_of_the_overview_leads_into_it() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        caches = app.screen.query_one("#caches")
        caches.focus()
        await until(pilot, lambda: caches.row is not None)
        resource = caches.row.row.resource
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "cache" and app.screen.inside == resource)


# The palette.


async def test_the_palette_knows_screens_themes_versions_resources_and_ways_on() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        await pilot.pause()
        from ktui.tui.commands.all_commands import KtuiCommands

        titles = [hit.display async for hit in KtuiCommands(app.screen).discover()]
        for wanted in ("Go to Cache", "Theme: ktui-dark", "Kubernetes 1.30", "Cache: pods", "Quit"):
            assert wanted in titles, wanted
        assert titles[0].startswith("Open ")
        assert not any(title.startswith("Open its request") for title in titles), "one is there already"


async def test_what_is_typed_may_be_a_path() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        assert app.commands.run(app, "/api/v1/nodes?limit=3") == ""
        await until(pilot, lambda: app.current_mode == "versions")
        assert app.selection is not None and app.selection.target == "/api/v1/nodes?limit=3"
        assert isinstance(app.screen.references()[0], Read)
