"""The audit log and the HTTP log of a server, and what `ktui audit` makes of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.formats.record_reader import TraceReader, line_reader
from ktui.audit.predictions import assume_ready
from ktui.contract.events import RequestFinished, RequestStarted
from ktui.etcd.client import EtcdClient
from ktui.kube.routing.predict import predict
from ktui.kube.versions import behaviour_of
from ktui.requestlogs.audit_log import AuditLog
from ktui.requestlogs.audit_policy import EVERYTHING, AuditPolicy, AuditPolicyRule, GroupResources
from ktui.requestlogs.httplog import HttpLog
from ktui.requestlogs.log_writer import LogFile, LogWriter

from .conftest import JSON, Api, running
from .test_metrics import scrape, value
from .told import Told

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

INSIDE = "/api/v1/namespaces/a/configmaps"


@dataclass
class Logged:
    """A server whose logs are complete once `close` has been called."""

    api: Api
    writers: list[LogWriter]
    directory: Path

    async def close(self) -> None:
        await self.api.server.stop()
        for writer in self.writers:
            await writer.stop()

    def lines(self, name: str) -> list[bytes]:
        return (self.directory / name).read_bytes().splitlines()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines("audit.log")]


@pytest.fixture
async def logged(client: EtcdClient, prefix: str, tmp_path: Path) -> AsyncIterator[Logged]:
    files = [LogFile(tmp_path / name) for name in ("audit.log", "http.log")]
    audit, http = writers = [LogWriter("a log", file.write) for file in files]
    for writer in writers:
        writer.start()
    logs = (AuditLog(audit, EVERYTHING, 36), HttpLog(http, 36))
    async with running(client, prefix, request_logs=logs) as api:
        answer = await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        assert answer.status_code == 201, answer.text
        yield Logged(api, writers, tmp_path)
    for file in files:
        file.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
async def test_lost_lines_are_counted_in_the_metrics(client: EtcdClient, prefix: str) -> None:
    file, told = LogFile(Path("/dev/full")), asyncio.Event()
    writer = LogWriter("a log", file.write, changed=told.set)
    writer.start()
    logs = (AuditLog(writer, EVERYTHING, 36), HttpLog(writer, 36))
    async with running(client, prefix, request_logs=logs) as api:
        await api.get("/version")
        async with asyncio.timeout(60):
            await told.wait()
        found = await scrape(api)
    await writer.stop()
    file.close()
    assert value(found, "apiserver_audit_error_total", plugin="log") >= 1
    assert value(found, "ktui_http_log_lines_lost_total") >= 1
    assert writer.warnings() == ["a log cannot be written, its lines are lost: No space left on device"]


async def test_each_request_has_its_stages(logged: Logged) -> None:
    api = logged.api
    await api.warm()
    await api.config_map("one")
    async with api.http.stream(
        "GET", INSIDE, params={"watch": "1", "timeoutSeconds": "1"}, headers={"Audit-ID": "w"}
    ) as stream:
        assert stream.headers["audit-id"] == "w"
        async for _ in stream.aiter_bytes():
            pass
    await api.get(f"{INSIDE}/none", **{"Audit-ID": "missing"})
    await api.get(INSIDE, Authorization="Bearer wrong", **{"Audit-ID": "unknown"})
    await api.http.get(INSIDE, headers={"Impersonate-Group": "x", "Audit-ID": "refused"})
    await api.http.delete(f"{INSIDE}/one", headers={"Audit-ID": "gone"})
    await logged.close()
    found: dict[str, list[tuple[str, int | None]]] = {}
    for event in logged.events():
        code = event.get("responseStatus", {}).get("code")
        found.setdefault(event["auditID"], []).append((event["stage"], code))
    received = ("RequestReceived", None)
    assert found["w"] == [received, ("ResponseStarted", 200), ("ResponseComplete", 200)]
    assert found["missing"] == [received, ("ResponseComplete", 404)]
    assert found["unknown"] == [("ResponseStarted", 401)]
    assert found["refused"] == [received, ("ResponseComplete", 400)]
    created = next(event for event in logged.events() if event.get("objectRef", {}).get("name") == "one")
    assert created["verb"] == "create"
    (deleted,) = (
        event
        for event in logged.events()
        if (event["auditID"], event["stage"]) == ("gone", "ResponseComplete")
    )
    assert deleted["responseStatus"]["status"] == "Success"
    assert deleted["responseStatus"]["details"]["name"] == "one"


async def test_a_bug_in_a_handler_is_a_panic(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("ktui.writes.create.write_options", broken)
    answer = await logged.api.http.post(INSIDE, content=b"{}", headers=JSON)
    assert answer.status_code == 500
    await logged.close()
    last = logged.events()[-1]
    assert (last["stage"], last["responseStatus"]["message"]) == ("Panic", "APIServer panic'd: KeyError: 'x'")


QUERIES = (
    "", "?resourceVersion=0", "?limit=1", "?limit=1&resourceVersion=0", "?fieldSelector=metadata.name=one",
    "?labelSelector=a", "?resourceVersion=0&resourceVersionMatch=NotOlderThan", "?resourceVersionMatch=Exact",
    "?resourceVersion=abc", "?limit=abc",
)  # fmt: skip


async def test_the_audit_predicts_the_routes_that_the_server_took(logged: Logged) -> None:
    api = logged.api
    await api.warm()
    await api.seen(await api.config_map("one"))
    paths = [f"{path}{query}" for path in (INSIDE, "/api/v1/configmaps") for query in QUERIES]
    paths += [
        f"{INSIDE}/one",
        f"{INSIDE}/one?resourceVersion=0",
        "/api/v1/events",
        f"{INSIDE}/one?pretty=%20",
    ]
    took = {}
    for number, path in enumerate(paths):
        answer = await api.get(path, **{"Audit-ID": str(number)})
        took[str(number)] = answer.headers.get("x-ktui-route", "none")
    await logged.close()
    read = line_reader(datetime.now(UTC) + timedelta(days=1), TraceReader())
    for name in ("audit.log", "http.log"):
        predicted = {}
        for line in logged.lines(name):
            if isinstance(logged_request := read(line), LoggedRequest) and logged_request.id in took:
                assert logged_request.uri == paths[int(logged_request.id)]
                plan = predict(*assume_ready(logged_request.uri, progress=True), behaviour_of())
                predicted[logged_request.id] = plan.source.route if plan.error is None else "none"
        assert predicted == took


async def test_telemetry_has_the_stages_of_the_chain(logged: Logged) -> None:
    """Of a create with admission, of a LIST under impersonation, and of a refused request."""
    api, path = logged.api, "/api/v1/namespaces/a/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    told = Told(api.services.bus.subscribe())
    created = await api.create(path, pod)
    assert created.status_code == 201, created.text
    await api.get(path, **{"Impersonate-User": "jane"})
    await api.http.get(path, headers={"Impersonate-Group": "x"})
    started, finished = [], {}
    for _ in range(3):
        started.append(await told.next(RequestStarted))
        finished[started[-1].id] = await told.next(RequestFinished)
    stages = [
        {stage.stage: stage.decision for stage in [*event.chain, *finished[event.id].chain]}
        for event in started
    ]
    admin = "admin (system:masters, system:authenticated)"
    create, listed, refused = stages
    assert create["authentication"] == admin
    assert create["flow control"] == "exempt, level exempt" and create["authorization"] == "allowed"
    assert "spec.tolerations" in create["admission"] and "spec.priority" in create["admission"]
    assert listed["impersonation"] == "jane (system:authenticated)"
    assert listed["flow control"] == "global-default, level global-default"
    assert list(refused) == ["authentication", "impersonation"]
    assert refused["impersonation"].startswith("refused: requested &user.DefaultInfo")
    assert finished[started[2].id].status == 400
    assert started[0].audit_id == created.headers["audit-id"]
    timing = created.headers["server-timing"]
    assert [part.partition(";")[0] for part in timing.split(", ")][:4] == [
        "authentication", "flow-control", "authorization", "admission"
    ]  # fmt: skip


RULES = [
    AuditPolicyRule("RequestResponse", resources=[GroupResources(resources=["configmaps"])]),
    AuditPolicyRule("Request", resources=[GroupResources(resources=["secrets"])]),
    AuditPolicyRule("Metadata"),
]


async def audited(client: EtcdClient, prefix: str, tmp_path: Path, *, omit: bool) -> list[dict[str, Any]]:
    """The Events of a few requests under RULES, those of their last stage."""
    file = LogFile(tmp_path / "audit.log")
    writer = LogWriter("a log", file.write)
    writer.start()
    log = AuditLog(writer, AuditPolicy(RULES, [], omit_managed_fields=omit), 36)
    async with running(client, prefix, request_logs=(log,)) as api:
        await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        await api.warm()
        one = await api.config_map("one")
        await api.seen(one)
        await api.merge(f"{INSIDE}/one", {"data": {"k": "new"}})
        await api.get(f"{INSIDE}/one", Accept="application/yaml")
        await api.get(INSIDE)
        await api.get(INSIDE, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        await api.get(f"{INSIDE}/none")
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        await api.http.request("DELETE", f"{INSIDE}/one", json=options)
        secret = {"metadata": {"name": "s"}, "data": {"k": "dmFs"}}
        await api.create("/api/v1/namespaces/a/secrets", secret)
        await api.create("/api/v1/namespaces/a/pods", {"metadata": {"name": "p"}})
    await writer.stop()
    file.close()
    events = [json.loads(line) for line in (tmp_path / "audit.log").read_bytes().splitlines()]
    assert not any("requestObject" in event for event in events if event["stage"] == "RequestReceived")
    return [event for event in events if event["stage"] == "ResponseComplete"]


async def test_objects_of_requests_and_responses(client: EtcdClient, prefix: str, tmp_path: Path) -> None:
    events = await audited(client, prefix, tmp_path, omit=False)
    maps = [event for event in events if event["objectRef"]["resource"] == "configmaps"]
    created, patched, read, listed, table, missing, deleted = maps
    assert {event["level"] for event in maps} == {"RequestResponse"}
    assert created["requestObject"]["kind"] == "ConfigMap"
    assert created["requestObject"]["data"] == {"k": "one"}
    assert "uid" not in created["requestObject"]["metadata"]
    assert created["responseObject"]["metadata"]["managedFields"]
    assert patched["requestObject"] == {"data": {"k": "new"}}
    assert patched["responseObject"]["data"] == {"k": "new"}
    assert "requestObject" not in read and read["responseObject"]["data"] == {"k": "new"}
    assert [item["metadata"]["name"] for item in listed["responseObject"]["items"]] == ["one"]
    assert table["responseObject"]["kind"] == "Table" and table["responseObject"]["rows"]
    assert missing["responseObject"]["reason"] == "NotFound" and missing["responseStatus"]["code"] == 404
    assert deleted["requestObject"]["gracePeriodSeconds"] == 0
    assert deleted["responseObject"]["status"] == "Success"
    (secret,) = [event for event in events if event["objectRef"]["resource"] == "secrets"]
    assert secret["level"] == "Request" and secret["requestObject"]["data"] == {"k": "dmFs"}
    assert "responseObject" not in secret
    (pod,) = [event for event in events if event["objectRef"]["resource"] == "pods"]
    assert pod["level"] == "Metadata" and "requestObject" not in pod


async def test_managed_fields_are_left_out_if_the_policy_says_so(
    client: EtcdClient, prefix: str, tmp_path: Path
) -> None:
    events = await audited(client, prefix, tmp_path, omit=True)
    assert "managedFields" not in json.dumps(events)
    read = line_reader(datetime.now(UTC) + timedelta(days=1), TraceReader())
    found = [read(line) for line in (tmp_path / "audit.log").read_bytes().splitlines()]
    uris = [each.uri for each in found if isinstance(each, LoggedRequest)]
    assert uris == [event["requestURI"] for event in events if event["verb"] in ("get", "list", "watch")]


ACCOUNT = "/api/v1/namespaces/a/serviceaccounts"


async def test_what_events_say_beyond_the_request(logged: Logged) -> None:
    """As a kube-apiserver 1.36 that got the same requests."""
    api = logged.api
    await api.create(ACCOUNT, {"metadata": {"name": "builder"}})
    await api.get(f"{INSIDE}?fieldSelector=metadata.name%3Dx", **{"Audit-ID": "selects"})
    await api.get(f"{INSIDE}/x", **{"Audit-ID": "refused", "Accept": "text/html"})
    await api.get(f"{INSIDE}/x/none", **{"Audit-ID": "no-route"})
    await api.get(f"{INSIDE}?watch=1&resourceVersionMatch=x", **{"Audit-ID": "watch"})
    await api.get(INSIDE, Authorization="Bearer wrong", **{"Audit-ID": "wrong"})
    await api.get(INSIDE, Authorization="Bearer wrong", **{"Audit-ID": "wrong-html", "Accept": "text/html"})
    await api.http.post(f"{ACCOUNT}/builder/token", json={}, headers={"Audit-ID": "token"})
    await logged.close()
    last = {event["auditID"]: event for event in logged.events()}
    stages = [event["stage"] for event in logged.events() if event["auditID"] == "watch"]
    assert last["selects"]["objectRef"]["name"] == "x"
    assert last["refused"]["responseStatus"] == {"metadata": {}, "code": 406}
    assert last["no-route"]["responseStatus"]["details"] == {}
    assert stages == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    assert last["watch"]["responseStatus"]["reason"] == "Invalid"
    assert last["wrong"]["responseStatus"]["reason"] == "Unauthorized"
    attempted = {"metadata": {}, "message": "Authentication failed, attempted: bearer", "code": 401}
    assert last["wrong-html"]["responseStatus"] == attempted
    issued = last["token"]["annotations"]["authentication.kubernetes.io/issued-credential-id"]
    assert issued.startswith("JTI=")
