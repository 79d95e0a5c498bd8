"""`ktui list` at a real server: what it says was measured, not made up."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.main import main
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from tests.etcd.cli.conftest import SIZE, Run

NODE_PODS = "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-01"
Behave = Callable[[str], None]


@pytest.fixture
def fire(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    def fire(*words: str, status: int = 0) -> dict[str, Any]:
        assert main(["list", *words, "--json"]) == status
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return fire


Fire = Callable[..., dict[str, Any]]


def test_the_articles_story(fire: Fire, behave: Behave) -> None:
    """Before 1.31 one node's pods are every pod from etcd; with resourceVersion=0 a fraction."""
    behave("1.24")
    found = fire(NODE_PODS, "--try")
    assert (found["route"], found["predicted"]["route"], found["predicted"]["agrees"]) == (
        "etcd",
        "etcd",
        True,
    )
    assert found["etcd"]["keys"] == found["objects"]["fetched"] == SIZE.pods
    assert 0 < found["items"] < SIZE.pods / 4
    assert found["bytes"]["processed"] == found["etcd"]["bytes"] > 100_000
    cheaper = next(form for form in found["cheaper"] if form["id"] == "a.rv0")
    measured = cheaper["measured"]
    assert (measured["route"], measured["etcd"]["keys"]) == ("cache", 0)
    assert measured["items"] == measured["objects"]["fetched"] == found["items"]
    trial = cheaper["trial"]
    assert (trial["runs"], trial["verdict"]) == (5, "saves")
    processed = trial["figures"]["processed_bytes"]
    assert processed["original"]["median"] > processed["variant"]["median"] * SIZE.nodes / 3
    assert processed["difference"] == trial["figures"]["etcd_keys"]["difference"] == "less"


SENT = "apiserver_response_sizes_sum"
READ = {"cache": "apiserver_cache_list", "etcd": "apiserver_storage_list"}


def test_a_trial_agrees_with_what_metrics_have_counted(
    server: ServerConnection, fire: Fire, behave: Behave, in_loop: Run
) -> None:
    """Six LISTs each: the one that only warms up and the five that count."""
    behave("1.30")
    before = in_loop(_list_counters(server))
    # Short enough not to be compressed: how short gzip makes the same text depends on the pieces it comes in.
    found = fire(f"{NODE_PODS}&labelSelector=k8s-app%3Dcilium", "--try")
    after = in_loop(_list_counters(server))
    assert found["items"] > 0
    (cheaper,) = found["cheaper"]
    figures = cheaper["trial"]["figures"]
    asked, sent = before[SENT], 0.0
    for side, route, times in (("original", "etcd", 7), ("variant", "cache", 6)):  # one more: the first
        total, fetched = f"{READ[route]}_total", f"{READ[route]}_fetched_objects_total"
        assert after[total] - before[total] == times
        assert after[fetched] - before[fetched] == times * figures["fetched"][side]["median"]
        sent += times * figures["sent_bytes"][side]["median"]
    # A revision may gain a digit between two runs, in the list and in a pod.
    assert abs(after[SENT] - asked - sent) < 100


async def _list_counters(server: ServerConnection) -> Counter[str]:
    """The counters of LISTs of pods."""
    client = ApiClient(server)
    text = (await client.request("GET", "/metrics")).text
    await client.close()
    found: Counter[str] = Counter()
    for line in text.splitlines():
        if 'resource="pods"' in line or 'resource_prefix="/pods"' in line or 'resource_prefix="pods"' in line:
            name, _, value = line.partition("{")
            if name != SENT or 'verb="LIST"' in line:
                found[name] += float(value.rpartition(" ")[2])  # type: ignore[assignment]
    return found


def test_the_version_decides(fire: Fire, behave: Behave) -> None:
    behave("1.36")
    assert fire(NODE_PODS)["route"] == "cache"
    behave("1.30")
    assert fire(NODE_PODS)["route"] == "etcd"


def test_all_pages(fire: Fire, behave: Behave) -> None:
    behave("1.30")
    one = fire("/api/v1/pods?limit=50")
    every = fire("/api/v1/pods?limit=50", "--all-pages")
    assert (one["pages"], one["items"]) == (1, 50)
    assert (every["pages"], every["items"]) == (-(-SIZE.pods // 50), SIZE.pods)
    assert every["etcd"]["keys"] >= SIZE.pods
    assert every["bytes"]["encoded"] == every["bytes"]["received"]


def test_repeat_takes_the_median(fire: Fire) -> None:
    found = fire("/api/v1/nodes?resourceVersion=0", "--repeat", "3")
    assert found["runs"]["count"] == 3
    assert found["ms"]["total"] == sorted(found["runs"]["ms"])[1]


def test_an_object(fire: Fire) -> None:
    found = fire("/api/v1/nodes/node-01")
    assert (found["status"], found["items"], found["route"]) == (200, 0, "etcd")
    assert found["rv"].isdigit()


@pytest.mark.parametrize(
    ("path", "code"),
    [("/api/v1/pods?limit=x", 400), ("/api/v1/namespaces/none/pods/none", 404), ("/nowhere", 404)],
)
def test_an_error_answer_is_status_1(fire: Fire, path: str, code: int) -> None:
    found = fire(path, status=1)
    assert found["status"] == code
    assert found["message"]


def test_bodies_are_saved_page_by_page(fire: Fire, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    fire("/api/v1/nodes?limit=3", "--all-pages", "--save-body", str(file))
    decoder, text, nodes = json.JSONDecoder(), file.read_text(), []
    while text.strip():
        page, end = decoder.raw_decode(text.lstrip())
        nodes += [item["metadata"]["name"] for item in page["items"]]
        text = text.lstrip()[end:]
    assert nodes == [f"node-{number:02d}" for number in range(1, SIZE.nodes + 1)]


def test_a_file_that_cannot_be_written(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "/api/v1/nodes", "--save-body", "/nowhere/body"]) == 2
    assert "cannot write /nowhere/body" in capsys.readouterr().err


def test_for_people(server: ServerConnection, behave: Behave, capsys: pytest.CaptureFixture[str]) -> None:
    behave("1.24")
    assert main(["list", NODE_PODS, "--try"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("E etcd because no resourceVersion")
    assert f"{SIZE.pods} scanned" in said
    assert "predicted = E etcd (1.24" in said
    assert "of bytes processed" in said and "etcd keys 240 0 less" in said


@pytest.mark.parametrize("version", ["1.24", "1.36"])
def test_an_estimate_agrees_with_what_the_list_then_costs(version: str, fire: Fire, behave: Behave) -> None:
    behave(version)
    found = fire(NODE_PODS, "--estimate")
    sent = fire(NODE_PODS)
    assert found["collection"]["path"] == "/api/v1/pods"
    assert found["collection"]["objects"] == SIZE.pods
    assert found["predicted"]["route"] == sent["route"]
    assert found["estimated"]["returned"] is None, "a selector decides"
    if version == "1.24":
        assert found["estimated"]["objects_read"] == sent["objects"]["fetched"] == SIZE.pods
    for path in ("/api/v1/pods?limit=100", "/api/v1/pods?limit=100&resourceVersion=0"):
        assert fire(path, "--estimate")["estimated"]["returned"] == fire(path)["items"], path


def test_an_estimate_of_what_is_no_list_or_not_there(
    server: ServerConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "/api/v1/namespaces/x/pods/p", "--estimate"]) == 2
    assert "is a GET: an estimate is made of a LIST" in capsys.readouterr().err
    assert main(["list", "/apis/example.com/v1/things", "--estimate"]) == 1
    assert "404" in capsys.readouterr().err
    assert main(["list", "/api/v1/namespaces/empty/pods", "--estimate"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("0 objects in /api/v1/namespaces/empty/pods\n") and "decision trace" in out


def test_by_kubeconfig_the_cost_comes_from_the_counters(
    server: ServerConnection, fire: Fire, behave: Behave, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kubeconfig"]) == 0
    kubeconfig = capsys.readouterr().out.strip()
    for version in ("1.24", "1.36"):
        behave(version)
        found = fire(NODE_PODS, "--kubeconfig", kubeconfig)
        assert found["route"] == ("etcd" if version == "1.24" else "cache")
        assert found["predicted"]["agrees"] is True
        assert found["predicted"]["cache_assumed_ready"] is True
        fetched = SIZE.pods if version == "1.24" else found["items"]
        assert found["objects"]["fetched"] == fetched
        assert found["etcd"]["bytes"] is None
        assert any("other clients" in remark for remark in found["remarks"])
