"""`ktui bench` at a real server."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ktui.cli.main import main
from ktui.client.connection import ServerConnection
from tests.etcd.cli.conftest import SIZE


def bench(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["bench", *words, "--repeat", "1", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_nine_lists(
    server: ServerConnection, behave: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    behave("1.24")
    found = bench(capsys, "cilium-agent")
    lists = found["lists"]
    assert (len(lists), found["node"]) == (9, "node-01")
    processed = [row["bytes"]["processed"] for row in lists]
    assert processed == sorted(processed, reverse=True)
    assert [row["path"] for row in lists if row["route"] == "etcd"] == [
        "/api/v1/services?labelSelector=!service.kubernetes.io/headless"
    ]
    assert all(row["predicted"]["agrees"] for row in lists)
    pods = next(row for row in lists if row["path"].startswith("/api/v1/pods"))
    assert pods["without_selector"]["items"] == SIZE.pods
    assert pods["bytes"]["processed"] < pods["without_selector"]["bytes"]["processed"] / 4


def test_extrapolated_to_more_nodes(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    found = bench(capsys, "cilium-agent", "--nodes", str(10 * SIZE.nodes), "--no-without")
    many = found["extrapolated"]
    assert (many["agents"], many["growth"], many["measured"]) == (10 * SIZE.nodes, 10.0, False)
    nodes = next(row for row in found["lists"] if "ciliumnodes" in row["path"])
    expected = nodes["bytes"]["processed"] * 10 * 10 * SIZE.nodes
    assert nodes["extrapolated"]["processed_bytes"] == expected
    assert all(row["without_selector"] is None for row in found["lists"])


@pytest.mark.parametrize("plan", ["kubelet", "kube-proxy", "kubectl-user", "helm", "informer-restart"])
def test_every_plan_is_answered(
    server: ServerConnection, plan: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = bench(capsys, plan, "--no-without")["lists"]
    assert [row["status"] for row in lists] == [200] * len(lists)
    assert all(row["predicted"]["agrees"] for row in lists)
    assert {row["client"] for row in lists} != {""}


def test_a_table_and_markdown(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "helm", "--repeat", "1"]) == 0
    assert "helm list -A" in capsys.readouterr().out
    assert main(["bench", "helm", "--repeat", "1", "--markdown"]) == 0
    assert "| --- |" in capsys.readouterr().out
