"""Flow control over ktui's own server: the telemetry of a storm in one level."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ktui.apiserver.chain import Ticket
from ktui.cacher.settings import Settings
from ktui.contract.events import AnyEvent
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.flowcontrol.level_events import FlowReporter
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import requester_of
from ktui.telemetry.bus import Bus

from .asking import Snap, sizes
from .still import NORMAL, SMALL, WIDE, still_app

pytestmark = pytest.mark.anyio

AT = 1_790_000_000.0
STORM = requester_of("system:serviceaccount:shop:storm")
SCHEDULER = requester_of("system:kube-scheduler")
LEASE = RequestAttributes("update", "coordination.k8s.io", "leases", namespace="kube-system")


def telemetry(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnyEvent]:
    """What the server's reporter says of thirty LISTs at once, and a scheduler that holds its seat."""
    monkeypatch.setattr("ktui.flowcontrol.level_events.time.time", lambda: AT)
    clock = iter(range(10**6)).__next__
    now = lambda: clock() / 1000.0  # noqa: E731
    controller = PriorityAndFairness(8, 4, now, lambda seconds, call: None)
    reporter = FlowReporter(Bus(lambda: AT), Settings(), controller, lambda: ([], []), lambda: 60.0)
    yield from reporter.describe()
    for who, asked, count in ((SCHEDULER, LEASE, 1), (STORM, RequestAttributes("list", "", "pods"), 30)):
        for _ in range(count):
            schema = controller.classify(who, asked, 36)
            request = Ticket(schema, who, asked, 1, path="/api/v1/pods")
            request.flow = who.user
            controller.levels.by_name[schema.level.name].queues.start(request)
    yield from reporter.describe()


@pytest.mark.parametrize(
    ("press", "says"),
    [
        ((), "waiting for seats: 28 requests in workload-low"),
        (("t",), "system:serviceaccount:shop:storm"),
        (("t", "t"), "system-nodes"),
        (("t", "t", "t"), "busy queues"),
    ],
    ids=["levels", "requests", "schemas", "queues"],
)
@sizes(SMALL, NORMAL, WIDE)
def test_a_storm(
    snap_compare: Snap,
    size: tuple[int, int],
    press: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = still_app()
    app.feed(list(telemetry(monkeypatch)))
    app.intake.fold()
    pressed = ("colon", *"flow", "enter", *press)
    assert snap_compare(app, says=says, press=pressed, terminal_size=size)
