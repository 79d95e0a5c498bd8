"""What `ktui audit` writes besides its report: partials, CSV, HTML, loads, comparisons."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from ktui.audit.formats.log_record import LoggedRequest
from ktui.cli.main import main
from ktui.workloads.registry import find_workload
from tests.unit.audit import carriers
from tests.unit.audit.carriers import compact, joined, plain_log
from tests.unit.audit.logs import audit_event, copies
from tests.unit.cli.test_audit import AT, ESCAPES, SIZES, evil


@pytest.fixture
def audit(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*args: object) -> tuple[int, str, str]:
        status = main(["audit", *map(str, args)])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    path.write_bytes(joined(plain_log(200)))
    return path


STREAMING = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


def slow_event(request: LoggedRequest, **parts: str) -> bytes:
    """An Event with the latencies that kube-apiserver measured."""
    event = json.loads(audit_event(request))
    named = {f"apiserver.latency.k8s.io/{name.replace('_', '-')}": text for name, text in parts.items()}
    event["annotations"] |= named
    return compact(event)


def listed(number: int, uri: str = "/api/v1/pods", took: int = 2_500_000) -> LoggedRequest:
    return LoggedRequest("list", uri, "agent/1", "alice", AT + number, took, 200, id=f"slow-{number}")


# Partials.


def test_partials_merge_into_the_report_of_all(audit: Any, tmp_path: Path) -> None:
    lines = plain_log(200)
    paths = [tmp_path / name for name in ("a.log", "b.log")]
    for path, part in zip(paths, (lines[:150], lines[100:]), strict=True):
        path.write_bytes(joined(part))
        status, out, err = audit(path, "--partial", path.with_suffix(".part"))
        assert (status, out) == (0, "")
        assert "lines counted" in err
    _, together, _ = audit(*paths, "--json")
    status, merged, _ = audit("merge", *(path.with_suffix(".part") for path in paths), "--json")
    assert status == 0
    assert json.loads(merged) == json.loads(together)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["merge"], "name files"),
        (["merge", "LOG"], "not a file of `ktui audit --partial`"),
        (["merge", "/no/such"], "cannot read /no/such"),
        (["LOG", "--partial", "/no/such/dir"], "cannot write /no/such/dir"),
        (["diff", "LOG"], "takes two reports"),
        (["diff", "LOG", "LOG"], "is not a report of"),
    ],
)
def test_what_cannot_be_merged_or_compared(audit: Any, log: Path, args: list[str], why: str) -> None:
    status, out, err = audit(*(log if arg == "LOG" else arg for arg in args))
    assert (status, out) == (2, "")
    assert why in err and err.count("\n") == 1


# Exit statuses.


def test_a_file_that_gives_nothing_is_status_1_and_is_named(audit: Any, log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(b'{"a": 1}')
    for form in ([], ["--json"], ["--markdown"], ["--html"]):
        status, out, _ = audit(log, other, *form)
        assert status == 1
        assert "1 JSON values without an audit Event" in " ".join(out.replace("\\", "").split())
    assert audit(log, other, "--csv")[0] == 1


def test_a_folder_gives_something_if_one_of_its_files_does(audit: Any, log: Path) -> None:
    (log.parent / "notes.txt").write_bytes(b"hello")
    assert audit(log.parent)[0] == 0


# Observed routes.


def test_slow_requests_are_shown_beside_the_prediction(audit: Any, tmp_path: Path) -> None:
    path = tmp_path / "slow.log"
    etcd = [
        slow_event(
            listed(n),
            total="2.5s",
            etcd="1.9s",
            decode_response_object="200ms",
            serialize_response_object="200ms",
            response_write="100ms",
        )
        for n in range(3)
    ]
    queued = [slow_event(listed(n), total="2.5s", etcd="3ms", apf_queue_wait="2s") for n in (10, 11)]
    probe = [slow_event(listed(20), total="2.5s", etcd="60ms")]
    path.write_bytes(joined([*etcd, *queued, *probe, audit_event(listed(30))]))
    _, out, _ = audit(path, "--json", "--kube-version", "1.36")
    (group,) = json.loads(out)["groups"]
    seen = group["observed"]
    assert group["route"] == "cache"
    assert {name: seen[name] for name in ("slow", "cache", "etcd", "unclear", "agree", "differ")} == {
        "slow": 6, "cache": 3, "etcd": 3, "unclear": 0, "agree": 3, "differ": 3,
    }  # fmt: skip
    assert (seen["total"], seen["queue"], seen["encode"], seen["write"]) == (15_000, 4_000, 900, 300)
    assert seen["etcd_time"] == 5_766
    assert seen["rest"] == 15_000 - 4_000 - 900 - 300 - 5_766
    assert "version or feature gates" in seen["cause"]
    assert json.loads(out)["observed"]["differ"] == 3
    _, text, _ = audit(path, "--kube-version", "1.36")
    assert text.startswith("3 of 6 requests whose route was measured contradict 1.36: ")
    assert "predicted cache, measured: 3 etcd, 3 cache" in text
    assert "but 5 slow" not in text and "but 3 slow requests were" in text


WAITED = {"etcd": "500ms", "decode_response_object": "200ms"}


@pytest.mark.parametrize(
    ("version", "uri", "took", "parts", "differ", "cause"),
    [
        ("1.30", "/api/v1/pods", 2_500_000, {"etcd": "1ms", "serialize_response_object": "2s"}, 1,
         "from 1.31 on"),
        ("1.36", "/api/v1/pods", 3_800_000, WAITED, 1, "fallback"),
        ("1.36", "/api/v1/pods", 3_600_000, WAITED, 1, "not those of 1.36"),
        ("1.36", "/api/v1/pods?resourceVersion=0", 900_000, {"etcd": "100ms"}, 1, "not ready"),
        # A slow read of one key is no fallback.
        ("1.36", "/api/v1/pods", 3_900_000, {"etcd": "800ms"}, 0, ""),
        ("1.36", "/api/v1/pods", 680_000, {"etcd": "536ms"}, 0, "one key"),
        ("1.36", "/api/v1/namespaces/shop/pods/web", 3_900_000, {"etcd": "5ms"}, 0, ""),
        # 1.37 does not measure what it streams from etcd; up to 1.29 decoding is not measured.
        ("1.37", "/api/v1/pods", 3_900_000, {}, 0, ""),
        ("1.29", "/api/v1/pods", 3_900_000, {"etcd": "800ms"}, 0, ""),
    ],
)  # fmt: skip
def test_only_what_the_log_proves_is_a_mismatch(
    audit: Any, tmp_path: Path, version: str, uri: str, took: int, parts: dict[str, str], differ: int,
    cause: str,
) -> None:  # fmt: skip
    path = tmp_path / "slow.log"
    request = listed(1, uri, took)
    if "web" in uri:
        request = msgspec.structs.replace(request, verb="get")
    path.write_bytes(slow_event(request, total=f"{took / 1e6}s", **parts))
    _, out, _ = audit(path, "--json", "--kube-version", version)
    (group,) = json.loads(out)["groups"]
    assert group["observed"]["differ"] == differ
    assert cause in group["observed"]["cause"] and ("fallback" in group["observed"]["cause"]) == (
        cause == "fallback"
    )


@pytest.mark.parametrize(
    ("recording", "etcd"), [("slow-1.36-default.log", 0), ("slow-1.33-no-consistent-list.log", 12)]
)
def test_routes_of_slow_requests_are_those_that_a_real_server_took(
    audit: Any, recording: str, etcd: int
) -> None:
    """A kube-apiserver 1.36.2 wrote these Events; the routes are known from its spans."""
    path = Path(__file__).parents[1] / "audit" / "data" / recording
    gates = ["--kube-version", "1.33", "--feature-gates", "ConsistentListFromCache=false"] if etcd else []
    _, out, _ = audit(path, "--json", *gates)
    seen = json.loads(out)["observed"]
    assert (seen["etcd"], seen["differ"], seen["unclear"]) == (etcd, 0, 0)


def test_duplicates_of_slow_requests_count_once(audit: Any, tmp_path: Path) -> None:
    path = tmp_path / "slow.log"
    line = slow_event(listed(1), total="2.5s", etcd="1.9s")
    path.write_bytes(joined([line] * 4))
    _, out, _ = audit(path, "--json")
    document = json.loads(out)
    assert (document["observed"]["slow"], document["observed"]["total"]) == (1, 2500)
    assert document["lines"]["duplicates"] == 3


# Tables and pages.


def test_csv_has_a_row_for_each_group(audit: Any, log: Path) -> None:
    _, out, _ = audit(log, "--csv")
    _, document, _ = audit(log, "--json")
    rows = list(csv.DictReader(io.StringIO(out)))
    groups = json.loads(document)["groups"]
    assert [(row["client"], int(row["count"]), row["route"]) for row in rows] == [
        (group["client"], group["count"], group["route"]) for group in groups
    ]


def test_no_cell_of_csv_is_a_formula(audit: Any, tmp_path: Path) -> None:
    path = tmp_path / "evil.log"
    path.write_bytes(audit_event(LoggedRequest("list", "/api/v1/pods", "=cmd|'/c'!A1", "@x", AT, 5, 200)))
    _, out, _ = audit(path, "--csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["client"], row["user"]) == ("'=cmd|'/c'!A1", "'@x")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(audit: Any, log: Path, tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.json"
    sizes.write_text(json.dumps(SIZES))
    log.write_bytes(log.read_bytes() + slow_event(listed(1), total="2.5s", etcd="1.9s") + b"\n")
    _, out, _ = audit(log, "--html", "--sizes", sizes, "--kube-version", "1.30")
    tags = _Tags()
    tags.feed(out)
    assert tags.open == []
    assert tags.links == []
    assert {"table", "svg", "rect"} <= tags.seen and "script" not in tags.seen
    assert "1.30 → 1.31 moves" in out


def test_a_hostile_log_is_text_on_the_page(audit: Any, tmp_path: Path) -> None:
    _, out, _ = audit(evil(tmp_path / "e.log"), "--html")
    assert "evil" in out and "<b>" not in out.replace("<b>1.36</b>", "")
    assert not any(char in out for char in ESCAPES[:1] + "\u202e\x00")


# A load.


def test_the_load_has_the_shares_that_were_observed(audit: Any, tmp_path: Path) -> None:
    shapes = {
        "/api/v1/pods?resourceVersion=0&limit=500": 6,
        "/apis/apps/v1/namespaces/shop/deployments?labelSelector=app%3Dweb&limit=50": 3,
        f"/api/v1/pods?watch=true&{STREAMING}": 2,
        "/api/v1/namespaces/shop/pods/web-1": 4,
        "/api/v1/pods?watch=true&resourceVersion=7": 5,
    }
    path = tmp_path / "audit.log"
    lines = []
    for second, (uri, count) in enumerate(shapes.items()):
        verb = "watch" if "watch=" in uri else "get" if "web-1" in uri else "list"
        request = LoggedRequest(verb, uri, "a/1", "u", AT + second * 5_000_000, 9_000, 200, id=uri)
        lines += copies(audit_event(request), count)
    path.write_bytes(joined(lines))
    status, out, err = audit(path, "--emit", "loadprofile")
    assert status == 0
    assert "5 requests are left out" in err
    document = yaml.safe_load(out)
    (spec,) = document["specs"]
    assert document["version"] == 1
    assert (spec["rate"], spec["duration"]) == (0.75, 20)
    assert {(next(iter(set(each) - {"shares"})), each["shares"]) for each in spec["requests"]} == {
        ("staleList", 6), ("quorumList", 3), ("watchList", 2), ("quorumGet", 4),
    }  # fmt: skip
    quorum = next(each["quorumList"] for each in spec["requests"] if "quorumList" in each)
    assert quorum == {
        "group": "apps", "version": "v1", "resource": "deployments", "namespace": "shop",
        "seletor": "app=web", "limit": 50,
    }  # fmt: skip
    load = tmp_path / "load.yaml"
    load.write_text(out)
    assert find_workload(str(load)).name == "load"  # `ktui workload run` takes it


# Comparisons.


def test_a_comparison_says_what_got_better(audit: Any, tmp_path: Path, capsys: Any) -> None:
    def report(name: str, groups: dict[tuple[str, str], int]) -> Path:
        lines = []
        for (agent, uri), count in groups.items():
            for number in range(count):
                at = AT + number * 1_000_000
                request = LoggedRequest("list", uri, agent, "u", at, 5_000, 200, id=f"{agent}{uri}{number}")
                lines.append(audit_event(request))
        path = tmp_path / name
        path.write_bytes(joined(lines))
        _, out, _ = audit(path, "--json", "--kube-version", "1.30")
        path.write_text(out)
        return path

    pods, nodes = "/api/v1/pods", "/api/v1/nodes"
    before = report("b.json", {("lister/1.0", pods): 60, ("same/1.0", nodes): 61, ("old/1", nodes): 9})
    after = report("a.json", {("lister/1.1", f"{pods}?resourceVersion=0"): 60, ("same/1.1", nodes): 61})
    status, out, _ = audit("diff", before, after, "--json")
    assert status == 0
    changes = {(each["client"], each["kind"]) for each in json.loads(out)["changes"]}
    assert changes == {("lister", "gone"), ("lister", "new"), ("same", "same"), ("old", "gone")}
    _, text, _ = audit("diff", before, after)
    assert "less time of the apiserver" in text and "1 groups of requests as before" in text


def test_a_file_named_merge_is_a_log(audit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("merge").write_bytes(joined(carriers.plain_log(10)))
    assert audit("merge")[0] == 0
