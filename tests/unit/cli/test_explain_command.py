"""`ktui explain`, as a shell sees it."""

import json
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest

from ktui.cli.main import main
from ktui.kube import continuetoken
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.selectors.shards import shard

KEYS = {
    "kube_version", "verb", "path", "route", "reason_id", "reason", "reasons", "steps", "limit_honoured",
    "consistency", "wait", "list_rv", "etcd_ops", "seats", "priority_level", "error", "fallback", "warnings",
    "cheaper",
}  # fmt: skip


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*args: str) -> tuple[int, str, str]:
        status = main(["explain", *args])
        return status, *capsys.readouterr()

    return run


def document(explain: Any, *args: str) -> Any:
    status, out, err = explain(*args, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_one_version_is_an_object(explain: Any) -> None:
    doc = document(explain, "/api/v1/pods?limit=500&resourceVersion=0")
    assert set(doc) == KEYS
    assert doc["kube_version"] == "1.36"
    assert (doc["verb"], doc["route"], doc["reason_id"]) == ("list", "cache", "c.rv0_limit")
    assert doc["limit_honoured"] is False
    assert doc["seats"] == {"min": 1, "max": 10}
    assert doc["priority_level"] is None
    assert doc["error"] is None
    assert all(set(step) == {"rule", "saw", "taken"} for step in doc["steps"])


def test_all_versions_are_an_array(explain: Any) -> None:
    docs = document(explain, "/api/v1/pods?limit=500", "--kube-version", "all")
    assert [doc["kube_version"] for doc in docs] == [f"1.{minor}" for minor in range(19, NEWEST_MINOR + 1)]
    assert [doc["route"] for doc in docs] == ["etcd"] * 12 + ["cache"] * (NEWEST_MINOR - 30)


def test_a_snapshot_counts_as_cache(explain: Any) -> None:
    token = continuetoken.encode(900, "shop/web\0")
    url = f"/api/v1/pods?limit=5&continue={token}"
    doc = document(explain, url, "--continue-age", "old")
    assert (doc["route"], doc["reason_id"], doc["list_rv"]) == ("cache", "c.snap_cont", "token revision")
    doc = document(explain, url, "--continue-age", "old", "--no-cache-snapshot")
    assert (doc["route"], doc["reason_id"]) == ("etcd", "d.exact_nosnap")
    doc = document(explain, url, "--continue-age", "compacted")
    assert doc["error"]["code"] == 410


def test_predicted_errors_are_answers(explain: Any) -> None:
    doc = document(explain, "/api/v1/pods?resourceVersionMatch=Exact")
    assert (doc["route"], doc["error"]["code"], doc["error"]["reason"]) == ("none", 422, "Invalid")
    doc = document(explain, "/api/v1/pods?limit=abc")
    assert (doc["reason_id"], doc["error"]["code"]) == ("v.bad_option", 400)
    # The order of upstream: the options, then the resource's fields.
    doc = document(explain, "/api/v1/pods?fieldSelector=spec.x%3D1")
    assert (doc["reason_id"], doc["error"]["code"]) == ("v.bad_option", 400)
    doc = document(explain, "/api/v1/pods?fieldSelector=spec.x%3D1&resourceVersionMatch=Exact")
    assert (doc["reason_id"], doc["error"]["code"]) == ("v.match_needs_rv", 422)
    doc = document(explain, "/api/v1/pods?resourceVersion=7", "--rv-age", "beyond")
    assert doc["error"]["message"].startswith("Timeout: Too large resource version: 7, current: ")


def test_a_watch_tells_its_own(explain: Any) -> None:
    doc = document(explain, "/api/v1/pods?resourceVersion=7", "--verb", "watch", "--rv-age", "compacted")
    assert doc["verb"] == "watch"
    assert (doc["error"]["code"], doc["error_in_stream"]) == (410, True)
    doc = document(explain, "/api/v1/pods?watch=true")
    assert doc["defaulted_send_initial_events"] is True


@pytest.mark.parametrize(("etcd", "route"), [("3.5.1", "etcd"), ("3.5.13", "cache"), ("3.4.31", "cache")])
def test_the_etcd_version_decides_consistent_reads(explain: Any, etcd: str, route: str) -> None:
    assert document(explain, "/api/v1/pods", "--etcd-version", etcd)["route"] == route


@pytest.mark.parametrize(
    ("cache", "reason"),
    [("ready", "c.consistent"), ("initializing", "n.429"), ("disabled", "d.nocache")],
)
def test_the_state_of_the_cache(explain: Any, cache: str, reason: str) -> None:
    assert document(explain, "/api/v1/pods", "--cache", cache)["reason_id"] == reason


def test_gates(explain: Any) -> None:
    doc = document(
        explain, "/api/v1/pods", "--kube-version", "1.30", "--feature-gates", "ConsistentListFromCache=true"
    )
    assert doc["route"] == "cache"


def test_gates_over_all_versions_are_set_where_they_can_be(explain: Any) -> None:
    docs = document(
        explain, "/api/v1/pods", "--kube-version", "all", "--feature-gates", "ConsistentListFromCache=false"
    )
    assert [doc["route"] for doc in docs] == ["etcd"] * 15 + ["cache"] * (NEWEST_MINOR - 33)
    assert "came with 1.28" in docs[0]["warnings"][0]
    assert "locked to true" in docs[15]["warnings"][0]
    assert docs[12]["warnings"] == []


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["/api/v1/pods", "--kube-version", "1.99"], "unknown Kubernetes version '1.99'"),
        (["/api/v1/pods", "--feature-gates", "Nope=true"], "unknown feature gate 'Nope'"),
        (["/api/v1/pods", "--feature-gates", "Nope=true", "--kube-version", "all"], "unknown feature gate"),
        (["/api/v1/pods", "--feature-gates", "ConsistentListFromCache=false"], "locked to true"),
        (["/api/v1/pods", "--etcd-version", "new"], "'new' is not an etcd version"),
        (["/healthz"], "not an API path of a resource"),
        (["pods"], "not an API path"),
        (["/api/v1/pods?labelSelector=a in ("], "cannot be parsed"),
        (["/api/v1/pods\x1b[31m"], "did you mean 'pods'?"),
    ],
)
def test_bad_input_is_one_sentence(explain: Any, args: list[str], text: str) -> None:
    status, out, err = explain(*args)
    assert (status, out) == (2, "")
    assert text in err
    assert err.startswith("ktui: ") and err.count("\n") == 1
    assert "\x1b" not in err


def test_the_verdict_comes_first(explain: Any) -> None:
    status, out, _ = explain("/api/v1/pods?limit=500")
    assert status == 0
    assert out.startswith("C  cache — c.consistent: no resourceVersion")
    assert "shouldDelegateList" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("url", "letter"),
    [
        ("/api/v1/events", "E  etcd — d.nocache"),
        ("/api/v1/pods?resourceVersion=5&resourceVersionMatch=Exact", "S  cache, a snapshot — c.snap_exact"),
        ("/api/v1/pods?resourceVersionMatch=Exact", "!  rejected — v.match_needs_rv"),
    ],
)
def test_a_letter_for_each_route(explain: Any, url: str, letter: str) -> None:
    assert explain(url)[1].startswith(letter)


def test_all_versions_show_where_the_route_changes(explain: Any) -> None:
    _, out, _ = explain("/api/v1/pods?limit=500", "--kube-version", "all")
    rows = [line.split("seats")[0].split() for line in out.splitlines() if line.startswith("   1.")]
    assert [row[0] for row in rows] == ["1.19", "1.20–1.22", "1.23–1.30", f"1.31–1.{NEWEST_MINOR}"]
    assert "1.19–1.30: resourceVersion=0 answers from memory" in out


def test_all_versions_show_where_etcd_streams(explain: Any) -> None:
    out = explain("/api/v1/events", "--kube-version", "all")[1]
    assert "1.37–1.38" in out and out.count("streamed\n") == 1
    assert "streamed, 1.37–1.38: range_stream if etcd ≥ 3.7, else range_full" in out
    assert "streamed" not in explain("/api/v1/pods", "--kube-version", "all")[1]


SHARDS = "shardSelector=" + quote(str(shard(0, 2)))
COUNTS = "1.36 counts the objects of all shards in remainingItemCount"
SENDS = "1.36 sends a WATCH that etcd serves the objects of all shards"


@pytest.mark.parametrize(
    ("url", "version", "text", "warned"),
    [
        (f"/api/v1/pods?limit=5&{SHARDS}", "1.36", COUNTS, True),
        (f"/api/v1/pods?limit=5&labelSelector=a&{SHARDS}", "1.36", COUNTS, False),
        (f"/api/v1/pods?limit=5&{SHARDS}", "1.37", COUNTS, False),
        (f"/api/v1/events?watch=1&{SHARDS}", "1.36", SENDS, True),
        (f"/api/v1/pods?watch=1&{SHARDS}", "1.36", SENDS, False),
        (f"/api/v1/events?watch=1&{SHARDS}", "1.37", SENDS, False),
    ],
)
def test_what_1_36_makes_of_shards(explain: Any, url: str, version: str, text: str, warned: bool) -> None:
    gates = ("--feature-gates", "ShardedListAndWatch=true")
    out = " ".join(explain(url, "--kube-version", version, *gates)[1].split())
    assert (text in out) is warned


def test_names_from_a_client_never_reach_the_terminal_raw(explain: Any) -> None:
    _, out, _ = explain("/api/v1/pods?\x1b]0;x\x07=1")
    assert "\x1b" not in out and "\x07" not in out


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["explain", "--help"])
    assert exited.value.code == 0
    assert "ktui explain '/api/v1/pods?limit=500'" in capsys.readouterr().out


def test_it_imports_neither_screens_nor_networks() -> None:
    heavy = "textual, rich, grpc, httpx, asyncio, granian, aetcd"
    program = (
        "import sys; from ktui.cli.main import main; "
        "main(['explain', '/api/v1/pods?limit=5', '--kube-version', 'all']); "
        f"sys.exit(','.join(m for m in '{heavy}'.split(', ') if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_requester_caps_the_seats(explain: Any) -> None:
    user = document(explain, "/api/v1/pods", "--user", "bob")
    assert (user["seats"], user["priority_level"]) == ({"min": 1, "max": 8}, "global-default")
    agent = document(explain, "/api/v1/pods", "--account", "system:serviceaccount:kube-system:cilium")
    assert (agent["seats"]["max"], agent["priority_level"]) == (10, "workload-high")
    root = document(explain, "/api/v1/pods", "--user", "bob", "--group", "system:masters")
    assert (root["seats"]["max"], root["priority_level"]) == (10, "exempt"), (
        "who is exempt has no level to cap"
    )
    _, out, _ = explain("/api/v1/pods")
    assert "its priority level may" in out
    _, out, _ = explain("/api/v1/pods", "--kube-version", "1.24")
    assert "priority level" not in out, "no caps before 1.25"


@pytest.mark.parametrize("mark", ["✓", "✗"])
def test_what_the_cache_needs_is_met_or_not(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    gates = ["--feature-gates", f"ConsistentListFromCache={str(mark == '✓').lower()}"]
    assert main(["explain", "/api/v1/pods", "--kube-version", "1.33", *gates]) == 0
    (step,) = [line for line in capsys.readouterr().out.splitlines() if " ConsistentListFromCache " in line]
    assert step.split() == [mark, "ConsistentListFromCache", "on" if mark == "✓" else "off"]
