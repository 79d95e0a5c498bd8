"""Flow control over a real server: stored configuration, queues, 429, and a storm beside leader election."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ktui.apiserver.chain import Ticket
from ktui.cacher.settings import Settings
from ktui.contract.events import FlowConfig, LevelScrape, RequestFinished, RequestsDump
from ktui.etcd.client import EtcdClient
from ktui.flowcontrol.fair_queues import FairQueues
from ktui.kube.flow_schemas import AUTO_UPDATE
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester, requester_of
from ktui.kube.versions import behaviour_of
from tests.etcd.apiserver.conftest import Api, running
from tests.etcd.apiserver.told import Told
from tests.etcd.serving import plain_client

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"
DUMPS = "/debug/api_priority_and_fairness"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
TOO_MANY = "Too many requests, please try again later.\n"
USERS: Mapping[str, Requester] = {
    "storm": requester_of("system:serviceaccount:shop:storm"),
    "jane": requester_of("jane"),
    "scheduler": requester_of("system:kube-scheduler"),
}


def bearer(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {user}"}


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    async with running(client, prefix, users=USERS, seats=12) as found:
        for name in ("a", "kube-system"):
            assert (await found.create("/api/v1/namespaces", {"metadata": {"name": name}})).status_code == 201
        yield found


async def until(api: Api, path: str, holds: Any) -> Any:
    """Each try is an answer of the server."""
    async with asyncio.timeout(60):
        while True:
            answer = (await api.get(path)).json()
            if holds(answer):
                return answer


def level(name: str, response: dict[str, Any], shares: int = 10) -> dict[str, Any]:
    limited = {"nominalConcurrencyShares": shares, "lendablePercent": 0, "borrowingLimitPercent": 0}
    spec = {"type": "Limited", "limited": {**limited, "limitResponse": response}}
    return {"metadata": {"name": name}, "spec": spec}


def schema(name: str, to: str, user: str, precedence: int = 50) -> dict[str, Any]:
    every = {
        "verbs": ["*"],
        "apiGroups": ["*"],
        "resources": ["*"],
        "namespaces": ["*"],
        "clusterScope": True,
    }
    rule = {"subjects": [{"kind": "User", "user": {"name": user}}], "resourceRules": [every]}
    spec = {"priorityLevelConfiguration": {"name": to}, "matchingPrecedence": precedence, "rules": [rule]}
    spec["distinguisherMethod"] = {"type": "ByUser"}
    return {"metadata": {"name": name}, "spec": spec}


async def configured(api: Api, *objects: tuple[str, dict[str, Any]]) -> None:
    """Create them; returns when the server follows that far: then the last one has its status."""
    for kind, obj in objects:
        answer = await api.create(f"{FLOW}/{kind}", obj)
        assert answer.status_code == 201, answer.text
    name = objects[-1][1]["metadata"]["name"]
    await until(api, f"{FLOW}/flowschemas/{name}", lambda found: condition(found) is not None)


def condition(stored: dict[str, Any]) -> dict[str, Any] | None:
    return next(iter(stored.get("status", {}).get("conditions", ())), None)


async def test_an_empty_server_has_upstreams_objects(api: Api) -> None:
    schemas = (await api.get(f"{FLOW}/flowschemas")).json()["items"]
    levels = (await api.get(f"{FLOW}/prioritylevelconfigurations")).json()["items"]
    assert (len(schemas), len(levels)) == (11, 8)
    assert {item["metadata"]["annotations"]["apf.kubernetes.io/autoupdate-spec"] for item in schemas} == {
        "true"
    }
    found = await until(
        api,
        f"{FLOW}/flowschemas/catch-all",
        lambda stored: (condition(stored) or {}).get("reason") == "Found",
    )
    dangling = condition(found)
    assert dangling is not None and dangling == {
        "type": "Dangling", "status": "False", "reason": "Found",
        "lastTransitionTime": dangling["lastTransitionTime"],
        "message": 'This FlowSchema references the PriorityLevelConfiguration object named "catch-all" '
                   "and it exists",
    }  # fmt: skip
    answer = await api.get("/api/v1/pods", **bearer("jane"))
    by_uid = {item["metadata"]["uid"]: item["metadata"]["name"] for item in (*schemas, *levels)}
    headers = answer.headers
    assert by_uid[headers["x-kubernetes-pf-flowschema-uid"]] == "global-default"
    assert by_uid[headers["x-kubernetes-pf-prioritylevel-uid"]] == "global-default"


async def test_a_schema_without_its_level_is_dangling_and_not_used(api: Api) -> None:
    await configured(api, ("flowschemas", schema("janes", "nowhere", "jane")))
    found = (await api.get(f"{FLOW}/flowschemas/janes")).json()
    assert (condition(found) or {})["status"] == "True"
    assert (condition(found) or {})["reason"] == "NotFound"
    before = (await api.get("/api/v1/pods", **bearer("jane"))).headers["x-kubernetes-pf-flowschema-uid"]
    assert before != found["metadata"]["uid"]
    await api.create(f"{FLOW}/prioritylevelconfigurations", level("nowhere", {"type": "Reject"}))
    await until(
        api, f"{FLOW}/flowschemas/janes", lambda stored: (condition(stored) or {}).get("status") == "False"
    )
    after = (await api.get("/api/v1/pods", **bearer("jane"))).headers["x-kubernetes-pf-flowschema-uid"]
    assert after == found["metadata"]["uid"]


async def test_changed_objects_of_upstream_are_set_back_unless_they_are_kept(api: Api) -> None:
    """Those that are mandatory cannot be changed through the API."""
    levels = f"{FLOW}/prioritylevelconfigurations"
    changed = {"spec": {"limited": {"nominalConcurrencyShares": 77}}}
    assert (await api.merge(f"{levels}/catch-all", changed)).status_code == 422
    kept = {**changed, "metadata": {"annotations": {AUTO_UPDATE: "false"}}}
    assert (await api.merge(f"{levels}/workload-low", changed)).status_code == 200
    assert (await api.merge(f"{levels}/system", kept)).status_code == 200
    assert api.flow.stored is not None
    await api.flow.stored.ensure()
    shares = [
        (await api.get(f"{levels}/{name}")).json()["spec"]["limited"]["nominalConcurrencyShares"]
        for name in ("catch-all", "workload-low", "system")
    ]
    assert shares == [5, 100, 77]


LISTED = RequestAttributes("list", "", "v1", "configmaps")
QUEUE = {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 50}}


@contextlib.contextmanager
def full(api: Api, user: str = "jane") -> Iterator[FairQueues]:
    """The level of this user without a free seat: one request has all of them."""
    api.flow.controller.use(36)
    found = api.flow.controller.classify(USERS[user], LISTED, 36)
    queues = api.flow.controller.levels.by_name[found.level.name].queues
    holder = Ticket(found, USERS[user], LISTED, queues.limit)
    assert not queues.start(holder) and holder.started
    yield queues
    queues.finish(holder)


async def until_waiting(api: Api, queues: FairQueues, requests: int) -> None:
    async with asyncio.timeout(60):
        while queues.waiting != requests:
            await api.get(f"{DUMPS}/dump_queues")  # each try is an answer of the server


async def test_what_has_no_seat_in_a_rejecting_level_is_a_429(api: Api) -> None:
    await configured(
        api,
        ("prioritylevelconfigurations", level("one", {"type": "Reject"}, shares=1)),
        ("flowschemas", schema("janes", "one", "jane")),
    )
    await api.warm()
    subscription = api.services.bus.subscribe()
    with full(api):
        answers = await storm(api, "jane", 30)
    assert [answer.status_code for answer in answers] == [429] * 30
    rejected = answers[0]
    assert rejected.text == TOO_MANY
    headers = rejected.headers
    assert headers["retry-after"] == "1"
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-kubernetes-pf-flowschema-uid"]
    await Told(subscription).next(RequestFinished, lambda event: event.status == 429)
    subscription.close()
    assert (await api.get("/api/v1/configmaps", **bearer("jane"))).status_code == 200
    metrics = (await api.get("/metrics")).text
    name = 'apiserver_flowcontrol_rejected_requests_total{priority_level="one",flow_schema="janes"'
    assert f'{name},reason="concurrency-limit"}} 30\n' in metrics
    assert 'apiserver_request_total{verb="LIST",group="",version="v1",resource="configmaps"' in metrics


async def storm(api: Api, user: str, requests: int) -> list[httpx.Response]:
    """LISTs that are sent at the same time."""
    limits = httpx.Limits(max_connections=requests)
    async with plain_client(api.server.url, headers=bearer(user), limits=limits, timeout=60) as http:
        return await asyncio.gather(*(http.get("/api/v1/configmaps") for _ in range(requests)))


async def test_a_level_that_queues_serves_all_of_a_burst(api: Api) -> None:
    queue = {"type": "Queue", "queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 50}}
    await configured(
        api,
        ("prioritylevelconfigurations", level("one", queue, shares=1)),
        ("flowschemas", schema("janes", "one", "jane")),
    )
    await api.warm()
    with full(api) as queues:
        sent = asyncio.create_task(storm(api, "jane", 40))
        await until_waiting(api, queues, 40)
    answers = await sent
    assert {answer.status_code for answer in answers} == {200}
    assert all("seats;dur=" in answer.headers["server-timing"] for answer in answers)
    rows = (await api.get(f"{DUMPS}/dump_priority_levels")).text.splitlines()
    assert rows[0].split() == [
        "PriorityLevelName,", "ActiveQueues,", "IsIdle,", "IsQuiescing,", "WaitingRequests,",
        "ExecutingRequests,", "DispatchedRequests,", "RejectedRequests,", "TimedoutRequests,",
        "CancelledRequests",
    ]  # fmt: skip
    own = next(row for row in rows if row.startswith("one,")).replace(",", "").split()
    assert own == ["one", "0", "true", "false", "0", "0", "41", "0", "0", "0"]  # with the one of `full`


async def test_a_queued_request_leaves_its_queue_with_its_client(api: Api) -> None:
    await configured(
        api,
        ("prioritylevelconfigurations", level("one", QUEUE, shares=1)),
        ("flowschemas", schema("janes", "one", "jane")),
    )
    address = urlsplit(api.server.url)
    request = "{} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer jane\r\nContent-Length: {}\r\n\r\n{}"
    requests = []
    made = '{"metadata":{"name":"late"}}'
    for line, body in (
        ("GET /api/v1/configmaps", ""),
        ("GET /api/v1/configmaps?watch=1", ""),
        ("POST /api/v1/namespaces/a/configmaps", made),
        ("DELETE /api/v1/namespaces/a/configmaps/late", ""),
    ):
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        requests.append((writer, request.format(line, len(body), body).encode()))
    with full(api) as queues:
        for writer, sent in requests:
            writer.write(sent)
        await until_waiting(api, queues, 4)
        for left in (3, 2, 1, 0):
            requests.pop()[0].close()
            await until_waiting(api, queues, left)
        assert queues.cancelled == 4
    assert queues.idle


async def test_a_queued_write_has_its_body_once_it_is_served(api: Api) -> None:
    await configured(
        api,
        ("prioritylevelconfigurations", level("one", QUEUE, shares=1)),
        ("flowschemas", schema("janes", "one", "jane")),
    )
    large = {"metadata": {"name": "large"}, "data": {"k": "x" * 200_000}}
    path = "/api/v1/namespaces/a/configmaps"
    async with asyncio.TaskGroup() as group:
        with full(api) as queues:
            sent = [
                group.create_task(api.http.post(path, json=obj, headers=bearer("jane")))
                for obj in ({"metadata": {"name": "small"}, "data": {"k": "v"}}, large)
            ]
            await until_waiting(api, queues, 2)
    assert [task.result().status_code for task in sent] == [201, 201]
    assert sent[1].result().json()["data"] == large["data"]
    metrics = (await api.get("/metrics")).text
    for name in ("priority_level_seat_utilization", "priority_level_request_utilization"):
        count = re.search(rf'{name}_count{{phase="executing",priority_level="one"}} (\d+)', metrics)
        assert count and int(count[1]) > 0
    waited = re.search(
        r'read_vs_write_current_requests_sum{phase="waiting",request_kind="mutating"} ([\d.]+)', metrics
    )
    assert waited and float(waited[1]) > 0


async def test_a_watch_gives_its_seats_back_once_it_is_live(api: Api) -> None:
    await api.warm()
    path = "/api/v1/configmaps?watch=true&resourceVersion=0"
    async with api.http.stream("GET", path, headers=bearer("jane")) as watch:
        await api.config_map("one")
        async for _ in watch.aiter_lines():
            break
        dump = await api.get(f"{DUMPS}/dump_requests?includeRequestDetails=1")
        assert "watch," not in dump.text
        metrics = (await api.get("/metrics")).text
    assert 'apiserver_flowcontrol_current_executing_requests{priority_level="global-default",' in metrics
    assert 'flow_schema="global-default"} 0' in metrics


async def test_own_telemetry_has_the_levels(api: Api) -> None:
    subscription = api.services.bus.subscribe()
    told = Told(subscription)
    config = await told.next(FlowConfig)
    assert [item.name for item in config.schemas][:2] == ["exempt", "probes"]
    await told.next(RequestsDump)
    await api.get("/api/v1/pods", **bearer("jane"))
    scrape = await told.next(
        LevelScrape, lambda event: event.level == "global-default" and event.counters.dispatched == 1
    )
    assert (scrape.gauges.nominal, scrape.counters.rejected) == (1, 0)
    subscription.close()


async def test_without_priority_and_fairness_requests_in_flight_are_counted(
    client: EtcdClient, prefix: str
) -> None:
    settings = Settings(behaviour_of(), priority_and_fairness=False)
    async with running(client, prefix, users=USERS, seats=2, settings=settings) as api:
        await api.warm()
        in_flight = api.flow.controller.in_flight
        found = api.flow.controller.classify(USERS["jane"], LISTED, 36)
        two = [Ticket(found, USERS["jane"], LISTED, 1) for _ in range(2)]
        for ticket in two:
            in_flight.enter(ticket)
        answers = await storm(api, "jane", 30)
        assert [answer.status_code for answer in answers] == [429] * 30
        for ticket in two:
            in_flight.finish(ticket)
        assert (await api.get("/api/v1/configmaps", **bearer("jane"))).status_code == 200
        rejected = answers[0]
        assert (rejected.text, rejected.headers["retry-after"]) == (TOO_MANY, "1")
        assert "x-kubernetes-pf-flowschema-uid" not in rejected.headers
        assert (await api.get(f"{DUMPS}/dump_queues")).status_code == 404


async def renewals(api: Api, times: int) -> list[tuple[int, float]]:
    """A scheduler reads and renews its lease: status, milliseconds that both waited for their seats."""

    def waited(answer: httpx.Response) -> float:
        timing = dict(item.split(";dur=") for item in answer.headers["server-timing"].split(", "))
        return float(timing.get("seats", 0))

    async with plain_client(api.server.url, headers=bearer("scheduler"), timeout=60) as http:
        found = []
        for number in range(times):
            read = await http.get(f"{LEASES}/kube-scheduler")
            lease = read.json()
            lease["spec"]["holderIdentity"] = f"scheduler-{number}"
            renewed = await http.put(f"{LEASES}/kube-scheduler", json=lease)
            found.append((renewed.status_code, waited(read) + waited(renewed)))
        return found


async def beside_a_storm(api: Api) -> list[tuple[int, float]]:
    """Renewals while 60 LISTs are always outstanding."""
    over = asyncio.Event()
    outstanding = 0
    all_sent = asyncio.Event()

    async def client(http: httpx.AsyncClient) -> None:
        nonlocal outstanding
        while not over.is_set():
            outstanding += 1
            if outstanding == 60:
                all_sent.set()
            await http.get("/api/v1/configmaps")
            outstanding -= 1

    limits = httpx.Limits(max_connections=60)
    async with (
        plain_client(api.server.url, headers=bearer("storm"), limits=limits, timeout=60) as http,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(60):
            group.create_task(client(http))
        await all_sent.wait()
        try:
            return await renewals(api, 15)
        finally:
            over.set()


async def test_a_storm_in_one_level_leaves_leader_election_in_another_as_it_was(api: Api) -> None:
    """With its own level no renewal waits for a seat; in the storm's level it waits behind the storm."""
    for number in range(30):
        await api.create(
            "/api/v1/namespaces/a/configmaps",
            {"metadata": {"name": f"m{number}"}, "data": {"k": "x" * 5_000}},
        )
    await api.warm()
    lease = {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "scheduler"}}
    assert (await api.create(LEASES, lease)).status_code == 201
    assert await beside_a_storm(api) == [(200, 0.0)] * 15
    # A level that borrows no seats, and the scheduler's leases in it too.
    await configured(
        api,
        ("prioritylevelconfigurations", level("one", QUEUE, shares=1)),
        ("flowschemas", schema("storms", "one", "system:serviceaccount:shop:storm")),
        ("flowschemas", schema("no-election", "one", "system:kube-scheduler")),
    )
    async with asyncio.TaskGroup() as group:
        with full(api, "storm") as queues:
            lists = group.create_task(storm(api, "storm", 40))
            await until_waiting(api, queues, 40)
            renewed = group.create_task(renewals(api, 1))
            await until_waiting(api, queues, 41)
    assert {answer.status_code for answer in lists.result()} == {200}
    ((status, waited),) = renewed.result()
    assert status == 200 and waited > 0
