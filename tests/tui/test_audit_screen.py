"""The audit's screens: read, ranked, one group taken apart, all versions, what etcd found slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ktui.audit.formats.log_record import LoggedRequest
from ktui.core.table.export import csv_text
from ktui.kube.gates import NEWEST_MINOR
from ktui.tui.audit.app import AuditApp
from ktui.tui.audit.screen import AuditScreen
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.widgets.header import HeaderBar
from tests.unit.audit.logs import audit_event

from .asking import PICTURED, SIZES, Snap, asking_app, until, until_shown
from .auditing import AT, HeldReading, audit_app, read, reading_then, write_log
from .fake_server import FakeServer
from .still import NORMAL, SMALL, WIDE, shown

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("audit"))


@pytest.fixture
def app(log: Path, monkeypatch: pytest.MonkeyPatch) -> AuditApp:
    """Over a log that is named without its directory: pictures do not tell where it lies."""
    monkeypatch.chdir(log.parent)
    return audit_app(Path(log.name))


async def under(pilot: Any, version: str) -> None:
    await until(pilot, lambda: pilot.app.audit.report.kube_version == version)
    await pilot.pause()


# What it does.


async def test_the_sentence_comes_first_and_the_most_expensive_group_on_top(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        report = app.audit.report
        assert report is not None and report.move is not None
        assert report.summary.startswith("1.30 → 1.31 moves ")
        await until_shown(pilot, report.summary, "malformed, for example")
        rows = app.audit.groups.table.rows
        assert [row.group.rank for row in rows] == list(range(1, len(rows) + 1))
        assert rows[0].cost == max(row.cost for row in rows) > 0


async def test_without_sizes_groups_are_ranked_by_time(log: Path) -> None:
    app = audit_app(log, sizes={})
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await until_shown(pilot, "by count × latency")
        assert "~bytes" not in shown(app)


async def test_enter_takes_a_group_apart_and_escape_comes_back(app: AuditApp) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot)
        first = app.audit.groups.chosen
        await pilot.press("enter")
        assert first is not None
        await until_shown(
            pilot, f"group #{first.rank} of", first.example, "p95", "write instead", "store.List"
        )
        await pilot.press("down")
        second = app.audit.groups.chosen
        assert second is not None and second.rank == 2
        await until_shown(pilot, "group #2 of", second.example, "audit.log › #2 · rules")
        await pilot.click(HeaderBar, offset=(16, 0))
        assert app.audit.shown == "groups"
        await until_shown(pilot, "audit.log · rules")
        await pilot.press("enter", "escape")
        assert app.audit.shown == "groups"
        assert app.audit.groups.table.has_focus


async def test_a_filter_by_column_and_two_sort_keys(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("slash", *"route:E verb=list cost>1G", "enter")
        table = app.audit.groups.table
        assert table.rows and len(table.rows) < table.total
        assert all(row.group.route == "etcd" and row.cost > 1e9 for row in table.rows)
        table.sort("client")
        table.sort("count")
        assert table.sort_by == (("count", True), ("client", False))


async def test_another_version_ranks_again(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("greater_than_sign")
        await under(pilot, "1.31")
        assert app.audit.shown == "groups"
        assert all(
            row.group.route != "etcd" for row in app.audit.groups.table.rows if row.group.verb == "list"
        )
        await until_shown(pilot, "rules of 1.31")
        await pilot.press("colon", *"kube 1.24", "enter")
        await under(pilot, "1.24")


async def test_a_version_that_is_not_known_is_refused_in_place(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("colon", *"kube 9.9", "enter")
        await until_shown(pilot, "no version '9.9'")
        assert app.audit.query_one(Prompt).is_open


async def test_versions_tell_what_moves_and_why_and_enter_chooses(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("v")
        await until_shown(pilot, "what changes from 1.30 to 1.31", "because of ConsistentListFromCache")
        await until_shown(pilot, "E→C")
        lines = app.audit.versions.table.rows
        assert [line.version for line in lines] == [f"1.{minor}" for minor in range(19, NEWEST_MINOR + 1)]
        assert {line.requests for line in lines} == {lines[0].requests}
        await pilot.press("end", "enter")
        await under(pilot, f"1.{NEWEST_MINOR}")
        assert app.audit.shown == "versions"
        await until_shown(pilot, f"1.{NEWEST_MINOR} ◂")


async def test_rules_are_chosen_with_their_gates(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("V", "down")
        await until_shown(pilot, "kube 1.31", "0% of your LISTs from etcd")
        await pilot.press("right", "space")  # ConsistentListFromCache off
        await until_shown(pilot, "ConsistentListFromCache=false")
        await pilot.press("enter")
        await under(pilot, "1.31")
        assert app.audit.report is not None
        assert app.audit.report.feature_gates == {"ConsistentListFromCache": False}
        assert app.audit.report.versions[0].etcd > 0


async def test_a_slow_read_of_etcd_leads_to_its_cause_and_back(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("t")
        table = app.audit.slow.table
        place = next(index for index, row in enumerate(table.rows) if row.ranks)
        table.move_to(place)
        await until_shown(pilot, "pager/2.0 LIST /api/v1/pods?limit=500")
        await pilot.press("enter")
        chosen = app.audit.groups.chosen
        assert chosen is not None and chosen.client == "pager/2.0"
        assert app.audit.shown == "group"
        await until_shown(pilot, "pods, all, limit 500")


async def test_one_panel_at_a_time_in_a_small_terminal(app: AuditApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await reading_then("enter")(pilot)
        seen = []
        for _ in range(4):
            panels = app.audit.group.query("#detail Panel")
            seen += [panel.id for panel in panels if panel.region.area]
            await pilot.press("right")
            await pilot.pause()
        assert seen == ["route", "latency", "instead", "slow-reads"]


async def test_y_shows_the_group_and_i_what_was_read(app: AuditApp) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await pilot.press("y")
        await until_shown(pilot, "group #1", '"resource_version"')
        await pilot.press("escape", "i")
        await until_shown(pilot, "input", "audit.log: ", "not logged; assumed", "malformed lines")


async def test_the_table_is_exported_as_it_is_shown(app: AuditApp, tmp_path: Path) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        app.audit.groups.table.set_filter("client~evil")
        table = app.audit.groups.table
        text = csv_text(table.columns, table.rows)
    assert "evil␛[31m[red]⟨U+202E⟩agent/1.0" in text
    assert "\x1b" not in text


async def test_x_stops_reading_and_shows_what_was_read(log: Path) -> None:
    reading = HeldReading()
    app = audit_app(reading=reading)
    async with app.run_test(size=NORMAL) as pilot:
        await until_shown(pilot, "33%", "1,204,331", "x stops")
        reading.tally.open_file("audit.log")
        reading.tally.feed(log.read_bytes().splitlines()[:50])
        await pilot.press("x")
        await read(pilot)
        await until_shown(pilot, "reading was stopped")


async def test_leaving_stops_the_reading() -> None:
    reading = HeldReading()
    app = audit_app(reading=reading)
    async with app.run_test(size=NORMAL) as pilot:
        await until_shown(pilot, "q leaves")
        await pilot.press("q")
    assert reading.stopped


async def test_a_file_that_is_not_there_is_told() -> None:
    app = audit_app(Path("none.log"))
    async with app.run_test(size=WIDE) as pilot:
        await read(pilot)
        await until_shown(pilot, "this cannot be read", "none.log: No such file or directory")
        assert app.audit.shown == "failed"


async def test_a_log_without_reads_has_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "writes.log").write_bytes(
        audit_event(LoggedRequest("list", "/healthz", "probe", "", AT, 100, 200)) + b"\n"
    )
    app = audit_app(tmp_path / "writes.log")
    async with app.run_test(size=NORMAL) as pilot:
        await read(pilot)
        await until_shown(pilot, "these logs hold no LIST", "no GET, LIST or WATCH")
        await pilot.press("v")
        await until_shown(pilot, "no LIST of a stored resource")
        await pilot.press("enter", "t")
        await until_shown(pilot, "no slow requests in the etcd logs")


# Over the dashboard.


async def test_the_dashboard_opens_an_audit_by_its_servers_rules_and_sizes(log: Path) -> None:
    server = FakeServer()
    top = "/ktui/v1/etcd/prefixes"
    server.answers = {**server.answers, top: server.answers[f"{top}?prefix=/registry/"]}
    app = asking_app(server)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("colon", *f"audit {log}", "enter")
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and app.screen.shown == "groups")
        screen = app.screen
        assert isinstance(screen, AuditScreen) and screen.report is not None
        assert screen.report.kube_version == "1.36"
        assert screen.report.sizes_from == "this server's etcd"
        await pilot.press("v", "escape")
        assert screen.shown == "groups"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_the_dashboard_says_that_a_log_is_not_there() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"audit none.log", "enter")
        await until_shown(pilot, "there is no file none.log")


# What it looks like.

GROUPS = ("1.30 → 1.31 moves", "cilium-agent")
VERSIONS = "what changes from 1.30"


@PICTURED
def test_groups(snap_compare: Snap, app: AuditApp, size: tuple[int, int]) -> None:
    assert snap_compare(app, says=GROUPS, run_before=reading_then(), terminal_size=size)


def test_groups_wide(snap_compare: Snap, app: AuditApp) -> None:
    assert snap_compare(app, says=GROUPS, run_before=reading_then(), terminal_size=WIDE)


@SIZES
def test_group(snap_compare: Snap, app: AuditApp, size: tuple[int, int]) -> None:
    run = reading_then("down", "enter")
    assert snap_compare(app, says="group #2 of", run_before=run, terminal_size=size)


def test_group_wide(snap_compare: Snap, app: AuditApp) -> None:
    assert snap_compare(app, says="group #1 of", run_before=reading_then("enter"), terminal_size=WIDE)


def test_latency_small(snap_compare: Snap, app: AuditApp) -> None:
    run = reading_then("enter", "right")
    assert snap_compare(app, says=("group #1 of", "p95"), run_before=run, terminal_size=SMALL)


@SIZES
def test_versions(snap_compare: Snap, app: AuditApp, size: tuple[int, int]) -> None:
    assert snap_compare(app, says=VERSIONS, run_before=reading_then("v"), terminal_size=size)


def test_versions_wide(snap_compare: Snap, app: AuditApp) -> None:
    assert snap_compare(app, says=VERSIONS, run_before=reading_then("v"), terminal_size=WIDE)


@SIZES
def test_slow(snap_compare: Snap, app: AuditApp, size: tuple[int, int]) -> None:
    assert snap_compare(app, says="slow", run_before=reading_then("t"), terminal_size=size)


def test_hostile_text(snap_compare: Snap, app: AuditApp) -> None:
    async def find(pilot: Any) -> None:
        await read(pilot)
        await pilot.press("slash", *"client~evil", "enter", "enter")

    assert snap_compare(app, says="mallory", run_before=find, terminal_size=NORMAL)


@SIZES
def test_reading(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(audit_app(reading=HeldReading()), says="33%", terminal_size=size)


def test_nothing_recognised(snap_compare: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_bytes(b"Hello \x1b[31mreader,\nthis is no log.\n")
    letter = audit_app(Path("letter.txt"))
    says = ("letter.txt", "␛[31mreader")
    assert snap_compare(letter, says=says, run_before=reading_then(), terminal_size=SMALL)
