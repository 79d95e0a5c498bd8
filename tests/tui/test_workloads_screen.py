"""The Workloads screen: knobs, fixes, and the charts of what a run says."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.client.connection import ServerConnection
from ktui.contract.faults import KINDS, Fault
from ktui.tui.charts.plot import marks, named
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.looks.symbols import Symbols
from ktui.tui.workloads.panels import CHARTS, LETTERS, _table, chart_content
from ktui.tui.workloads.screen import WorkloadsScreen
from ktui.tui.workloads.session import Session
from ktui.workloads.registry import WORKLOADS
from ktui.workloads.running.summary import COMPARED, LiveSecond

from .asking import Snap, sizes
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("workloads")]


def seconds(count: int) -> list[LiveSecond]:
    """A run that reads from etcd, then from the cache once a knob has been changed."""
    return [
        LiveSecond(
            at=1_000.0 + at,
            phase="boot" if at < 20 else "rv=0",
            now="42 of 50 agents run",
            routes={"E": 40 + at % 7} if at < 20 else {"C": 60 + at % 5, "!": at % 2},
            etcd_rpcs=40 if at < 20 else 0,
            etcd_bytes=2_000_000 + at * 10_000 if at < 20 else 0,
            p50=40.0 if at < 20 else 0.7,
            p95=900.0 if at < 20 else 4.0,
            wait_ms=float(at % 9),
            marker="rv=0" if at == 20 else "",
        )
        for at in range(count)
    ]


class SessionOf(Session):
    """A session that has heard these lines, and writes down its commands."""

    def __init__(self, heard: list[LiveSecond]) -> None:
        super().__init__("agent-boot", lambda: None)
        self.running = True
        self.seconds.extend(heard)
        self.sent: list[str] = []

    def send(self, command: str) -> None:
        self.sent.append(command)


def notices(app: Any) -> str:
    return "\n".join(note.message for note in app._notifications)


async def opened(pilot: Any, session: Session | None = None) -> WorkloadsScreen:
    await pilot.press("7")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, WorkloadsScreen)
    if session is not None:
        screen._sessions["agent-boot"] = session
        screen.paint()
        await pilot.pause()
    return screen


@sizes(SMALL, NORMAL, WIDE)
def test_a_run(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def run(pilot: Any) -> None:
        await opened(pilot, SessionOf(seconds(45)))

    says = ("agent-boot", "00:45 · rv=0", "f faults", "▼rv=0")
    assert snap_compare(still_app(demo_events()), says=says, run_before=run, terminal_size=size)


async def test_a_knob_turns_and_the_run_is_notified() -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        await pilot.press("right")
        assert session.sent == ["set agents 60"]
        await pilot.press("tab", "down", "down", "right", "left", "left")
        assert session.sent[1:] == ["set rv unset", "set rv plan", "set rv 0"]
        await pilot.press("f8")
        assert session.sent[-1] == "set version 1.24"
        await pilot.pause()
        assert "1.24" in shown(app)


async def test_a_value_is_typed_and_checked() -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        await pilot.press("i", *["backspace"] * 3, *"9000", "enter")
        await pilot.pause()
        assert "from 1 to 5000" in shown(app) and session.sent == []
        await pilot.press("backspace", "enter")
        await pilot.pause()
        assert session.sent == ["set agents 900"]


@sizes(SMALL, NORMAL)
def test_the_menu_of_faults(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def run(pilot: Any) -> None:
        await opened(pilot)
        await pilot.press("f")
        await pilot.pause()

    says = ("pause", "5 s", "the server is killed", "! asks first")
    assert snap_compare(still_app(demo_events()), says=says, run_before=run, terminal_size=size)


@pytest.mark.parametrize(("key", "kind"), LETTERS.items())
async def test_a_fault_is_asked_of_the_run_once_it_is_confirmed(key: str, kind: str) -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        await pilot.press("f", key)
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen) == KINDS[kind].breaks
        if KINDS[kind].breaks:
            assert session.sent == [] and KINDS[kind].about in shown(app)
            await pilot.press("n")
            assert session.sent == [], "declined"
            await pilot.press("f", key, "y")
            await pilot.pause()
        # The server's end is the dashboard's own: no run could start it again.
        assert session.sent == ([] if kind == "kill" else [f"fault {kind}"])
        assert ("no server" in notices(app)) == (kind == "kill")


def test_the_menu_has_every_fault() -> None:
    assert sorted(LETTERS.values()) == sorted(KINDS)


async def test_the_death_of_the_server_is_marked_on_the_charts_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[str] = []

    class Server:
        def __init__(self, _: object) -> None: ...

        async def inject(self, fault: Fault) -> None:
            killed.append(fault.kind)

    monkeypatch.setattr("ktui.tui.workloads.screen.KtuiApi", Server)
    monkeypatch.setattr(WorkloadsScreen, "client", None)
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        await pilot.press("f", "x")
        await pilot.pause()
        assert killed == [] and not any(second.marker for second in session.seconds)
        await pilot.press("y")
        await app.workers.wait_for_complete()
        assert killed == ["kill"] and [second.marker for second in session.seconds] == ["", "", "kill"]


@pytest.mark.parametrize("size", [NORMAL, (80, 24)])
async def test_a_refused_command_hides_neither_the_workload_nor_how_its_run_stands(
    size: tuple[int, int],
) -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(45))
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, session)
        session.problem = (
            "the fault pause is refused: " + "a reason as long as two lines of a small panel " * 2
        )
        screen.paint()
        await pilot.pause()
        for text in ("A DaemonSet's agents", "the fault pause is refused", "two lines of a", "00:45 · rv=0"):
            assert text in shown(app)


def summary(agents: int, requests: int) -> dict[str, Any]:
    total = dict.fromkeys((name for name, _ in COMPARED), requests) | {
        "ms": {"p50": 1.0, "p95": float(requests)}
    }
    return {"variants": [{"knobs": {"agents": agents}, "total": total, "tables": []}]}


async def test_two_runs_are_shown_side_by_side() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        screen = await opened(pilot)
        await pilot.press("t")
        await pilot.pause()
        assert app.screen is screen, "there is nothing to show yet"
        screen._runs["agent-boot"] += [summary(50, 100), summary(60, 400)]
        await pilot.press("t")
        await pilot.pause()
        assert "agents 50 → 60" in shown(app) and "4.0×" in shown(app)


@pytest.mark.parametrize("size", [SMALL, NORMAL])
async def test_notes_of_the_results_are_whole(size: tuple[int, int]) -> None:
    app = still_app(demo_events())
    note = "copies " * 30 + "encodings"
    table = {"title": "copies", "rows": [{"version": "1.36"}], "notes": [note]}
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot)
        run = summary(50, 100)
        run["variants"][0]["tables"].append(table)
        screen._runs["agent-boot"].append(run)
        await pilot.press("t")
        await pilot.pause()
        assert "encodings" in shown(app)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], float, bool]]:
    """Settings, seconds and kind of the sessions that were started: each ends at once with a summary."""
    found: list[tuple[list[str], float, bool]] = []

    async def run(session: Session, _: ServerConnection, settings: list[str], seconds: float) -> None:
        found.append((settings, seconds, session.compares))
        sides = [summary(50, 100), summary(60, 400)][: 2 if session.compares else 1]
        variants = [side["variants"][0] | {"variant": name} for name, side in zip("AB", sides, strict=False)]
        session.summary = {"variants": variants, "seconds": seconds, "ended": "time"}

    monkeypatch.setattr(Session, "run", run)
    client = SimpleNamespace(connection=ServerConnection("http://127.0.0.1:9"))
    monkeypatch.setattr(WorkloadsScreen, "client", property(lambda _: client))
    monkeypatch.setattr(WorkloadsScreen, "_own_server", property(lambda _: True))
    return found


async def test_the_knobs_are_compared_with_the_defaults(started: list[tuple[list[str], float, bool]]) -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot)
        await pilot.press("a")
        await pilot.pause()
        assert started == [] and "no knob differs from its default" in notices(app)
        await pilot.press("right", "f4", "f8", "a")
        await pilot.pause()
        ((settings, seconds, compares),) = started
        assert compares and seconds == 80
        twice = [setting for setting in settings if setting.partition("=")[0] in ("agents", "rv", "version")]
        assert twice == ["agents=50", "agents=60", "rv=plan", "rv=0", "version=", "version=1.24"]
        assert len(settings) == len(WORKLOADS["agent-boot"].knobs) + 3
        text = shown(app)
        assert "A, B: agents 50 → 60" in text and re.search(r"bytes returned +100 B +400 B +4.0×", text)


async def test_the_knobs_are_compared_with_those_of_the_last_run(
    started: list[tuple[list[str], float, bool]],
) -> None:
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        last = screen._knobs["agent-boot"].values() | {"agents": 7}
        screen._runs["agent-boot"].append({"variants": [summary(7, 1)["variants"][0] | {"knobs": last}]})
        await pilot.press("a")
        await pilot.pause()
        assert started[0][0][:2] == ["agents=7", "agents=50"]


async def test_a_knob_is_not_changed_while_two_sides_are_compared() -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    session.compares = True
    session.seconds[-1].variant = "B"
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        assert "00:03 · B: boot" in shown(app)
        await pilot.press("right", "a")
        await pilot.pause()
        assert session.sent == []
        assert "the knob counts in the next run" in notices(app) and "stop this run first" in notices(app)


async def test_stopping_is_asked_of_the_run() -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        await pilot.press("x")
        assert session.sent == ["stop"]


async def test_without_a_server_nothing_starts() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await opened(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert screen.session is None


async def test_tables_of_a_run_are_shown_whole() -> None:
    app, session = still_app(demo_events()), SessionOf(seconds(3))
    async with app.run_test(size=NORMAL) as pilot:
        await opened(pilot, session)
        rows = [{"step": f"bind Pod {number}", "etcd": "PUT"} for number in range(30)]
        session.tables = [{"title": "a causal trace", "rows": rows, "notes": ["a note"]}]
        await pilot.press("t")
        await pilot.pause()
        assert "bind Pod 29" in shown(app) and "a note" in shown(app)


async def test_two_runs_are_compared() -> None:
    """The last run beside the one before it: the knobs that changed, and the factor of each figure."""
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        for rv, keys_read in (("unset", 1_000), ("0", 50)):
            total = {name: 0.0 for name, _ in COMPARED} | {"etcd_keys": keys_read, "ms": {"p50": 1.0}}
            variant = {"knobs": {"rv": rv, "agents": 50}, "total": total, "tables": []}
            screen._runs["agent-boot"].append({"variants": [variant]})
        screen.paint()
        await pilot.pause()
        text = shown(app)
        assert "rv unset → 0" in text
        assert re.search(r"keys read +1,000 +50 +0\.1×", text)


async def test_every_workload_has_its_knobs_and_fixes() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot)
        for workload in WORKLOADS.values():
            assert screen.workload is workload
            assert workload.knobs[0].name in shown(app)
            await pilot.press("down")
            await pilot.pause()


@pytest.mark.parametrize("symbols", Symbols)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.id)
def test_a_chart_fills_its_box_and_marks_the_knob(chart: Any, symbols: Symbols) -> None:
    heard = seconds(45)
    drawn = chart_content(chart, heard, symbols, 60, 5).plain.split("\n")
    assert len(drawn) == 5 and all(len(row) <= 60 for row in drawn)
    mark = "v" if symbols is Symbols.ASCII else "▼"
    assert f"{mark}rv=0 " in drawn[0] and drawn[0].count(f"{mark}rv") == 1
    assert marks([bool(second.marker) for second in heard], 54, symbols) == {drawn[0].index(mark) - 6}


def test_nothing_runs() -> None:
    assert chart_content(CHARTS[0], [], Symbols.BRAILLE, 60, 5).plain == "nothing runs"


def test_a_table_that_is_too_wide_cuts_names_and_keeps_figures() -> None:
    rows = [{"LIST": "ciliumclusterwidenetworkpolicies", "read": "3.6 kB", "read/returned": "0.6×"}]
    lines = [text.plain.rstrip() for text in _table({"title": "LISTs", "rows": rows}, 40)]
    assert lines == [
        "LISTs",
        "LIST                 read  read/returned",
        "ciliumclusterwid…  3.6 kB           0.6×",
    ]


def test_a_table_that_is_too_wide_is_not_widened_by_short_names() -> None:
    rows = [{"version": "1.36", "read": "3.6 kB", "read/returned": "0.6×"}]
    lines = [text.plain.rstrip() for text in _table({"title": "copies", "rows": rows}, 26)]
    assert lines == [
        "copies",
        "version    read  read/returned",
        "1.36     3.6 kB           0.6×",
    ]


@pytest.mark.parametrize(
    ("row", "names", "drawn"),
    [
        ("▼         ", {0: "pause 5s"}, "▼pause 5s "),
        ("▼         ", {0: "resourceVersion"}, "▼resource…"),
        ("▼   ▼     ", {0: "rv=0", 4: "slow"}, "▼   ▼slow "),  # no room, not even for a part
        ("▼      ▼  ", {0: "rv=0", 7: "x"}, "▼rv=0  ▼x "),
        ("▼ ###     ", {0: "pause"}, "▼ ###     "),  # what is drawn there counts more
        ("▼         ", {}, "▼         "),
    ],
)
def test_marks_have_their_names(row: str, names: dict[int, str], drawn: str) -> None:
    assert "".join(text for text, _ in named([(row, "")], names)) == drawn


async def test_caveats_of_a_run_are_shown() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        screen = await opened(pilot)
        screen._runs["agent-boot"].append(summary(50, 100) | {"caveats": ["the server is too slow"]})
        screen.paint()
        await pilot.pause()
        assert "! the server is too slow" in shown(app)
        await pilot.press("t")
        await pilot.pause()
        assert "the server is too slow" in shown(app)
