"""One log of audit Events in every form in which clouds and log shippers hand it out."""

from __future__ import annotations

import base64
import bz2
import csv
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import zstandard

from ktui.audit.formats.log_record import LoggedRequest
from tests.unit.audit.logs import TRAFFIC, audit_event, audit_id, go_duration, moment

Lines = Sequence[bytes]
SPACE = b" "
TIME = "2026-08-23T08:55:54.330Z"
MILLIS = 1_787_475_354_330


def requests(count: int, seed: int = 1) -> list[LoggedRequest]:
    """Reads of several clients: the same seed gives the same ones."""
    chance = random.Random(seed)
    found = []
    at = 1_787_000_000_000_000
    for number in range(count):
        at += chance.randrange(1000, 20_000)
        agent, user, verb, uri = chance.choice(TRAFFIC)
        n = chance.randrange(1, 5000)
        took = int(chance.lognormvariate(8.5, 1.5))
        code = 429 if chance.random() < 0.05 else 200
        found.append(
            LoggedRequest(
                verb, uri.format(n=n), agent, user.format(n=n), at, took, code, id=f"id-{seed}-{number}"
            )
        )
    return found


def write(number: int) -> LoggedRequest:
    return LoggedRequest(
        "patch",
        f"/api/v1/nodes/n-{number}/status",
        "kubelet/1",
        "u",
        1_787_000_000_000_000,
        9,
        200,
        id=f"w{number}",
    )


def plain_log(count: int = 300) -> list[bytes]:
    """Audit Events, each of its own request; some of writes and early stages."""
    lines = []
    for number, request in enumerate(requests(count)):
        lines += [audit_event(request, "RequestReceived")] if number % 3 == 0 else []
        lines += [audit_event(write(number))] if number % 5 == 0 else []
        lines.append(audit_event(request))
    return lines


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def joined(lines: Lines) -> bytes:
    return b"\n".join(lines) + b"\n"


def batches(lines: Lines, size: int) -> Iterator[Lines]:
    for start in range(0, len(lines), size):
        yield lines[start : start + size]


def objects(lines: Lines) -> list[Any]:
    return [json.loads(line) for line in lines]


def texts(lines: Lines) -> list[str]:
    return [line.decode() for line in lines]


def subscription(lines: Lines) -> dict[str, object]:
    return {
        "messageType": "DATA_MESSAGE", "owner": "123456789012", "logGroup": "/aws/eks/prod/cluster",
        "logStream": "kube-apiserver-audit-1", "subscriptionFilters": ["all"],
        "logEvents": [
            {"id": str(n), "timestamp": MILLIS, "message": text} for n, text in enumerate(texts(lines))
        ],
    }  # fmt: skip


CONTROL = {
    "messageType": "CONTROL_MESSAGE", "owner": "CloudwatchLogs", "logGroup": "", "logStream": "",
    "subscriptionFilters": [],
    "logEvents": [{"id": "", "timestamp": 1, "message": "CWL CONTROL MESSAGE: Checking health"}],
}  # fmt: skip


def log_events(lines: Lines) -> dict[str, object]:
    events = [
        {
            "logStreamName": "kube-apiserver-audit-1",
            "timestamp": MILLIS,
            "message": text,
            "ingestionTime": MILLIS,
            "eventId": str(n),
        }
        for n, text in enumerate(texts(lines))
    ]
    return {"events": events, "searchedLogStreams": []}


def insights(lines: Lines) -> dict[str, object]:
    rows = [
        [{"field": "@timestamp", "value": TIME}, {"field": "@message", "value": text}]
        for text in texts(lines)
    ]
    return {"results": rows, "statistics": {"recordsMatched": 1.0}, "status": "Complete"}


def insights_csv(lines: Lines) -> bytes:
    return table(["@timestamp", "@message"], ([TIME, text] for text in texts(lines)))


def table(header: list[str], rows: Any) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def aks_record(text: str, category: str = "kube-audit") -> dict[str, object]:
    log = {"log": text + "\n", "stream": "stdout", "pod": "kube-apiserver-1", "containerID": "c"}
    return {
        "time": TIME,
        "category": category,
        "operationName": "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read",
        "resourceId": "/SUBSCRIPTIONS/1",
        "properties": log,
    }


def aks_row(event: dict[str, Any], *, as_text: bool = False) -> dict[str, object]:
    dynamic: Callable[[object], object] = json.dumps if as_text else lambda value: value
    return {
        "TimeGenerated": TIME, "AuditId": event["auditID"], "Level": event["level"], "Stage": event["stage"],
        "RequestUri": event["requestURI"], "Verb": event["verb"], "User": dynamic(event["user"]),
        "SourceIps": dynamic(event["sourceIPs"]), "UserAgent": event["userAgent"],
        "ObjectRef": dynamic(event["objectRef"]),
        "ResponseStatus": dynamic(event.get("responseStatus")),
        "RequestReceivedTime": event["requestReceivedTimestamp"],
        "StageReceivedTime": event["stageTimestamp"], "Annotations": dynamic(event.get("annotations")),
        "PodName": "kube-apiserver-1", "Type": "AKSAudit",
    }  # fmt: skip


def aks_csv(lines: Lines) -> bytes:
    rows = [aks_row(event, as_text=True) for event in objects(lines)]
    return table(list(rows[0]), (row.values() for row in rows))


def loki(lines: Lines) -> dict[str, object]:
    values = [[str(MILLIS * 1_000_000), text] for text in texts(lines)]
    return {
        "status": "success",
        "data": {"resultType": "streams", "result": [{"stream": {"job": "audit"}, "values": values}]},
    }


def event_list(lines: Lines) -> dict[str, object]:
    return {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": objects(lines)}


def each(wrap: Callable[[str], object]) -> Callable[[Lines], bytes]:
    return lambda lines: joined([compact(wrap(text)) for text in texts(lines)])


def encoded(lines: Lines) -> str:
    return base64.b64encode(gzip.compress(compact(subscription(lines)))).decode()


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def must_gather(lines: Lines) -> bytes:
    half = len(lines) // 2
    return gzip.compress(tar_of({
        "must-gather/audit_logs/kube-apiserver/m0-audit.log.gz": gzip.compress(joined(lines[:half])),
        "must-gather/audit_logs/kube-apiserver/m1-audit.log.gz": gzip.compress(joined(lines[half:])),
        "must-gather/version.yaml": b"a: b\n",
    }))  # fmt: skip


def cri_parts(lines: Lines) -> bytes:
    """As containerd writes them, cut (at 300 bytes, not at 16 KiB), with lines of stderr in between."""
    out = []
    for line in lines:
        *parts, last = [line[start : start + 300] for start in range(0, len(line), 300)]
        for part in parts:
            out += [b"%s stdout P %s" % (TIME.encode(), part)]
            out += [b"%s stderr F I0823 08:55:54.330840       1 main.go:1] a message" % TIME.encode()]
        out.append(b"%s stdout F %s" % (TIME.encode(), last))
    return joined(out)


def docker_parts(lines: Lines) -> bytes:
    """As Docker's json-file writes them: each Event has an annotation that makes it longer than 16 KiB."""
    out = []
    for event in objects(lines):
        event["annotations"]["padding"] = "x" * 40_000
        text = compact(event).decode() + "\n"
        for start in range(0, len(text), 16 << 10):
            log = {"log": text[start : start + (16 << 10)], "stream": "stdout", "time": TIME}
            out.append(compact(log))
    return joined(out)


CARRIERS: dict[str, Callable[[Lines], bytes]] = {
    "plain": joined,
    "crlf": lambda lines: b"\r\n".join(lines) + b"\r\n",
    "no last newline": b"\n".join,
    "utf-8 with a mark": lambda lines: b"\xef\xbb\xbf" + joined(lines),
    "utf-16 of PowerShell": lambda lines: joined(lines).decode().encode("utf-16"),
    "gzip": lambda lines: gzip.compress(joined(lines)),
    "gzip members": lambda lines: b"".join(gzip.compress(joined(part)) for part in batches(lines, 40)),
    "zstd": lambda lines: zstandard.ZstdCompressor(write_checksum=True).compress(joined(lines)),
    "zstd frames": lambda lines: b"".join(zstandard.compress(joined(part)) for part in batches(lines, 40)),
    "bzip2": lambda lines: bz2.compress(joined(lines)),
    "xz": lambda lines: lzma.compress(joined(lines)),
    "xz streams": lambda lines: b"".join(lzma.compress(joined(part)) for part in batches(lines, 40)),
    "tar": lambda lines: tar_of({"a/audit.log": joined(lines[:50]), "a/audit-1.log": joined(lines[50:])}),
    "tar.zst": lambda lines: zstandard.compress(tar_of({"audit.log": joined(lines)})),
    "zip": lambda lines: zip_of({"audit.log": joined(lines)}),
    "zip of tar.zst": lambda lines: zip_of(
        {"a.tar.zst": zstandard.compress(tar_of({"x.log": joined(lines)}))}
    ),
    "must-gather": must_gather,
    "pretty": lambda lines: b"\n".join(json.dumps(one, indent=4).encode() for one in objects(lines)),
    "array": lambda lines: compact(objects(lines)),
    "pretty array": lambda lines: json.dumps(objects(lines), indent=2).encode(),
    "concatenated": b"".join,
    "EventList": lambda lines: joined([compact(event_list(part)) for part in batches(lines, 25)]),
    "EventList, pretty": lambda lines: json.dumps(event_list(lines), indent=1).encode(),
    "CloudWatch export": lambda lines: joined([TIME.encode() + SPACE + line for line in lines]),
    "CloudWatch tail": lambda lines: joined(
        [b"2026-08-23T08:55:54.330000+00:00 kube-apiserver-audit-1 " + line for line in lines]
    ),
    "filter-log-events": lambda lines: json.dumps(log_events(lines), indent=4).encode(),
    "filter-log-events, compact": lambda lines: compact(log_events(lines)),
    "subscription": lambda lines: joined([compact(subscription(part)) for part in batches(lines, 30)]),
    "Firehose": lambda lines: b"".join(
        [compact(CONTROL), *(compact(subscription(part)) for part in batches(lines, 30))]
    ),
    "Lambda": lambda lines: joined(
        [compact({"awslogs": {"data": encoded(part)}}) for part in batches(lines, 30)]
    ),
    "Kinesis": lambda lines: compact(
        {
            "Records": [
                {"kinesis": {"data": encoded(part)}, "eventName": "aws:kinesis:record"}
                for part in batches(lines, 30)
            ]
        }
    ),
    "Insights JSON": lambda lines: json.dumps(insights(lines), indent=2).encode(),
    "Insights CSV": insights_csv,
    "AKS storage account": each(aks_record),
    "AKS Event Hub": lambda lines: joined(
        [compact({"records": [aks_record(text) for text in texts(part)]}) for part in batches(lines, 20)]
    ),
    "AzureDiagnostics": each(lambda text: {"Category": "kube-audit", "log_s": text, "pod_s": "p"}),
    "AKSAudit": lambda lines: joined([compact(aks_row(event)) for event in objects(lines)]),
    "AKSAudit, az monitor": lambda lines: json.dumps(
        [aks_row(event) for event in objects(lines)], indent=2
    ).encode(),
    "AKSAudit CSV": aks_csv,
    "Docker": each(lambda text: {"log": text + "\n", "stream": "stdout", "time": TIME}),
    "Fluent Bit": lambda lines: joined([compact({"date": 1.5, "log": event}) for event in objects(lines)]),
    "Fluent Bit over Docker": each(
        lambda text: {"log": json.dumps({"log": text}), "kubernetes": {"pod_name": "p"}}
    ),
    "Vector": each(lambda text: {"message": text, "source_type": "file", "file": "/var/log/audit.log"}),
    "Loki": lambda lines: json.dumps(loki(lines)).encode(),
    "Splunk": lambda lines: table(["_time", "_raw"], ([TIME, text] for text in texts(lines))),
    "container runtime": lambda lines: joined([TIME.encode() + b" stdout F " + line for line in lines]),
    "container runtime, cut lines": cri_parts,
    "Docker, cut lines": docker_parts,
    "kubectl logs --prefix": lambda lines: joined(
        [b"[pod/kube-apiserver-cp1/kube-apiserver] " + line for line in lines]
    ),
    "journald": lambda lines: joined([b"Aug 23 08:55:54 cp1 kube-apiserver[812]: " + line for line in lines]),
}


def gke_entry(request: LoggedRequest) -> dict[str, object]:
    """A LogEntry as GKE makes it of an Event: no query string, no duration."""
    path = request.uri.partition("?")[0]
    name = "core/" + path.removeprefix("/api/") if path.startswith("/api/") else path.removeprefix("/apis/")
    group = name.partition("/")[0]
    dotted = ".".join(reversed(group.split("."))) if "." in group else group
    resource = path.rpartition("/")[2]
    return {
        "insertId": audit_id(request),
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Fdata_access",
        "operation": {"id": audit_id(request), "producer": "k8s.io", "first": True, "last": True},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "authenticationInfo": {"principalEmail": request.user},
            "methodName": f"io.k8s.{dotted}.v1.{resource}.{request.verb}",
            "requestMetadata": {"callerIp": "10.0.0.1", "callerSuppliedUserAgent": request.agent},
            "resourceName": name, "serviceName": "k8s.io",
            "status": {"code": 8} if request.code == 429 else {},
        },
        "resource": {"type": "k8s_cluster", "labels": {"cluster_name": "prod", "location": "europe-west1"}},
        "timestamp": moment(request.at).isoformat(),
    }  # fmt: skip


def json_httplog(request: LoggedRequest) -> bytes:
    """kube-apiserver's httplog with `--logging-format=json`."""
    fields: dict[str, object] = {
        "ts": request.at / 1000, "caller": "httplog/httplog.go:132", "msg": "HTTP", "v": 3,
        "verb": request.verb.upper(), "URI": request.uri, "latency": go_duration(request.took),
        "userAgent": request.agent, "audit-ID": audit_id(request), "srcIP": "10.0.0.1:5", "apf_pl": "system",
        "apf_fs": "system-nodes", "apf_iseats": 2, "apf_fseats": 0, "apf_additionalLatency": "0s",
        "apf_execution_time": go_duration(request.took // 4), "resp": request.code,
    }  # fmt: skip
    return compact(fields)
