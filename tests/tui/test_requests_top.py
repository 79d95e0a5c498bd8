"""The most expensive kinds of requests: what the view does, then its pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from ktui.contract.events import ServerInfo
from ktui.core.lab.result import LabResult
from ktui.core.references import Part, Place
from ktui.tui.app import KtuiApp
from ktui.tui.lab.screen import LabScreen
from ktui.tui.requests.log import EMPTY_GROUP
from ktui.tui.requests.screen import RequestsScreen

from .asking import sizes, until, until_shown
from .lab import screen_of as lab_of
from .lab import settled
from .lab_server import LabServer
from .reads import AT, asked
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("requests")]

Snap = Callable[..., bool]


def screen_of(app: KtuiApp) -> RequestsScreen:
    assert isinstance(app.screen, RequestsScreen)
    return app.screen


async def open_top(pilot: Any) -> RequestsScreen:
    await pilot.press("2", "t")
    screen = screen_of(pilot.app)
    await until(pilot, lambda: screen.top.table.total > 0)
    return screen


async def put_cursor(pilot: Any, client: str) -> RequestsScreen:
    screen = await open_top(pilot)
    screen.top.table.move_to([row.client for row in screen.top.table.rows].index(client))
    await pilot.pause()
    return screen


# What it does.


async def test_the_most_expensive_is_on_top_with_its_remedy() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_top(pilot)
        assert [row.client for row in screen.top.table.rows][:2] == ["cilium-agent", "cilium-operator"]
        text = shown(app)
    assert "55%" in text and "17.9 MB" in text and "12×" in text
    assert "3,000 objects scanned, 250 returned" in text


async def test_the_logs_own_filter_is_understood_there() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_top(pilot)
        table = screen.top.table
        await pilot.press("slash", *"route:E ms>10", "enter")
        await pilot.pause()
        assert not table.filter.idle and 0 < len(table.rows) < table.total
        assert all(row.group.milliseconds(1.0) > 10 and row.group.routes["E"] for row in table.rows)


@pytest.mark.starts_on("overview")
async def test_one_key_on_the_first_screen_leads_to_all_of_them() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert "cilium-agent LIST pods ?app=…" in shown(app)
        await pilot.press("t")
        await until(pilot, lambda: app.current_mode == "requests")
        assert screen_of(app).top_shown


async def test_enter_narrows_the_log_to_one_kind_and_esc_comes_back() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "kubelet")
        await pilot.press("enter")
        await until(pilot, lambda: not screen.top_shown)
        await pilot.pause()
        assert [row.id for row in screen.log_view.table.rows] == [3, 10]
        assert "kubelet LIST pods ?nodeName=… rv=0" in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: screen.top_shown)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.top_shown and len(screen.log_view.table.rows) == 16)


def app_with(events: list[Any]) -> KtuiApp:
    app = still_app(events)
    app.intake.client = LabServer()  # type: ignore[assignment]
    return app


async def compared(pilot: Any) -> list[LabResult]:
    """What the Lab has sent: the original and its variant."""
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    await until(pilot, lambda: settled(lab_of(pilot.app), 2))
    return lab_of(pilot.app).lab.runner.results


async def test_a_sends_the_original_and_its_cheaper_variant() -> None:
    app = app_with(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "argocd")
        assert screen.top.remedies[0].id == "a.not_older_than"
        await pilot.press("a")
        original, variant = await compared(pilot)
        assert (original.label, original.form.resource) == ("original", "secrets")
        assert (original.form.match, variant.form.match) == ("Exact", "NotOlderThan")
        assert variant.trial is not None and variant.baseline == original.number


POLLED = [event for n in range(6) for event in asked(500 + n, client="poller", at=AT + 5 * n)]


async def test_a_poll_is_compared_with_the_watch_that_would_replace_it() -> None:
    app = app_with([*demo_events(), *POLLED])
    async with app.run_test(size=WIDE) as pilot:
        screen = await put_cursor(pilot, "poller")
        watch = next(each for each in screen.top.remedies if each.target)
        assert (watch.id, watch.verb) == ("a.watch", "WATCH")
        await pilot.press("a")
        original, variant = await compared(pilot)
        assert (original.form.stream, variant.form.stream) == (False, True)
        assert variant.trial is not None and variant.trial.polling is not None
        assert variant.trial.polling.per_minute == 12.0
        await until_shown(pilot, "12 LISTs/min = ", "against one WATCH = 17.9 MB once")


async def test_why_a_watch_cannot_be_compared_is_said() -> None:
    """Before WatchList a WATCH does not say where its initial events end."""
    (server,) = (event for event in demo_events() if isinstance(event, ServerInfo))
    old = replace(server, kube_version="1.24")
    cached = [event for n in range(6) for event in asked(500 + n, query="resourceVersion=0", at=AT + 5 * n)]
    app = app_with([*demo_events(), old, *cached])
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await put_cursor(pilot, "agent")
        assert [each.id for each in screen.top.remedies] == ["a.watch"]
        await pilot.press("a")
        _, variant = await compared(pilot)
        assert variant.label == "metadata only"
        await pilot.press("home", "a")
        await until(pilot, lambda: settled(lab_of(app), 3))
        await pilot.press("home", "a")
        await until_shown(pilot, "no untried cheaper variant of", "that WATCH does")


async def test_the_request_of_the_log_under_the_cursor_is_compared() -> None:
    app = app_with([*demo_events(), *asked(500, query="limit=500")])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2", "end", "a")
        original, variant = await compared(pilot)
        assert original.path.endswith("?limit=500")
        assert variant.trial is not None


@pytest.mark.parametrize("keys", [("1", "a", "2"), ("1", "a", "down", "enter")], ids=["digit", "enter"])
async def test_a_on_the_overview_offers_the_most_expensive_reads(keys: tuple[str, ...]) -> None:
    app = app_with(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*keys)
        original, _ = await compared(pilot)
        second = [g for g in app.state.ranking.ranked() if g.key.shape.verb == "list"][1]
        assert original.form.resource == second.key.shape.resource


async def test_a_on_the_cache_screen_offers_the_reads_of_that_resource() -> None:
    app = app_with(demo_events())
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await pilot.press("3")
        resource = app.screen.table.row.resource  # type: ignore[attr-defined]
        await pilot.press("a", "1")
        original, _ = await compared(pilot)
        assert original.form.resource == resource


async def test_requests_that_the_log_has_forgotten_are_said_to_be() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_top(pilot)
        app.state.requests.clear()
        await pilot.press("enter")
        await until(pilot, lambda: not screen.top_shown)
        await pilot.pause()
        assert EMPTY_GROUP[:40] in shown(app)


async def test_it_is_a_place_to_go_to_and_come_back_from() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        app.go_to(Place("requests", Part("most expensive")))
        await until(pilot, lambda: app.current_mode == "requests" and screen_of(app).top_shown)
        await pilot.press("enter")
        await until(pilot, lambda: screen_of(app).log_view.only is not None)
        assert [crumb.text for crumb in screen_of(app).crumbs()][-2:] == [
            "most expensive",
            "cilium-agent LIST pods ?app=…",
        ]


async def test_the_order_holds_while_nothing_more_is_answered_and_follows_when_it_is() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_top(pilot)
        before = screen.top.table.rows[0]
        app.tick()
        assert screen.top.table.rows[0] is before
        app.feed(asked(99, client="crawler", at=AT + 20, etcd_bytes=90_000_000, route="etcd"))
        app.tick()
        await until(pilot, lambda: screen.top.table.rows[0].client == "crawler")


async def test_while_the_log_follows_its_cursor_moves_only_with_its_detail() -> None:
    app = still_app(demo_events()[:-40])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2")
        await pilot.pause()
        screen = screen_of(app)
        row = screen.log_view.table.row
        app.feed(demo_events()[-40:])
        app.intake.fold()
        screen.paint_tables(app.state)
        assert screen.log_view.table.row is row
        screen.paint_panels(app.state)
        assert screen.log_view.table.row is not row


async def test_b_rolls_up_by_client_resource_and_namespace() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_top(pilot)
        await pilot.press("b")
        await until_shown(pilot, "most expensive reads by client", "cilium-agent", "kinds of reads")
        await pilot.press("b")
        await until_shown(pilot, "most expensive reads by resource", "all reads of pods together")
        await pilot.press("enter")
        await until(pilot, lambda: screen.top.by == "" and 0 < len(screen.top.table.rows) < 13)
        assert {row.group.key.shape.resource for row in screen.top.table.rows} == {"pods"}
        await pilot.press("escape", "b", "b", "b")
        await until_shown(pilot, "most expensive reads by namespace", "(all namespaces)")


# Pictures.


@sizes(SMALL, NORMAL, WIDE)
def test_top(snap_compare: Snap, size: tuple[int, int]) -> None:
    keys = ("2", "t", "down", "down", "down")
    says = ("15 reads, 32.6 MB processed", "argocd  LIST secrets ?rv=N match=Exact")
    assert snap_compare(still_app(demo_events()), says=says, press=keys, terminal_size=size)
