"""The charts of the traffic: from a history to cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from ktui.contract.events import (
    AnyEvent,
    EtcdProgress,
    Marker,
    RequestFinished,
    RequestRouted,
    RequestStarted,
)
from ktui.core.format import long_bytes
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.tui.charts.chart import BYTES, LATENCY, READS, Chart, ChartStrip
from ktui.tui.charts.plot import columns_in
from ktui.tui.looks import themes
from ktui.tui.looks.looks import Looks
from ktui.tui.looks.symbols import Symbols
from ktui.tui.preferences import Preferences

from .still import NORMAL, SMALL, WIDE, shown, still_app

pytestmark = pytest.mark.anyio

START = 1_790_000_000.0


def answer(number: int, at: float, route: str, ms: float, *, sent: int, read: int = 0) -> Iterator[AnyEvent]:
    yield RequestStarted(
        id=number, at=at, verb="LIST", path="/api/v1/pods", query="", resource="pods", namespace="",
        name="", client="kubectl", user_agent="kubectl/v1.36",
    )  # fmt: skip
    yield RequestRouted(id=number, at=at, route=route, reason_id="", reason="", steps=[])
    status = 500 if route == "none" else 200
    yield RequestFinished(
        id=number, at=at, status=status, route=route, ms=ms, sent_bytes=sent, etcd_bytes=read
    )


def minutes(seconds: int = 100) -> list[AnyEvent]:
    """Waves of cached reads, etcd now and then, a slow one, two errors."""
    events: list[AnyEvent] = []
    number = 0
    for second in range(seconds):
        at = START + second
        for _ in range(round(6 + 5 * math.sin(second / 6))):
            number += 1
            events += answer(number, at, "cache", 1.0 + second % 4, sent=40_000)
        if second % 9 == 0:
            number += 1
            events += answer(number, at, "etcd", 40.0, sent=90_000, read=600_000)
        if second % 7 == 3:
            number += 1
            events += answer(number, at, "cache_snapshot", 9.0, sent=200_000)
        if second in (60, 81):
            number += 1
            events += answer(number, at, "none", 0.3, sent=200)
        if second == 72:
            number += 1
            events += answer(number, at, "etcd", 2_400.0, sent=3_000_000, read=18_000_000)
    return [*events, EtcdProgress(at=START + seconds, head=1)]


class Alone(App[None]):
    """The strip and nothing else."""

    CSS = ".box { border: round $line; border-title-color: $ink-muted; padding: 0 1; }"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    looks: Looks

    def compose(self) -> ComposeResult:
        yield ChartStrip()

    @property
    def strip(self) -> ChartStrip:
        return self.query_one(ChartStrip)


def state_of(events: list[AnyEvent]) -> State:
    state = State()
    apply(state, events)
    return state


async def test_the_numbers_of_the_span_stand_in_the_frames() -> None:
    app = Alone()
    state = state_of(minutes())
    async with app.run_test(size=(120, 8)) as pilot:
        app.strip.show_state(state)
        await pilot.pause()
        said = {chart.figure: edges(chart) for chart in app.query(Chart)}
    # 30 cells beside the axis, two dots in each, a second a dot.
    kept = state.history.span(state.now, 60, 1).whole
    routes = kept.routes
    assert said[READS] == (
        "reads/s · 60 s", f"C{routes['C']} S{routes['S']} E{routes['E']} !2",
    )  # fmt: skip
    assert said[LATENCY] == ("latency ms · 60 s", "p50 3.0 max 2,400")
    assert said[BYTES] == (
        "bytes/s · 60 s", f"sent ↑{long_bytes(kept.sent_bytes)} etcd ↓{long_bytes(kept.etcd_bytes)}",
    )  # fmt: skip


@pytest.mark.parametrize("symbols", Symbols)
def test_a_fault_is_marked_where_it_began(symbols: Symbols) -> None:
    state = state_of([*minutes(), Marker(at=START + 70, text="fault: pause 5s")])
    per_cell = columns_in(1, symbols)
    span = state.history.span(START + 100, 30 * per_cell, 1)
    glyph = "v" if symbols is Symbols.ASCII else "▼"
    for chart in map(Chart, (READS, LATENCY, BYTES)):
        first = chart.content(span, 36, 4, symbols).plain.split("\n")[0]
        assert first.index(glyph) == 6 + (30 * per_cell - 30) // per_cell and first.count(glyph) == 1


def edges(chart: Chart) -> tuple[str, str]:
    """Title and subtitle of its frame."""
    title, subtitle = (
        Content.from_markup(text or "").plain for text in (chart.border_title, chart.border_subtitle)
    )
    return title, subtitle


async def test_nothing_moves_while_paused_nor_within_a_second() -> None:
    app = Alone()
    state = state_of(minutes())
    async with app.run_test(size=(120, 8)) as pilot:
        painted = []

        async def paint(*, paused: bool = False) -> list[str]:
            app.strip.show_state(state, paused=paused)
            await pilot.pause()
            painted.append(1)
            return [strip.text for strip in app.screen._compositor.render_strips()]

        before = await paint()
        apply(state, answer(9_000, START + 100.5, "etcd", 7.0, sent=1))
        assert await paint() == before  # that second is not over
        apply(state, [EtcdProgress(at=START + 104, head=2)])
        assert await paint(paused=True) == before
        assert await paint() != before


async def test_nothing_yet_and_nothing_lately_are_said() -> None:
    app = Alone()
    state = State()
    async with app.run_test(size=(120, 8)) as pilot:
        app.strip.show_state(state)
        await pilot.pause()
        assert "no reads answered yet" in text_of(app)
        apply(state, minutes(10))
        apply(state, [EtcdProgress(at=START + 500, head=1)])
        app.strip.show_state(state)
        await pilot.pause()
        assert "no read in 60 s" in text_of(app)


def text_of(app: App[None]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_the_charts_are_where_there_is_room() -> None:
    for size, there in ((SMALL, False), ((120, 30), False), (NORMAL, True), (WIDE, True)):
        app = still_app(minutes())
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            assert ("latency ms" in shown(app)) is there, size


async def test_another_width_is_another_span() -> None:
    app = Alone()
    async with app.run_test(size=(63, 8)) as pilot:
        app.strip.show_state(state_of(minutes()))
        await pilot.pause()
        assert edges(app.query(Chart).first())[0] == "reads/s · 66 s"  # three seconds a dot
        await pilot.resize_terminal(120, 8)
        await pilot.pause()
        assert "…" not in text_of(app)
        assert edges(app.query(Chart).first())[0] == "reads/s · 60 s"


@pytest.mark.parametrize(
    "symbols", [pytest.param(each, marks=[pytest.mark.picture] * (each == "braille")) for each in Symbols]
)
def test_the_traffic_drawn(snap_compare: Callable[..., bool], symbols: Symbols) -> None:
    app = Alone()
    app.looks = Looks(Preferences(symbols=symbols), {})

    async def paint(pilot: Pilot[None]) -> None:
        app.strip.show_state(state_of(minutes()))
        await pilot.pause()

    says = ("reads/s · 7", " S10 E")
    assert snap_compare(app, says=says, terminal_size=(140, 8), run_before=paint)
