"""`ktui mcp` as a process, asked by the SDK's own client over its standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ktui.audit.formats.log_record import LoggedRequest
from ktui.cli.agents.answers import MOST_BYTES, Masks, ToolProblem, fitted
from ktui.cli.agents.tools import TOOLS
from ktui.cli.main import main
from tests.lazily import Lazily
from tests.unit.audit.logs import audit_event
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, serving

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
mcp = Lazily("mcp")

POD = json.dumps(
    {"kind": "Pod", "metadata": {"name": "p", "namespace": "payments"}, "spec": {"x": "y" * 900}}
)
PAGE = '{"kind":"PodList","apiVersion":"v1","metadata":{"remainingItemCount":%d},"items":[%s]}'
FORBIDDEN = json.dumps({
    "kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden",
    "message": 'secrets is forbidden: User "jane@payments.example" cannot list resource "secrets"',
})  # fmt: skip


class Cluster(Recorded):
    """The recorded pages, with 30,000 pods of which one may be read, and Secrets that may not."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = 0

    def answer(self, replica: int, path: str, user: str) -> Answer:
        if path == "/metrics":
            self.pages += 1
            self.moment = FIRST if self.pages <= 6 else LAST
        if path == "/api/v1/pods?limit=1":
            return 200, "application/json", (PAGE % (29_999, POD)).encode()
        if path == "/api/v1/secrets?limit=1":
            return 403, "application/json", FORBIDDEN.encode()
        return super().answer(replica, path, user)


@asynccontextmanager
async def agent(home: Path, *words: str) -> AsyncIterator[Any]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KTUI_", "KUBECONFIG"))}
    own = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "ktui", "mcp", *words], env=kept | own
    )
    with (home / "stderr").open("w") as err:
        async with (
            mcp.stdio_client(parameters, err) as (read, write),
            mcp.ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session


async def ask(session: Any, tool: str, **arguments: Any) -> Any:
    """Return a tool's document; its text has at most 4 KB."""
    answer = await session.call_tool(tool, arguments)
    (content,) = answer.content
    assert content.type == "text" and not answer.is_error, content
    assert len(content.text.encode()) <= MOST_BYTES
    return json.loads(content.text)


async def error(session: Any, tool: str, **arguments: Any) -> str:
    answer = await session.call_tool(tool, arguments)
    (content,) = answer.content
    assert answer.is_error and content.type == "text"
    assert "Traceback" not in content.text and "\n" not in content.text
    return content.text


def kubeconfig(home: Path, url: str) -> str:
    path = home / "config"
    document = {
        "current-context": "prod",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "admin"}}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(json.dumps(document))
    return str(path)


def read_only_and_with_schemas(tools: list[Any]) -> None:
    assert [tool.name for tool in tools] == [
        "explain_request", "compare_versions", "estimate_list", "rank_clients", "cluster_findings",
    ]  # fmt: skip
    for tool in tools:
        assert tool.annotations is not None and tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.description and tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in each for each in tool.input_schema["properties"].values())


async def test_the_tools_are_read_only_say_what_ktui_explain_says_and_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/api/v1/pods?limit=500&resourceVersion=0"
    assert main(["explain", path, "--kube-version", "1.30", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["explain", path, "--kube-version", "all", "--json"]) == 0
    routes = {each["kube_version"]: each["reason_id"] for each in json.loads(capsys.readouterr().out)}
    async with agent(tmp_path) as session:
        read_only_and_with_schemas((await session.list_tools()).tools)
        found = await ask(session, "explain_request", path=path, kube_version="1.30")
        compared = await ask(session, "compare_versions", path=path)
        assert await error(session, "explain_request", path=path, kube_version="1.99") == (
            "unknown Kubernetes version '1.99': choose one of 1.19 to 1.38 (1.38: 1.38.0-alpha.2)"
        )
        assert "no resource 'nosuch'" in await error(session, "compare_versions", path="/api/v1/nosuch")
        assert "compare_versions has all" in await error(
            session, "explain_request", path=path, kube_version="all"
        )
        await wrong_calls_are_named(session)
    for name in ("route", "reason_id", "reason", "limit_honoured", "seats", "cheaper"):
        assert found[name] == told[name]
    assert len(found["steps"]) == len(told["steps"])
    rows = compared["newest_first"]
    assert rows[0]["versions"].endswith(list(routes)[-1]) and rows[-1]["versions"].startswith("1.19")
    assert {row["reason_id"] for row in rows} == set(routes.values())


async def wrong_calls_are_named(session: Any) -> None:
    """Of a process without options, too: it takes a second of CPU time to start."""
    unknown = f"there is no tool 'drop_tables'; tools: {', '.join(TOOLS)}"
    assert await error(session, "drop_tables") == unknown
    assert "missing required field `path`" in await error(session, "explain_request")
    assert "unknown field `force`" in await error(session, "estimate_list", path="/api/v1/pods", force=True)
    assert "Expected `str`" in await error(session, "explain_request", path=5)
    assert "Invalid enum value" in await error(session, "explain_request", path="/a", verb="delete")
    assert "cannot read the kubeconfig" in await error(session, "estimate_list", path="/api/v1/pods")
    assert "ktui mcp --logs PATH" in await error(session, "rank_clients", log="audit.log")


async def test_estimates_and_findings_of_a_cluster(tmp_path: Path) -> None:
    with serving(Cluster()) as cluster:
        async with agent(tmp_path, "--kubeconfig", kubeconfig(tmp_path, cluster.url)) as session:
            found = await ask(session, "estimate_list", path="/api/v1/pods")
            refused = await error(session, "estimate_list", path="/api/v1/secrets")
            findings = await ask(session, "cluster_findings", seconds=5)
        paths = {path for _, path in cluster.requests}
    assert found["collection"]["objects"] == 30_000
    assert found["estimated"]["returned"] == 30_000 and found["estimated"]["seats"] >= 10
    assert found["predicted"]["route"] == "cache"
    assert "/api/v1/pods" not in paths, "the LIST itself is not sent"
    assert refused.startswith("the server refuses this LIST: 403") and "jane" not in refused
    assert findings["version"] == "1.36" and findings["replicas"]["reached"] == 2
    assert {item["id"] for item in findings["findings"]} == {"cluster-wide-secrets", "polled"}
    assert {item["resource"] for item in findings["resources"]} >= {"pods"}
    assert {method for method, _ in cluster.requests} == {"GET"}


async def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    async with agent(tmp_path, "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:9")) as session:
        for tool, arguments in (("estimate_list", {"path": "/api/v1/pods"}), ("cluster_findings", {})):
            assert "no server answers at <address>" in await error(session, tool, **arguments)
        assert await ask(session, "compare_versions", path="/api/v1/pods")


def log_lines() -> bytes:
    at = 1_795_000_000_000_000
    requests = [
        LoggedRequest(
            verb="list", at=at + n, took=900_000, code=200, done=True, agent=agent, user=user,
            uri=f"/api/v1/namespaces/{namespace}/pods?labelSelector=app%3Dledger",
        )
        for n in range(40)
        for agent, user, namespace in (
            ("billing-bot/v1.2 (linux)", "system:serviceaccount:payments:billing", "payments"),
            ("kubectl/v1.30.1 (linux/amd64)", "kubernetes-admin", "kube-system"),
        )
    ]  # fmt: skip
    return b"\n".join(map(audit_event, requests)) + b"\n"


async def test_clients_are_ranked_and_masked(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "audit.log").write_bytes(log_lines())
    (logs / "empty.log").write_text("nothing\n")
    (tmp_path / "other.log").write_bytes(log_lines())
    async with agent(tmp_path, "--logs", str(logs)) as session:
        found = await ask(session, "rank_clients", log="audit.log")
        again = await ask(session, "rank_clients", log=str(logs / "audit.log"), top=1)
        for outside in ("../other.log", "/etc/passwd", "missing.log", "-"):
            assert "there is no log" in await error(session, "rank_clients", log=outside)
        assert "no request was found" in await error(session, "rank_clients", log="empty.log")
        assert "Expected `int` <= 50" in await error(session, "rank_clients", log="audit.log", top=99)
    text = json.dumps(found)
    assert not any(name in text for name in ("payments", "billing", "ledger"))
    assert {group["count"] for group in found["groups"]} == {40}
    clients = {group["client"]: group for group in found["groups"]}
    assert "kubectl" in " ".join(clients), "names that every cluster has are kept"
    assert "/namespaces/kube-system/" in text
    assert again["groups"][0]["request"] == found["groups"][0]["request"], "the same word for the same name"
    assert (again["groups_total"], len(again["groups"])) == (2, 1)
    async with agent(tmp_path, "--logs", str(logs), "--allow-names") as session:
        named = json.dumps(await ask(session, "rank_clients", log="audit.log"))
    assert all(name in named for name in ("payments", "billing-bot", "ledger"))


async def test_it_ends_with_its_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ktui", "mcp"], stdin=subprocess.DEVNULL, capture_output=True, check=False,
        timeout=100, env=dict(os.environ) | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--logs", str(tmp_path / "gone")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err


_WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "mcp":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from ktui.cli.main import main
sys.exit(main(["mcp"]))
"""


def test_without_the_sdk_it_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("ktui: `ktui mcp` needs the MCP SDK: pip install ")
    assert done.stderr.rstrip().rstrip("'").endswith("[mcp]")


def test_an_answer_fits_and_says_what_it_left_out() -> None:
    small = {"a": 1, "rows": [1, 2]}
    assert fitted(small, ("rows",)) == '{"a":1,"rows":[1,2]}'
    rows = [{"n": n, "text": "x" * 100} for n in range(100)]
    large = json.loads(fitted({"rows": rows, "more": ["y" * 50] * 10, "why": "w" * 1000}, ("more", "rows")))
    assert large["left_out"]["more"] == 10 and large["left_out"]["texts_cut"] == 1
    assert large["left_out"]["rows"] + len(large["rows"]) == 100 and large["rows"][0] == rows[0]
    assert large["why"] == "w" * 399 + "…"
    wide = json.loads(fitted({"texts": {str(n): "ü" * 300 for n in range(20)}}))
    assert wide["left_out"] == {"texts_cut": 20}
    with pytest.raises(ToolProblem, match="more than 4096 bytes: ask for less"):
        fitted({"keys": {str(n): n for n in range(2000)}})


def test_masks_keep_what_every_cluster_has() -> None:
    masks = Masks(allow=False)
    url = masks.url("/api/v1/namespaces/payments/pods?labelSelector=app%3Dledger&limit=5")
    assert url.startswith("/api/v1/namespaces/n") and "payments" not in url and "ledger" not in url
    assert url.endswith("&limit=5")
    assert masks.url("/api/v1/namespaces/kube-system/pods") == "/api/v1/namespaces/kube-system/pods"
    assert masks.names.name("payments") == masks.names.name("payments") in masks.text("ns payments is full")
    assert masks.text("no server answers at https://10.0.0.1:6443") == "no server answers at <address>"
    allowed = Masks(allow=True)
    assert allowed.url("/api/v1/namespaces/payments/pods") == "/api/v1/namespaces/payments/pods"
    assert "tls" not in allowed.url("/api/v1/namespaces/payments/secrets/tls-cert")
