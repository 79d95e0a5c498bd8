"""The screens over the metrics of a live kube-apiserver, from recorded pages of a real one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import Denied, ReplicaDown, ResourceScrape
from ktui.contract.recording import encode_lines
from ktui.live.scraper import Scraper
from ktui.tui.live.app import LiveApp
from ktui.tui.live.source import ClusterSource
from ktui.tui.navigation.modes import LIVE_MODES
from ktui.tui.replay.source import ReplaySource
from tests.unit.live.folded import BEGAN, dump, idle_events, recorded_events, scrape, server, status
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, serving

from .asking import Snap, sizes
from .every_key import press_every_key
from .still import LIVE, NORMAL, SMALL, WIDE, shown, until_said

pytestmark = pytest.mark.anyio


def live_app(events: Iterable[AnyEvent]) -> LiveApp:
    """As `still_app`, of the app over metrics."""
    app = LiveApp(start_timers=False, clock=lambda: 1_795_335_575.0)
    app.intake.link = LIVE
    app.feed(events)
    app.intake.fold()
    return app


VERDICT = "pods: all 182 LISTs in 1m03s from the watch cache; 2.2× more objects read than returned"


@sizes(SMALL, NORMAL, WIDE, pictured=[SMALL])
def test_overview(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(live_app(recorded_events()), says="pods: all 182 LISTs", terminal_size=size)


@sizes(SMALL, WIDE)
def test_routes(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("routes by resource", "144 answered by the cache")
    assert snap_compare(live_app(recorded_events()), says=says, press=("2",), terminal_size=size)


@pytest.mark.parametrize(
    ("press", "says"),
    [
        (("2", "t"), "system:serviceacco"),
        (("2", "t", "t"), "nightly-report"),
        (("3",), "watch caches by replica"),
        (("4",), "etcd as kube-apiserver sees it"),
        (("6",), "open WATCHes by resource"),
        (("7",), "priority levels"),
        (("7", "t", "t"), "system:nodes"),
        (("7", "t", "t", "t"), "busy queues"),
        (("7", "enter"), "level:"),
        (("8", "t"), "ConsistentListFromCache"),
        (("1", "t"), "listed 25/min and watched by no client"),
    ],
    ids=[
        "running",
        "users",
        "cache",
        "etcd",
        "watches",
        "flow",
        "schemas",
        "queues",
        "level",
        "gates",
        "findings",
    ],
)
def test_the_other_tables(snap_compare: Snap, press: tuple[str, ...], says: str) -> None:
    assert snap_compare(live_app(recorded_events()), says=says, press=press, terminal_size=NORMAL)


@sizes(SMALL, NORMAL)
def test_an_idle_cluster(snap_compare: Snap, size: tuple[int, int]) -> None:
    """Two replicas that only compare their caches with etcd: a row of its own, and nothing to change."""
    says = ("no LIST by clients in", "consistency checks", "nothing to change was found")
    assert snap_compare(live_app(idle_events()), says=says, terminal_size=size)


@pytest.mark.parametrize(
    ("press", "says"),
    [
        (("2", "t", "t", "t"), "GET/s"),
        (("2", "t", "t", "t", "t"), "MutatingAdmissionWebhook"),
        (("1", "t", "t"), "cores"),
    ],
    ids=["verbs", "admission", "replicas"],
)
def test_tables_of_an_idle_cluster(snap_compare: Snap, press: tuple[str, ...], says: str) -> None:
    assert snap_compare(live_app(idle_events()), says=says, press=press, terminal_size=SMALL)


def test_a_replica_that_is_down(snap_compare: Snap) -> None:
    down = ReplicaDown(at=BEGAN + 67.0, replica="2", reason="no answer within 3 s")
    says = ("○ down", "no answer within 3 s")
    assert snap_compare(
        live_app([*recorded_events(), down]), says=says, press=("1", "t", "t"), terminal_size=NORMAL
    )


def test_before_the_second_scrape(snap_compare: Snap) -> None:
    events = [*server(), *scrape(0, FIRST), status()]
    assert snap_compare(live_app(events), says="one scrape so far: rates need two", terminal_size=SMALL)


def test_what_is_denied_and_what_fails(snap_compare: Snap) -> None:
    refused = Denied("/metrics", 403, '403: User "jane" cannot get path "/metrics"', "get on /metrics")
    events = [*server(denied=[refused]), status("no server answers at https://10.0.0.1:6443")]
    assert snap_compare(live_app(events), says=("denied /metrics", "no new figures"), terminal_size=NORMAL)


def test_a_replica_that_was_never_reached(snap_compare: Snap) -> None:
    events = [*server(expected=3), *scrape(0, FIRST), *scrape(0, LAST), dump(0), status()]
    assert snap_compare(live_app(events), says="2 replicas of the Leases never reached", terminal_size=NORMAL)


def test_hostile_names(snap_compare: Snap) -> None:
    name = "x[red]y\x1b[31m\u202e"
    events = [event for event in recorded_events() if not isinstance(event, ResourceScrape)]
    for event in recorded_events():
        if isinstance(event, ResourceScrape) and event.resource == "pods":
            events.append(msgspec.structs.replace(event, resource=name))
    assert snap_compare(live_app(events), says="x[red]y␛[31m", press=("2",), terminal_size=NORMAL)


async def test_every_screen_and_key_sends_gets_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is pressed: no write, and nothing but the paths that docs/live.md names."""
    monkeypatch.chdir(tmp_path)  # where `e` and `R` write
    pressed: set[tuple[str, str]] = set()
    with serving(Recorded()) as recorded:
        source = ClusterSource(lambda: Scraper(lambda: recorded.connection()), "context recorded")
        app = LiveApp(source, start_timers=True)
        async with app.run_test(size=(100, 24)) as pilot:  # wide enough for the replicas, little to draw
            await until_said(pilot, "2/2 replicas")
            for mode in LIVE_MODES:
                if mode.name != "lab":  # it sends what the user tells it to
                    await press_every_key(pilot, mode, pressed)
    assert {"probe", "screen.export", "select", "turn_tab"} <= {action for _, action in pressed}
    assert {method for method, _ in recorded.requests} == {"GET"}
    assert {path.partition("?")[0].rpartition("/")[2] for _, path in recorded.requests} == {
        "version", "readyz", "leases", "metrics", "dump_requests", "dump_priority_levels", "dump_queues",
        "flowschemas", "prioritylevelconfigurations",
    }  # fmt: skip


async def test_a_server_that_is_gone_is_said_and_found_again() -> None:
    with serving(Recorded()) as recorded:
        broken = [True]

        def connect() -> Any:
            if broken[0]:
                raise ClientError("the kubeconfig names no server")
            return recorded.connection()

        app = LiveApp(ClusterSource(lambda: Scraper(connect), "context recorded"), start_timers=True)
        async with app.run_test(size=NORMAL) as pilot:
            await until_said(pilot, "the kubeconfig names no server")
            broken[0] = False
            await pilot.press("r")
            await until_said(pilot, "2/2 replicas")


async def test_a_recording_of_it_is_played_on_the_same_screens(tmp_path: Path) -> None:
    path = tmp_path / "live.ndjson"
    path.write_bytes(encode_lines(recorded_events()))
    app = LiveApp(ReplaySource(path, 1e9), start_timers=True)
    async with app.run_test(size=NORMAL) as pilot:
        await until_said(pilot, VERDICT)
        await pilot.press("7")
        await until_said(pilot, "global-default")
        assert "replay live.ndjson" in shown(app)


async def test_flow_control_is_7_and_a_command() -> None:
    app = live_app(recorded_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"flow", "enter")
        await until_said(pilot, "priority levels")
        await pilot.press("1", "7")
        await until_said(pilot, "configured")


async def test_a_probe_says_what_it_sends_and_is_sent_after_yes() -> None:
    def override(replica: int, path: str) -> Answer | None:
        revision = 100 if path.endswith("resourceVersion=0") else 107
        body = b'{"metadata":{"resourceVersion":"%d"}}' % revision
        return (200, "application/json", body) if "ktui-probe" in path else None

    with serving(Recorded(override=override)) as recorded:
        app = LiveApp(
            ClusterSource(lambda: Scraper(lambda: recorded.connection()), "context recorded"),
            start_timers=True,
        )
        async with app.run_test(size=NORMAL) as pilot:
            await until_said(pilot, "2/2 replicas")
            await pilot.press("3")
            await until_said(pilot, "asks how far it is behind etcd")  # of the row under the cursor
            await pilot.press("p")
            await until_said(pilot, "Sends two GETs to each of 2 replicas")
            assert not [path for _, path in recorded.requests if "ktui-probe" in path]
            await pilot.press("y")
            await until_said(pilot, "7 revisions behind etcd")
    assert len([path for _, path in recorded.requests if "ktui-probe" in path]) == 4
    assert {method for method, _ in recorded.requests} == {"GET"}


async def test_over_prometheus_the_load_is_on_prometheus() -> None:
    _, own = server()
    events = [msgspec.structs.replace(event, origin="prometheus") if event == own else event
              for event in recorded_events()]  # fmt: skip
    app = live_app(events)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "ktui's load on Prometheus 43 GETs" in shown(app)
        assert "load on the server" not in shown(app)
