"""A real kubectl against the server. Skipped where there is none."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

KUBECTL = shutil.which("kubectl")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.kubectl,
    pytest.mark.etcd,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH"),
]

LAST = "kubectl.kubernetes.io/last-applied-configuration"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{url}"}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u, namespace: shop}}}}]
current-context: x
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {app}}}}}
spec: {{nodeName: {node}, containers: [{{name: c, image: "registry.example.com/c:1"}}]}}
"""


@dataclass
class Kubectl:
    home: Path

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        assert KUBECTL is not None
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.home / "config")}
        env["GOGC"] = "off"  # kubectl ends before it would need to collect garbage: a third less CPU time
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            KUBECTL, *words, env=env, stdin=pipe, stdout=pipe, stderr=pipe
        )

    async def __call__(self, *words: str, stdin: str = "", ok: bool = True) -> str:
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), 60)
        assert (process.returncode == 0) is ok, err.decode() or out.decode()
        return (out if ok else err).decode()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kubectl(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubectl]:
    """kubectl with a kubeconfig of a server of its own, and namespace `shop` with three pods."""
    home = tmp_path_factory.mktemp("kubectl")
    env = {**os.environ, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home), "HOME": str(home)}
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ktui", "serve", "--insecure-http", env=env, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        line = (await asyncio.wait_for(server.stdout.readline(), 60)).decode()
        (home / "config").write_text(KUBECONFIG.format(url=line.split()[-1]))
        kubectl = Kubectl(home)
        await kubectl("create", "namespace", "shop")
        for name, app, node in (("web-1", "web", "n1"), ("web-2", "web", "n2"), ("db-1", "db", "n1")):
            await kubectl("create", "-f", "-", stdin=POD.format(name=name, app=app, node=node))
        yield kubectl
    finally:
        server.terminate()
        await asyncio.wait_for(server.wait(), 30)


async def test_namespaces_in_a_table(kubectl: Kubectl) -> None:
    lines = (await kubectl("get", "namespaces")).splitlines()
    assert lines[0].split() == ["NAME", "STATUS", "AGE"]
    names = [line.split()[0] for line in lines[1:] if line.split()[1] == "Active"]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system", "shop"]


async def test_pods_by_label_and_node(kubectl: Kubectl) -> None:
    words = ("get", "pods", "-A", "-l", "app=web", "--field-selector", "spec.nodeName=n1")
    lines = (await kubectl(*words)).splitlines()
    assert lines[0].split()[:3] == ["NAMESPACE", "NAME", "READY"]
    assert [line.split()[1] for line in lines[1:]] == ["web-1"]
    assert (await kubectl(*words, "-o", "name")).split() == ["pod/web-1"]


async def test_wide_and_json(kubectl: Kubectl) -> None:
    wide = (await kubectl("get", "pods", "-o", "wide")).splitlines()
    assert "NODE" in wide[0] and "n2" in " ".join(wide)
    pod = json.loads(await kubectl("get", "pod", "web-1", "-o", "json"))
    assert (pod["kind"], pod["apiVersion"], pod["spec"]["nodeName"]) == ("Pod", "v1", "n1")
    listed = json.loads(await kubectl("get", "pods", "-l", "app=web", "-o", "json"))
    assert [item["metadata"]["name"] for item in listed["items"]] == ["web-1", "web-2"]


async def test_what_is_not_there(kubectl: Kubectl) -> None:
    assert "NotFound" in await kubectl("get", "pod", "none", ok=False)
    assert "doesn't have a resource type" in await kubectl("get", "nonsense", ok=False)


async def test_a_watch_prints_what_happens(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", stdin=POD.format(name="live-0", app="live", node="n1"))
    process = await kubectl.start("get", "pods", "-l", "app=live", "-w", "-o", "name")
    assert process.stdout is not None
    try:
        # Once it has listed, nothing can be missed: it watches from the list's resourceVersion on.
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"pod/live-0\n"
        await kubectl("create", "-f", "-", stdin=POD.format(name="live-1", app="live", node="n1"))
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"pod/live-1\n"
    finally:
        process.terminate()
        await process.wait()


async def test_create_apply_and_delete(kubectl: Kubectl) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{k: {value}}}\n"
    assert "created" in await kubectl("create", "-f", "-", stdin=manifest.format(value="one"))
    assert "AlreadyExists" in await kubectl("create", "-f", "-", stdin=manifest.format(value="x"), ok=False)
    await kubectl("apply", "-f", "-", stdin=manifest.format(value="two"))
    assert "unchanged" in await kubectl("apply", "-f", "-", stdin=manifest.format(value="two"))
    assert await kubectl("get", "cm", "c", "-o", "jsonpath={.data.k}") == "two"
    await kubectl("label", "cm", "c", "a=b")
    assert "c" in await kubectl("get", "cm", "-l", "a=b", "-o", "name")
    assert "deleted" in await kubectl("delete", "cm", "c")


async def test_a_typo_is_refused(kubectl: Kubectl) -> None:
    typo = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t}\ndatta: {k: v}\n"
    assert 'unknown field "datta"' in await kubectl("create", "-f", "-", stdin=typo, ok=False)


async def test_what_must_not_change_is_told(kubectl: Kubectl) -> None:
    error = await kubectl("patch", "pod", "web-1", "-p", '{"spec": {"nodeName": "n2"}}', ok=False)
    assert (
        'The Pod "web-1" is invalid: spec: Forbidden: pod updates may not change fields other than' in error
    )
    assert '- spec.nodeName: "n1"\n+ spec.nodeName: "n2"' in error
    await kubectl("set", "image", "pod/web-1", "c=registry.example.com/c:2")


async def test_a_pod_is_described_and_deleted(kubectl: Kubectl) -> None:
    assert "Node:" in await kubectl("describe", "pod", "db-1")
    assert "deleted" in await kubectl("delete", "pod", "db-1", "--grace-period=0", "--force")


APPLIED = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: both-ways, labels: {{app: web}}, annotations: {{a: b}}}}
data: {{{data}}}
---
apiVersion: v1
kind: Service
metadata: {{name: both-ways}}
spec: {{selector: {{app: web}}, ports: [{{port: 80, name: http}}]}}
"""


async def test_apply_on_the_server_after_an_apply_on_the_client(kubectl: Kubectl) -> None:
    """kubectl makes its former manager an applier, and applies what was applied already."""
    first = APPLIED.format(data='k: "1", l: "2", m: "3"')
    await kubectl("apply", "-f", "-", stdin=first)
    for data in ('k: "1", l: "2"', 'k: "1"', 'k: "1", o: "4"'):
        await kubectl("apply", "--server-side", "-f", "-", stdin=APPLIED.format(data=data))
        read = json.loads(await kubectl("get", "configmap/both-ways", "-o", "json"))
        assert read["data"].keys() == {part.split(":")[0] for part in data.split(", ")}
        assert read["metadata"]["labels"] == {"app": "web"}
        assert json.loads(read["metadata"]["annotations"].pop(LAST))["data"] == read["data"]
        assert read["metadata"]["annotations"] == {"a": "b"}
    await kubectl("apply", "-f", "-", stdin=first)
    await kubectl("delete", "configmap/both-ways", "service/both-ways")


async def test_taints_of_one_key_come_and_go(kubectl: Kubectl) -> None:
    """kubectl sends the whole list, which is atomic: two effects of one key are two taints."""

    async def taints() -> list[str]:
        read = json.loads(await kubectl("get", "node/tainted", "-o", "json"))
        return sorted(taint["effect"] for taint in read["spec"]["taints"] if taint["key"] == "k")

    await kubectl(
        "create", "-f", "-", stdin='{"apiVersion":"v1","kind":"Node","metadata":{"name":"tainted"}}'
    )
    await kubectl("taint", "node", "tainted", "k=v:NoSchedule", "k=v:NoExecute")
    assert await taints() == ["NoExecute", "NoSchedule"]
    await kubectl("taint", "node", "tainted", "k:NoExecute-")
    assert await taints() == ["NoSchedule"]
    await kubectl("taint", "node", "tainted", "k-")
    assert await taints() == []
    await kubectl("delete", "node/tainted")
