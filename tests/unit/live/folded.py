"""Recorded pages as the events that a scraper makes of them, with times of their own."""

from __future__ import annotations

from functools import cache

import msgspec

from ktui.client.metrics_page import Exposition
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import Denied, LevelsDump, LiveServer, LiveStatus, ReplicaScrape, RequestsDump
from ktui.contract.flow_config import flow_config
from ktui.live.families import WANTED
from ktui.live.page_figures import page_of
from ktui.live.samples import levels_of, queues_of, requests_of
from ktui.live.server_details import page_events, server_info
from tests.unit.live.recorded import FIRST, IDLE, LAST, MIDDLE, answers, metrics

BEGAN = 1_795_335_507.0  # when the recording did
TIMES = {FIRST: 3.0, MIDDLE: 33.0, LAST: 66.0}
DUMP = "/debug/api_priority_and_fairness/dump_requests"


@cache
def scrape(replica: int, moment: int) -> tuple[AnyEvent, ...]:
    reader = Exposition(WANTED)
    reader.feed(metrics(replica, moment))
    reader.finish()
    page = page_of(reader.samples, reader.families, 36)
    row = ReplicaScrape(
        replica=str(replica + 1), version="1.36", started=page.process["started"], page_bytes=1_484_868,
        page_lines=12_190, ms=42.8, memory_bytes=int(page.process["memory_bytes"]),
        storage_bytes=int(page.process["storage_bytes"]), hidden_metrics=0, reading=1, writing=0,
    )  # fmt: skip
    at = BEGAN + TIMES[moment] + replica / 10
    return tuple(msgspec.structs.replace(event, at=at) for event in page.events(row))


@cache
def dump(replica: int) -> AnyEvent:
    """The fullest dump of a replica, as if of now: when it was taken is in its requests."""
    requests = requests_of(answers(replica, DUMP)[0][2].decode())
    newest = max((request.arrived for request in requests), default=0.0)
    moved = [
        msgspec.structs.replace(request, arrived=request.arrived - newest + BEGAN + TIMES[LAST])
        for request in requests
    ]
    return RequestsDump(at=BEGAN + TIMES[LAST] + 0.5, replica=str(replica + 1), requests=moved)


@cache
def levels(replica: int) -> AnyEvent:
    """The priority levels and busy queues of a replica when most was waiting."""
    pages = [answers(replica, f"/debug/api_priority_and_fairness/dump_{name}")[0][2].decode()
             for name in ("priority_levels", "queues")]  # fmt: skip
    at, found = BEGAN + TIMES[LAST] + 0.6, (levels_of(pages[0]), queues_of(pages[1]))
    return LevelsDump(at=at, replica=str(replica + 1), levels=found[0], queues=found[1])


@cache
def flow() -> AnyEvent:
    """How flow control is configured."""
    base = "/apis/flowcontrol.apiserver.k8s.io/v1"
    lists = [answers(0, f"{base}/{name}")[0][2] for name in ("flowschemas", "prioritylevelconfigurations")]
    return msgspec.structs.replace(flow_config(*lists), at=BEGAN)


def server(expected: int = 2, denied: list[Denied] | None = None) -> list[AnyEvent]:
    made = LiveServer(
        at=BEGAN, context="recorded", url="https://10.0.0.1:6443", origin="metrics", version="1.36",
        expected=expected, denied=denied or [], gates={"ConsistentListFromCache": True, "WatchList": True},
    )  # fmt: skip
    return [server_info(made, BEGAN, []), made]


def status(problem: str = "") -> AnyEvent:
    return LiveStatus(
        at=BEGAN + TIMES[LAST] + 1, interval=15.0, problem=problem, requests=43,
        received_bytes=2_100_000, busy_ms=950.0,
    )  # fmt: skip


def recorded_events() -> list[AnyEvent]:
    """Both replicas, scraped three times, with a dump each."""
    scrapes = [
        event for moment in (FIRST, MIDDLE, LAST) for replica in (0, 1) for event in scrape(replica, moment)
    ]
    return [*server(), flow(), *scrapes, dump(0), dump(1), levels(0), levels(1), status()]


def idle_events() -> list[AnyEvent]:
    """Two replicas without a request by a client, scraped five times."""
    found = [*server(), flow()]
    for moment in range(len(answers(0, "/metrics", "admin", IDLE))):
        for replica in (0, 1):
            reader = Exposition(WANTED)
            reader.feed(answers(replica, "/metrics", "admin", IDLE)[moment][2])
            page = page_of(reader.samples, reader.families, 36)
            at = BEGAN + 3 + 15 * moment + replica / 10
            row = ReplicaScrape(at=at, replica=str(replica + 1), version="1.36")
            started = msgspec.structs.replace(page, process={**page.process, "started": BEGAN - 3_600})
            found += page_events(started, row)
    return [*found, status()]
