"""Dumps of flow control and probes, over real HTTP with recorded replicas."""

from __future__ import annotations

import asyncio

import pytest

from ktui.client.connection import ClientError
from ktui.contract.events.live import ReplicaDown
from ktui.core.live.live_state import fold_all
from tests.unit.live.recorded import FIRST, Answer, Recorded, serving
from tests.unit.live.test_scraper import Observed, observed

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_running_requests_are_sampled_without_ktuis_own() -> None:
    with serving(Recorded()) as recorded:
        found = await observed(recorded, FIRST)
    users = {request.user for _, request in found.live.running()}
    assert {"alice", "nightly-report"} <= users
    assert all(not request.path.startswith("/debug") for _, request in found.live.running())


async def test_flow_control_is_read_as_it_is_configured() -> None:
    with serving(Recorded()) as recorded:
        found = await observed(recorded, FIRST)
    flow = found.live.flow
    assert flow is not None
    low = next(item for item in flow.levels if item.name == "workload-low")
    assert (low.type, low.shares, low.queues, low.hand_size, low.response) == (
        "Limited", 100, 128, 6, "Queue",
    )  # fmt: skip
    assert (flow.schemas[0].name, flow.schemas[0].level) == ("exempt", "exempt")
    assert "Group system:nodes" in next(item for item in flow.schemas if item.name == "system-nodes").subjects
    assert [item.precedence for item in flow.schemas] == sorted(item.precedence for item in flow.schemas)


async def test_levels_and_busy_queues_are_sampled() -> None:
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        fold_all(found.live, await found.scraper.dump_levels())
        await found.scraper.close()
    dumps = [row.levels_dump for row in found.live.present]
    assert all(dump is not None and len(dump.levels) == 8 for dump in dumps)
    queues = [queue for dump in dumps if dump is not None for queue in dump.queues]
    assert queues
    assert all(queue.pending or queue.executing or queue.seats for queue in queues)


async def test_a_sample_of_a_connection_that_ktui_closes_tells_nothing() -> None:
    """It is closed to connect with new credentials, which is no failure of the replica, and no bug."""
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        dumping = asyncio.ensure_future(found.scraper.dump())
        await asyncio.sleep(0)  # its samples have begun, and none is sent yet
        await found.scraper.close()
        assert not [event for event in await dumping if isinstance(event, ReplicaDown)]


async def test_a_probe_is_two_small_reads_of_each_replica() -> None:
    def override(replica: int, path: str) -> Answer | None:
        revision = 100 - replica if path.endswith("resourceVersion=0") else 103
        body = b'{"kind":"PodList","metadata":{"resourceVersion":"%d"},"items":[]}' % revision
        return (200, "application/json", body) if "ktui-probe" in path else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        before = len(recorded.requests)
        fold_all(found.live, await found.scraper.probe("/api/v1/namespaces/default/pods", "pods"))
        await found.scraper.close()
    assert sorted(row.probes["pods"].cache_rv for row in found.live.present) == [99, 100]
    assert {row.probes["pods"].newest_rv for row in found.live.present} == {103}
    name = "fieldSelector=metadata.name%3Dktui-probe"
    assert [path for _, path in recorded.requests[before:]] == 2 * [
        f"/api/v1/namespaces/default/pods?{name}&resourceVersion=0",
        f"/api/v1/namespaces/default/pods?{name}",
    ]


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"metadata":{"resourceVersion":"x"}}', b'{"metadata":{"resourceVersion":5}}']
)
async def test_a_probe_that_is_answered_with_something_else_is_an_error(body: bytes) -> None:
    def override(replica: int, path: str) -> Answer | None:
        return (200, "application/json", body) if "ktui-probe" in path else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        with pytest.raises(ClientError, match="ktui-probe"):
            await found.scraper.probe("/api/v1/nodes", "nodes")
        await found.scraper.close()
