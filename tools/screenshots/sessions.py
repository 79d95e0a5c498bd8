"""Run the program in each way that the gallery shows (live, replay, audit, …), and take the pictures."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.growing_logs import audit_activity
from ktui.audit.reading.files import open_logs
from ktui.audit.tally import Tally
from ktui.cli.child import AttachLauncher, ChildLauncher, ServerChild
from ktui.cli.main import dashboard_parser
from ktui.cli.targets import require_connection
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.client.kube_connection import KubeConnection
from ktui.client.kubeconfig_reader import read_kubeconfig
from ktui.core.prediction.sizes import ResourceSize
from ktui.live.scraper import Scraper
from ktui.tui.app import KtuiApp
from ktui.tui.audit.app import AuditApp
from ktui.tui.audit.log_reading import Reading, Wish
from ktui.tui.live.app import LiveApp
from ktui.tui.live.source import ClusterSource
from ktui.tui.looks.themes import DEFAULT
from ktui.tui.preferences import DEFAULTS, Preferences
from ktui.tui.replay.source import ReplaySource
from ktui.tui.source import Link, LiveSource, MergedSource, SideSource, Stage, TelemetrySource, feed_events
from tests.tui.test_traces import traces_app
from tests.unit.audit.logs import audit_event, copies, traffic
from tests.unit.live.folded import recorded_events
from tools.screenshots import journey, shots
from tools.screenshots.audit_trail import write_audit_log
from tools.screenshots.stage import NORMAL, Camera, Shot
from tools.screenshots.visitors import visit

LOADS = 600.0  # seconds until a recording or a log is read: the bound of a wait that never ends
MARKS = {0.2: "rollout of api begins", 0.55: "first alert", 0.8: "rolled back"}  # by part of the recording
AUDIT_SIZES = {
    "pods": ResourceSize(100_000, 1_400_000_000),
    "secrets": ResourceSize(3_000, 30_000_000),
    "nodes": ResourceSize(2_000, 9_000_000),
    "endpoints": ResourceSize(1_200, 4_000_000),
    "leases.coordination.k8s.io": ResourceSize(2_100, 900_000),
}
AUDIT_LINES = 20_000
# A client whose pages are slow in etcd's log.
PAGING = LoggedRequest(
    "list", "/api/v1/pods?limit=500", "inventory/2.0", "system:serviceaccount:ops:inventory",
    1_787_000_060_000_000, 240_000, 200,
)  # fmt: skip


@asynccontextmanager
async def demo(recording: Path) -> AsyncIterator[tuple[ServerChild, ServerConnection]]:
    """Yield a server over an embedded etcd with a complete demo cluster and clients; it records itself."""
    child = ServerChild(["--demo", f"--record={recording}"])
    connection = await child.start()
    try:
        await _seeded(connection)
        visitors = asyncio.create_task(visit(connection))
        yield child, connection
        visitors.cancel()
        with suppress(asyncio.CancelledError):
            await visitors
    finally:
        await child.stop()


async def _seeded(connection: ServerConnection) -> None:
    """Wait until the demo cluster is complete: its events are created last."""
    client = ApiClient(connection)
    async for piece in client.watch("/api/v1/events?watch=true"):
        if piece.strip():
            break
    await client.close()


async def photograph_live(
    connection: ServerConnection, child: ServerChild, directory: Path, only: str
) -> None:
    """Take all screens, what opens on them, and all themes; then stop the server for the last picture."""
    attach = dashboard_parser().parse_args(["--attach", connection.url])
    app = _app(LiveSource(AttachLauncher(connection, lambda: require_connection(attach))))
    async with app.run_test(size=NORMAL) as pilot:
        camera = Camera(pilot, directory)
        await camera.until(lambda: bool(app.state.requests) and shots.varied(app), 240)
        if journey.FILE.startswith(only):
            (directory / journey.FILE).write_text(await journey.film(camera), encoding="utf-8")
        await camera.take_all(shots.LIVE, only)
        app.theme = DEFAULT
        await child.stop()
        await camera.until(lambda: app.link.stage is Stage.STOPPED, 30)
        await camera.take_all([shots.DISCONNECTED], only)


async def photograph_stored(connection: ServerConnection, directory: Path, only: str) -> None:
    """Take the screens of a second server over the demo's etcd, which receives no requests."""
    client = ApiClient(connection)
    endpoints = (await KtuiApi(client).info()).endpoints
    await client.close()
    child = ServerChild(["--etcd", ",".join(endpoints)])
    try:
        source = LiveSource(ChildLauncher(child))
        async with _app(source).run_test(size=NORMAL) as pilot:
            camera = Camera(pilot, directory)
            await camera.until(lambda: bool(camera.app.state.prefixes), 60)
            await camera.take_all(shots.STORED, only)
    finally:
        await child.stop()


async def photograph_sources(connection: ServerConnection, log: Path, directory: Path, only: str) -> None:
    """Take a second server's screens over the demo's etcd, with the first one's metrics and audit log."""
    client = ApiClient(connection)
    endpoints = (await KtuiApi(client).info()).endpoints
    await client.close()
    await asyncio.to_thread(log.touch)
    writing = asyncio.create_task(write_audit_log(connection, log))
    child = ServerChild(["--etcd", ",".join(endpoints)])
    scraped = ClusterSource(lambda: Scraper(lambda: _kube(connection), 5.0), "the demo")
    sides = [
        SideSource("metrics", lambda: feed_events(scraped)),
        SideSource("audit log", lambda: audit_activity(str(log))),
    ]
    try:
        source = MergedSource(LiveSource(ChildLauncher(child)), sides)
        async with _app(source).run_test(size=NORMAL) as pilot:
            camera = Camera(pilot, directory)
            await camera.until(lambda: shots.rated(camera.app), 120)
            await asyncio.sleep(40)  # for a minute's rates
            await camera.take_all(shots.SOURCES, only)
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await child.stop()


def _kube(connection: ServerConnection) -> KubeConnection:
    """Return the connection to the demo's server from its kubeconfig."""
    kubeconfig = Path(os.environ["XDG_STATE_HOME"]).glob("ktui/servers/*/kubeconfig")
    return read_kubeconfig([next(file for file in kubeconfig if connection.url in file.read_text())])


async def photograph_replay(recording: Path, directory: Path, only: str) -> None:
    """Take the recording of the live session, paused in the middle; then again without Unicode."""
    await _replay(recording, directory, shots.REPLAY, Preferences(), only)
    await _replay(recording, directory, shots.ASCII, Preferences(symbols="ascii"), only)


async def _replay(recording: Path, directory: Path, shot: Shot, preferences: Preferences, only: str) -> None:
    source = ReplaySource(recording)
    app = _app(source, preferences)
    async with app.run_test(size=NORMAL) as pilot:
        camera = Camera(pilot, directory)
        await camera.until(lambda: source.playback is not None, LOADS)
        playback = source.playback
        assert playback is not None
        await camera.walk(("space",))
        began, lasts = playback.index.began, playback.index.ended - playback.index.began
        for part, text in MARKS.items():
            playback.mark(text, began + part * lasts)
        playback.seek(began + 0.6 * lasts)
        await camera.until(lambda: not playback.seeking, 30)
        await camera.take_all([shot], only)


async def photograph_audit(log: Path, directory: Path, only: str) -> None:
    """Take the screens of `ktui audit --screen` over a log with all formats."""
    lines = [*islice(traffic(1), AUDIT_LINES), *copies(audit_event(PAGING), 300)]
    await asyncio.to_thread(log.write_bytes, b"\n".join(lines) + b"\n")
    reading = Reading(lambda: open_logs([str(log)]), Tally(datetime(2026, 11, 1, tzinfo=UTC)))
    app = AuditApp(reading, Wish("1.30", {}, AUDIT_SIZES, "sizes.json"))
    async with app.run_test(size=NORMAL) as pilot:
        camera = Camera(pilot, directory)
        await camera.until(lambda: app.audit.shown != "reading", LOADS)
        await camera.take_all(shots.AUDIT, only)


def _app(source: TelemetrySource, preferences: Preferences = DEFAULTS) -> KtuiApp:
    app = KtuiApp(source, preferences=preferences)
    app.animation_level = "none"
    return app


async def photograph_metrics(directory: Path, only: str) -> None:
    """Take the dashboard over a live kube-apiserver, from recorded pages."""
    app = LiveApp(clock=lambda: 1_795_335_575.0)
    app.intake.link = Link(Stage.LIVE)
    app.feed(recorded_events())
    async with app.run_test(size=NORMAL) as pilot:
        await Camera(pilot, directory).take_all(shots.METRICS, only)


async def photograph_traces(directory: Path, only: str) -> None:
    """Take the dashboard over a kube-apiserver's traces, from a recording of a real one."""
    app = traces_app("1.33-no-consistent-list")
    async with app.run_test(size=NORMAL) as pilot:
        await Camera(pilot, directory).take_all(shots.TRACES, only)
