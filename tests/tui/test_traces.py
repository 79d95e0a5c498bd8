"""The screens over an apiserver's traces, from recorded spans of a real one."""

from __future__ import annotations

import pytest

from ktui.contract.events import AnyEvent, ServerInfo
from ktui.traces.feed import traces_server
from ktui.traces.receiver import OtlpReceiver
from ktui.tui.live.app import TracesOnlyApp
from tests.unit.traces.test_events import BEHAVIOUR, events_of

from .asking import Snap, sizes, until_shown
from .still import LIVE, NORMAL, WIDE

pytestmark = pytest.mark.anyio


class _Ports:
    grpc_port, http_port = 4317, 4318


def server() -> ServerInfo:
    info = traces_server(_Ports(), BEHAVIOUR)  # type: ignore[arg-type]
    return ServerInfo(
        ktui_version="0", kube_version=info.kube_version, etcd_version="", etcd_kind=info.etcd_kind,
        endpoints=info.endpoints, writable=False, progress="assumed", name=info.name,
    )  # fmt: skip


def traces_app(recording: str) -> TracesOnlyApp:
    events: list[AnyEvent] = sorted(events_of(recording), key=lambda event: event.at)
    app = TracesOnlyApp(start_timers=False, clock=lambda: events[-1].at + 5)
    app.intake.link = LIVE
    app.feed([server(), *events])
    app.intake.fold()
    return app


@sizes(NORMAL, WIDE)
def test_requests(snap_compare: Snap, size: tuple[int, int]) -> None:
    app = traces_app("1.33-no-consistent-list")
    assert snap_compare(app, says=("observed", "the rules of 1.36"), terminal_size=size)


@sizes(WIDE)
def test_most_expensive(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("by time", "observed in traces")
    assert snap_compare(traces_app("1.33-no-consistent-list"), says=says, press=("t",), terminal_size=size)


@sizes(WIDE)
def test_watches(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(traces_app("1.36-default"), says="watches", press=("6",), terminal_size=size)


async def test_with_traces_alone_there_is_no_server_to_send_to() -> None:
    app = traces_app("1.33-no-consistent-list")
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pilot.press("a")
        await until_shown(pilot, "with --otlp alone there is no server to send to")


async def test_without_requests_it_says_what_is_needed() -> None:
    app = TracesOnlyApp(start_timers=False)
    app.receiver = OtlpReceiver("127.0.0.1", 0, 0)
    app.intake.link = LIVE
    app.feed([server()])
    app.intake.fold()
    async with app.run_test(size=WIDE) as pilot:
        await until_shown(pilot, "no trace arrived yet", "ktui tracing-config")
