"""What a log shows about its server: the version, other servers behind it, and the time that it covers."""

import base64
import csv
import gzip
import json
import random
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.periods import DistinctKeys, LogPeriod
from ktui.audit.predictions import groups_of
from ktui.audit.reading.files import open_logs
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.audit.workers import read_all
from ktui.kube.gates import NEWEST_MINOR
from tests.unit.audit.logs import audit_event, httplog

NOW = datetime(2026, 11, 23, tzinfo=UTC)
AT = 1_795_000_000_000_000
HOUR = 3_600_000_000


def request(uri: str, agent: str = "agent/1", user: str = "alice", at: int = AT) -> LoggedRequest:
    verb = "list"
    return LoggedRequest(verb, uri, agent, user, at, 5_000, 200, id=f"{uri} {agent} {at}")


def itself(version: str, user: str = "system:apiserver", at: int = AT) -> LoggedRequest:
    agent = f"kube-apiserver/v{version} (linux/amd64) kubernetes/8be1d94"
    return request("/api/v1/services?resourceVersion=0", agent, user, at)


def tallied(*lines: bytes, **options: int) -> Tally:
    tally = Tally(NOW, **options)  # type: ignore[arg-type]
    tally.open_file("audit.log")
    tally.feed(list(lines))
    return tally


def report(*requests: LoggedRequest, wish: Wish | None = None) -> Report:
    return (wish or Wish()).report(tallied(*map(audit_event, requests)))


# The version.


@pytest.mark.parametrize(
    ("agents", "given", "version", "origin"),
    [
        (["1.30.4"], "", "1.30", "the apiserver's requests to itself"),
        (["1.29.8-eks-a737599"], "", "1.29", "the apiserver's requests to itself"),
        (["1.33.1", "1.34.0", "1.34.0"], "", "1.34", "the apiserver's requests to itself"),
        (["0.0.0"], "", "1.36", "assumed"),
        ([], "", "1.36", "assumed"),
        (["1.30.4"], "1.33", "1.33", "given"),
        (["1.99.0"], "", f"1.{NEWEST_MINOR}", "the apiserver's requests to itself"),
    ],
)
def test_the_version_is_given_or_the_logs(agents: list[str], given: str, version: str, origin: str) -> None:
    requests = [itself(agent, at=AT + place) for place, agent in enumerate(agents)]
    found = report(request("/api/v1/pods"), *requests, wish=Wish(given))
    assert (found.kube_version, found.version_from) == (version, origin)
    named = {f"1.{agent.split('.')[1]}" for agent in agents} - {version, "0.0", "1.0"}
    assert all(name in found.notes[0] for name in named)


def test_a_client_that_calls_itself_an_apiserver_is_none() -> None:
    found = report(request("/api/v1/pods"), itself("1.24.0", "mallory"))
    assert found.version_from == "assumed"


def test_httplog_has_the_version_too() -> None:
    line = httplog(msgspec.structs.replace(itself("1.31.2", ""), verb="LIST"), 31)
    assert Wish().report(tallied(line)).kube_version == "1.31"


# Aggregated APIs.

NODES = "/apis/metrics.k8s.io/v1beta1/nodes"


def test_another_servers_requests_have_no_route_and_no_share() -> None:
    uris = [
        NODES, "/apis/custom.metrics.k8s.io/v1beta2/namespaces/a/pods/*/rps", "/api/v1/pods",
        "/apis/packages.operators.coreos.com/v1/packagemanifests", "/apis/example.org/v1/widgets",
    ]  # fmt: skip
    found = report(*map(request, uris), wish=Wish("1.30", aggregated=groups_of(["example.org"])))
    routes = {group.resource: group.route for group in found.groups}
    assert routes.pop("pods") == "etcd"
    assert set(routes.values()) == {"another server"} and "nodes.metrics.k8s.io" in routes
    others = [group for group in found.groups if group.resource != "pods"]
    assert all(not group.cheaper and group.reason_id == "unknown" for group in others)
    assert (found.versions[0].etcd, found.versions[0].cache) == (1, 0)
    assert found.summary.startswith("1.30 → 1.31 moves 100% of your LIST requests")
    assert "example.org" in found.notes[-1] and "another server" in found.notes[-1]
    alone = report(request(NODES))
    assert alone.summary.endswith("only of aggregated APIs")


def test_groups_are_those_of_api_services_and_those_without_a_definition() -> None:
    crds = b'{"items":[{"spec":{"group":"cilium.io"}}]}'
    services = b'{"items":[{"spec":{"group":"wardle.io","service":{"name":"w"}}},{"spec":{"group":"apps"}}]}'
    groups = groups_of(["apps"], crds, services)
    told = ("a.wardle.io", "a.unknown.io", "a.cilium.io", "deployments.apps", "pods", "a.metrics.k8s.io")
    assert [groups.has(resource) for resource in told] == [True, True, False, False, False, True]
    assert groups_of([], b"no JSON", b"[]") == groups_of([])


# Times.


def test_only_what_is_between_since_and_until_counts() -> None:
    lines = [audit_event(request("/api/v1/pods", at=AT + hour * HOUR)) for hour in range(6)]
    tally = tallied(*lines, since=AT + HOUR, until=AT + 3 * HOUR)
    assert Wish().report(tally).requests.list == 3
    nothing = tallied(*lines, since=AT + 10 * HOUR)
    assert (
        Wish().report(nothing).files[0].problem == "no request in it: 6 records outside --since and --until"
    )


def test_times_far_from_the_rest_do_not_stretch_the_rates() -> None:
    requests = [request("/api/v1/pods", at=AT + second * 1_000_000) for second in range(61)]
    strays = [request("/api/v1/pods", at=at) for at in (AT - 4000 * 24 * HOUR, AT + 4000 * 24 * HOUR)]
    found = report(*requests, *strays)
    assert found.span is not None and found.span.seconds == 60
    assert any(note.startswith("2 records far from the rest") for note in found.notes)


@pytest.mark.parametrize("days", [(0, 1, 2, 9), (0, 3, 5), (0, 40), (0,)])
def test_a_log_with_pauses_is_one_period(days: tuple[int, ...]) -> None:
    period = LogPeriod.of([AT + day * 24 * HOUR for day in days])
    assert period.usual == (AT, AT + days[-1] * 24 * HOUR, 0)


def test_distinct_keys_are_counted_in_bounded_memory() -> None:
    some, more = DistinctKeys(), DistinctKeys()
    for number in range(3000):
        some.add(str(number % 1000).encode())
    assert len(some) == 1000
    for number in range(100_000):
        more.add(str(number).encode())
    assert abs(len(more) - 100_000) < 5_000 and len(more.hashes) <= 2 * DistinctKeys.MOST
    hashes = some.hashes
    random.Random(1).shuffle(hashes)
    assert len(DistinctKeys(hashes)) == 1000


# Carriers that say little about themselves.

EVENT = audit_event(request("/api/v1/pods"))


def described(*lines: bytes) -> tuple[int, str]:
    found = Wish().report(tallied(*lines))
    return found.requests.list, found.files[0].problem + "".join(bad.why for bad in found.malformed)


def test_bare_base64_lines_of_a_subscription_are_read() -> None:
    message = {"messageType": "DATA_MESSAGE", "logEvents": [{"id": "1", "message": EVENT.decode()}]}
    line = base64.b64encode(gzip.compress(json.dumps(message).encode()))
    assert described(line) == (1, "")
    assert "base64 of gzip" in described(line[: len(line) // 2])[1]


def test_logs_of_otlp_are_read_as_text_and_else_named() -> None:
    def wrapped(body: dict[str, object]) -> bytes:
        records = [{"timeUnixNano": "1", "body": body}]
        return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()

    assert described(wrapped({"stringValue": EVENT.decode()})) == (1, "")
    pairs = [{"key": "auditID", "value": {"stringValue": "x"}}]
    assert "OTLP log records" in described(wrapped({"kvlistValue": {"values": pairs}}))[1]


def test_alerts_of_falco_are_named() -> None:
    alert = {"output": "K8s …", "rule": "r", "output_fields": {"ka.verb": "list", "ka.auditid": "x"}}
    assert "Falco" in described(json.dumps(alert).encode())[1]


@pytest.mark.parametrize(
    ("started", "ended"),
    [
        ("11/23/2026, 3:04:05.000 PM", "11/23/2026, 3:04:05.250 PM"),
        ("23/11/2026, 15:04:05.000", "23/11/2026, 15:04:05.250"),
        ("23.11.2026, 15:04:05,000", "23.11.2026, 15:04:05,250"),
        ("2026-11-23 15:04:05.000", "2026-11-23 15:04:05.250"),
        ("2026-11-23T15:04:05.000Z", "2026-11-23T15:04:05.250Z"),
    ],
)
def test_the_portals_csv_of_log_analytics_is_read(tmp_path: Path, started: str, ended: str) -> None:
    header = (
        "TimeGenerated [UTC]", "AuditId", "Stage", "Verb", "RequestUri", "User", "UserAgent",
        "ResponseStatus", "RequestReceivedTime [UTC]", "StageReceivedTime [UTC]",
    )  # fmt: skip
    user, status = json.dumps({"username": "alice"}), json.dumps({"code": 200})
    row = (ended, "a-1", "ResponseComplete", "list", "/api/v1/pods", user, "agent/1", status, started, ended)
    path = tmp_path / "query_data.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        csv.writer(out).writerows([header, row])
    tally = Tally(NOW)
    with open_logs([str(path)]) as logs:
        read_all(logs, tally, lambda name, taken: None)
    found = Wish().report(tally)
    assert found.requests.list == 1, (found.files, found.malformed)
    assert found.groups[0].latency is not None and found.groups[0].latency.max == 250
    assert found.span is not None and found.span.first == "2026-11-23T15:04:05.250+00:00"
