"""A real kubectl: what takes several commands or a WATCH; test_commands.py has the others."""

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
metadata: {{name: {name}, labels: {{app: live}}}}
spec: {{containers: [{{name: c, image: "registry.example.com/c:1"}}]}}
"""


@dataclass
class Kubectl:
    home: Path

    async def start(self, *words: str, reads: bool = False) -> asyncio.subprocess.Process:
        """Start kubectl. Unless it `reads` its input, it has none: it could end before that is written."""
        assert KUBECTL is not None
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.home / "config")}
        env["GOGC"] = "off"  # kubectl ends before it would need to collect garbage: a third less CPU time
        pipe = asyncio.subprocess.PIPE
        stdin = pipe if reads else asyncio.subprocess.DEVNULL
        return await asyncio.create_subprocess_exec(
            KUBECTL, *words, env=env, stdin=stdin, stdout=pipe, stderr=pipe
        )

    async def __call__(self, *words: str, stdin: str = "", ok: bool = True) -> str:
        process = await self.start(*words, reads=bool(stdin))
        out, err = await asyncio.wait_for(process.communicate(stdin.encode() or None), 60)
        assert (process.returncode == 0) is ok, err.decode() or out.decode()
        return (out if ok else err).decode()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kubectl(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubectl]:
    """kubectl with a kubeconfig of a server of its own, and namespace `shop`."""
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
        yield kubectl
    finally:
        server.terminate()
        await asyncio.wait_for(server.wait(), 60)


async def test_a_watch_prints_what_happens(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", stdin=POD.format(name="live-0"))
    process = await kubectl.start("get", "pods", "-l", "app=live", "-w", "-o", "name")
    assert process.stdout is not None
    try:
        # Once it has listed, nothing can be missed: it watches from the list's resourceVersion on.
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"pod/live-0\n"
        await kubectl("create", "-f", "-", stdin=POD.format(name="live-1"))
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"pod/live-1\n"
    finally:
        process.terminate()
        await process.wait()


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
