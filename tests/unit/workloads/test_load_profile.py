"""Load profiles: kperf's YAML unchanged, the same as TOML, and what is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ktui.workloads.load_profile import ProfileTarget
from ktui.workloads.registry import find_workload
from ktui.workloads.running.knobs import WorkloadError

KPERF = """
count: 1
loadProfile:
  version: 1
  description: "node100-pod10k"
  specs:
  - rate: 10
    total: 1000
    conns: 10
    client: 100
    contentType: json
    disableHTTP2: false
    maxRetries: 0
    requests:
    - staleList: {version: v1, resource: pods}
      shares: 1000
    - quorumList: {version: v1, resource: pods, limit: 1000, namespace: default, seletor: app=web}
      shares: 100
"""


# Three phases of one group, as kperf's own example of a replayed time series has them.
THREE = """
count: 10
loadProfile:
  version: 1
  description: a spike between two quiet times
  specs:
"""
for rate, shares in ((20, 7), (80, 6), (40, 8)):
    THREE += f"""  - {{duration: 1, rate: {rate}, conns: 4, client: 8, contentType: json, requests: [
      {{shares: {shares}, staleList: {{version: v1, resource: pods}}}},
      {{shares: {10 - shares}, quorumList: {{version: v1, resource: pods, limit: 100}}}}]}}
"""


def written(tmp_path: Path, text: str, name: str = "load.yaml") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_kperf_s_own_words(tmp_path: Path) -> None:
    workload = find_workload(written(tmp_path, KPERF))
    assert workload.name == "load"
    assert "node100-pod10k" in workload.sentence and "reads no quorum" in workload.sentence


def test_one_runner_of_a_group(tmp_path: Path) -> None:
    workload = find_workload(written(tmp_path, THREE))
    assert workload.sentence.startswith("a spike between two quiet times (one of the group's 10 runners)")


@pytest.mark.parametrize(
    "text",
    [
        KPERF.replace("  specs:\n  - rate", "  spec:\n    rate"),  # of earlier versions
        KPERF.replace("    total: 1000\n", ""),  # as long as the run
        KPERF.replace("shares: 100\n", "shares: 0\n"),
    ],
)
def test_what_kperf_reads_too(tmp_path: Path, text: str) -> None:
    assert text != KPERF and "node100-pod10k" in find_workload(written(tmp_path, text)).sentence


def test_the_same_as_toml(tmp_path: Path) -> None:
    text = (
        'description = "small"\n[[specs]]\ntotal = 3\n[[specs.requests]]\n'
        'shares = 1\nstaleList = {version = "v1", resource = "pods"}\n'
    )
    assert find_workload(written(tmp_path, text, "load.toml")).sentence == "small"


PATCHED = "specs: [{total: 1, requests: [{patch: {version: v1, resource: configmaps, %s}}]}]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KPERF.replace("seletor", "labels"), "labels"),
        ("specs: [{total: 1, requests: [{shares: 1, put: {}}]}]", "put is not supported"),
        (
            PATCHED % "name: a, patchType: apply, body: '{}'",
            "patchType is one of json, merge",
        ),
        (
            PATCHED % "name: a, patchType: merge, body: '{'",
            "body is not valid JSON",
        ),
        (PATCHED % "patchType: merge, body: '{}'", "give name"),
        (
            PATCHED % "name: a, keySpaceSize: 0, patchType: merge, body: '{}'",
            "at least 1",
        ),
        ("specs: [{total: 1, requests: [{shares: 1}]}]", "one of staleList"),
        ("specs: [{requests: []}]", "no requests with shares"),
        (
            "specs: [{total: 1, requests: [{shares: 0, staleList: {version: v1, resource: pods}}]}]",
            "with shares",
        ),
        (THREE.replace("duration: 1, ", "", 1), r"specs\[1\]: give total"),
        ("specs: [{total: 1, conns: 9999, requests: []}]", "conns 1 to 500"),
        (
            "specs: [{total: 1, requests: [{staleList: {version: v1, resource: pods, limit: 5}}]}]",
            "the cache ignores the limit",
        ),
        ("nothing: here", "specs"),
        ("- 1", "is not a load profile"),
        (": [", "cannot read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(WorkloadError, match=said):
        find_workload(written(tmp_path, text))


def test_a_missing_file() -> None:
    with pytest.raises(WorkloadError, match="cannot read"):
        find_workload("missing.yaml")


def test_paths() -> None:
    kperf = msgspec.convert({"resource": "pods", "version": "v1", "seletor": "app=web"}, ProfileTarget)
    assert kperf.path() == "/api/v1/pods?labelSelector=app%3Dweb"
    target = ProfileTarget(
        resource="deployments", version="v1", group="apps", namespace="shop", selector="app=web"
    )
    assert target.path(resourceVersion="0") == (
        "/apis/apps/v1/namespaces/shop/deployments?labelSelector=app%3Dweb&resourceVersion=0"
    )
    assert ProfileTarget(resource="pods", version="v1", name="a", namespace="b", limit=5).path() == (
        "/api/v1/namespaces/b/pods/a"
    )
