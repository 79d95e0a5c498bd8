"""Log lines as kube-apiserver and etcd write them, made from records: the other direction of ktui.audit."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from ktui.audit.formats.log_record import LoggedRequest, SlowRequest
from ktui.kube.golang.formatting import quote

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def audit_id(request: LoggedRequest) -> str:
    """Its own, or one that both lines of this request have."""
    said = f"{request.uri} {request.agent} {request.at} {request.took}".encode()
    return request.id or str(UUID(bytes=hashlib.md5(said, usedforsecurity=False).digest()))


def copies(event: bytes, count: int) -> list[bytes]:
    """As many audit Events that differ in their audit-ID only."""
    start, _, rest = event.partition(b'"auditID":"')
    return [b'%s"auditID":"%d-%s' % (start, n, rest) for n in range(count)]


def moment(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def go_duration(micros: int) -> str:
    """As time.Duration prints it: `0s`, `929µs`, `1.926865ms`, `1m2.5s`, `1h0m3s`."""
    if micros == 0:
        return "0s"
    if micros < 1000:
        return f"{micros}µs"
    if micros < 1_000_000:
        return f"{_plain(micros, 1000)}ms"
    minutes, rest = divmod(micros, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_plain(rest, 1_000_000)}s"
    return (f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else "") + seconds


def _plain(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    digits = str(part).zfill(len(str(unit)) - 1).rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def audit_event(request: LoggedRequest, stage: str = "", *, body: str = "") -> bytes:
    """An Event; `body` is the JSON of a responseObject (level RequestResponse)."""
    stage = stage or ("ResponseComplete" if request.done else "ResponseStarted")
    event: dict[str, object] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse" if body else "Metadata",
        "auditID": audit_id(request),
        "stage": stage,
        "requestURI": request.uri,
        "verb": request.verb,
        "user": {"username": request.user, "groups": ["system:authenticated"]},
        "sourceIPs": ["10.0.3.17"],
        "userAgent": request.agent,
        "objectRef": {"resource": "pods", "namespace": "shop", "apiVersion": "v1"},
    }
    if request.code >= 0 and stage != "RequestReceived":
        event["responseStatus"] = {"metadata": {}, "code": request.code}
    if body:
        event["responseObject"] = "BODY"
    event["requestReceivedTimestamp"] = _micro_time(request.at - request.took)
    event["stageTimestamp"] = _micro_time(request.at)
    event["annotations"] = {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.replace('"BODY"', body).encode() if body else text.encode()


def _micro_time(micros: int) -> str:
    return moment(micros).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def httplog(request: LoggedRequest, minor: int) -> bytes:
    """An httplog line of 1.`minor`; `request` has what that version logs."""
    verb = request.verb if minor >= 22 else "GET"
    fields = [
        f'"HTTP" verb="{verb}"',
        f"URI={quote(request.uri)}",
        f'latency="{go_duration(request.took)}"',
        f"userAgent={quote(request.agent)}",
        f'audit-ID="{audit_id(request)}"' if minor >= 22 else "",
        'srcIP="192.168.228.2:59052"',
        'apf_pl="system" apf_fs="system-nodes"' if minor >= 23 else "",
    ]
    if minor >= 23 and request.init >= 0:
        fields.append(f'apf_init_latency="{go_duration(request.init)}"')
    if minor >= 24 and request.seats >= 0:
        more = f'apf_fseats=0 apf_additionalLatency="0s" apf_execution_time="{go_duration(request.took)}"'
        fields.append(f"apf_iseats={request.seats} {more}")
    fields.append(f"resp={request.code}" if request.code >= 0 else "hijacked=true")
    if request.code >= 500:
        fields.append('statusStack="\\ngoroutine 123 [running]:\\n" addedInfo="\\n resp=200"')
    head = moment(request.at).strftime("I%m%d %H:%M:%S.%f       1 httplog.go:132] ")
    return (head + " ".join(filter(None, fields))).encode()


def range_text(slow: SlowRequest) -> str:
    parts = [f'key:"{slow.key}" ']
    parts += [f'range_end:"{slow.range_end}" '] if slow.range_end else []
    parts += [f"limit:{slow.limit} "] if slow.limit else []
    parts += [f"revision:{slow.revision} "] if slow.revision else []
    return "".join(parts)


def etcd_line(slow: SlowRequest) -> bytes:
    entry = _apply(slow) if slow.source == "apply" else _stats(slow)
    entry = {"level": "warn", "ts": moment(slow.at).strftime("%Y-%m-%dT%H:%M:%S.%fZ"), **entry}
    return json.dumps(entry, separators=(",", ":")).encode()


def _apply(slow: SlowRequest) -> dict[str, object]:
    size = f"size:{slow.size}" if slow.size >= 0 else ""
    counted = f"range_response_count:{slow.keys} {size}" if slow.keys >= 0 else size
    responses = {"range": counted, "txn": f"responses:<{counted}>", "write": size}
    wrapped = {
        "range": range_text(slow),
        "txn": f"success:<request_range:<{range_text(slow)}>>",
        "write": f"header:<ID:7587 > put:<{range_text(slow)}value_size:412 >",
    }
    entry: dict[str, object] = {
        "caller": "etcdserver/util.go:170",
        "msg": "apply request took too long",
        "took": go_duration(slow.took),
        "expected-duration": "100ms",
        "prefix": "" if slow.what == "write" else f"read-only {slow.what} ",
        "request": wrapped[slow.what],
        "response": responses[slow.what],
    }
    return entry | ({"error": "etcdserver: request timed out"} if slow.failed else {})


def _stats(slow: SlowRequest) -> dict[str, object]:
    return {
        "caller": "v3rpc/interceptor.go:197",
        "msg": "request stats",
        "start time": moment(slow.at - slow.took).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "time spent": go_duration(slow.took),
        "remote": "127.0.0.1:35512",
        "response type": f"/etcdserverpb.KV/{'Range' if slow.what == 'range' else 'Put'}",
        "request count": 0,
        "request size": 40,
        "response count": slow.keys,
        "response size": slow.size,
        "request content": range_text(slow),
    }


# client, user, verb, URI; each URI's {n} is another name or number each time
TRAFFIC = (
    ("kubelet/v1.30.2 (linux/amd64) kubernetes/3968350", "system:node:node-{n:05}", "list",
     "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-{n:05}&limit=500&resourceVersion=0"),
    ("kubelet/v1.30.2 (linux/amd64) kubernetes/3968350", "system:node:node-{n:05}", "get",
     "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-{n:05}?timeout=10s"),
    ("cilium-agent/1.16.1 cilium", "system:serviceaccount:kube-system:cilium", "list",
     "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-{n:05}"),
    ("kubectl/v1.31.0 (linux/amd64) kubernetes/9edcffc", "alice", "list",
     "/api/v1/namespaces/team-{n:03}/pods?limit=500"),
    ("Prometheus/2.53.1", "system:serviceaccount:monitoring:prometheus", "watch",
     "/api/v1/endpoints?allowWatchBookmarks=true&resourceVersion={n}&timeoutSeconds=4{n:02}&watch=true"),
    ("nightly-report/0.1", "system:serviceaccount:team-001:report", "list", "/api/v1/pods"),
    ("kube-controller-manager/v1.30.2 (linux/amd64) kubernetes/3968350/system:serviceaccount:kube-system:"
     "generic-garbage-collector", "system:kube-controller-manager", "list",
     "/apis/example.com/v1/widgets?limit=500&resourceVersion=0"),
    ("helm/v3.15", "bob", "list",
     "/api/v1/namespaces/team-{n:03}/secrets?labelSelector=name%3Dapp-{n:03}%2Cowner%3Dhelm"),
)  # fmt: skip
MALFORMED = (
    b'{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"36cf',
    b"\x00\xff\xfe\x1b[31mgarbage\x1b[0m",
    b'I0823 08:55:54.330840       1 httplog.go:132] "HTTP" verb="LIST" URI="/api/v1/po',
)
SLOW = SlowRequest(
    "apply", "range", "/registry/pods/", "/registry/pods0", 500, 0, 0, 212_345, keys=500, size=7_100_000
)


def traffic(seed: int, *, malformed: float = 0.001) -> Iterator[bytes]:
    """Endless lines of all formats, mixed; the same seed gives the same lines."""
    chance = random.Random(seed)
    at = 1_787_000_000_000_000
    while True:
        at += chance.randrange(1000, 20_000)
        if chance.random() < malformed:
            yield chance.choice(MALFORMED)
        agent, user, verb, uri = chance.choice(TRAFFIC)
        n = chance.randrange(1, 5000)
        took = int(chance.lognormvariate(8.5, 1.5))
        code = 429 if chance.random() < 0.01 else 200
        request = LoggedRequest(verb, uri.format(n=n), agent, user.format(n=n), at, took, code)
        form = chance.random()
        if form < 0.75:
            yield audit_event(request, "RequestReceived")
            yield audit_event(request)
        elif form < 0.97:
            upper = LoggedRequest(
                verb.upper(), request.uri, agent, "", at, took, code, seats=chance.randrange(1, 10)
            )
            yield httplog(upper, chance.choice((19, 22, 23, 24, 30, 37)))
        else:
            page = chance.randrange(1, 2_000_000)
            yield etcd_line(
                SlowRequest(
                    chance.choice(("apply", "stats")),
                    "range",
                    f"/registry/pods/team-{n % 200:03}/web-{n}\\000" if n % 2 else "/registry/pods/",
                    "/registry/pods0",
                    500,
                    page if n % 2 else 0,
                    at,
                    took + 100_000,
                    keys=500,
                    size=page * 4,
                )
            )
