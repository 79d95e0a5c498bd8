"""`ktui serve --snapshot …`: files as people have them."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ktui.etcd.binary import packaged_binary
from ktui.etcd.client_config import EtcdConfig
from tests.etcd.cli.test_connecting import furnish
from tests.etcd.members import cluster_of, enable_auth
from tests.etcd.serving import Served, refused, serving
from tests.unit.wire.corpus import identical
from tools.fidelity.recordings import ORACLE, lines

HASH_BYTES, PAGE = 32, 4096
pytestmark = pytest.mark.anyio

KUBECTL = shutil.which("kubectl")
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{url}"}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""


def save(endpoint: str, file: Path) -> Path:
    """What `etcdctl snapshot save` makes of a running etcd."""
    binary = packaged_binary()
    etcdctl = binary and binary.sibling("etcdctl")
    assert etcdctl is not None
    command = [etcdctl, f"--endpoints={endpoint}", "snapshot", "save", file]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "ETCDCTL_API": "3"})
    return file


@pytest.fixture(scope="module")
async def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A snapshot of an empty etcd."""
    folder = tmp_path_factory.mktemp("whole")
    async with cluster_of(1, folder) as (member,):
        return save(member.endpoint, folder / "whole.db").read_bytes()


async def test_another_prefix_gzipped(tmp_path: Path) -> None:
    async with cluster_of(1, tmp_path) as (member,):
        await furnish(EtcdConfig((member.endpoint,), read_only=False), "/kubernetes.io")
        file = save(member.endpoint, tmp_path / "nightly.db")
    packed = tmp_path / "nightly.db.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    async with serving(tmp_path, "--snapshot", str(packed)) as served:
        found = await served.until("/api/v1/configmaps", lambda listed: "items" in listed)
        assert [item["metadata"]["name"] for item in found["items"]] == ["c"]
        info = await served.json("/ktui/v1/info")
        assert (info["etcd_prefix"], info["etcd_kind"], info["name"]) == (
            "/kubernetes.io",
            "snapshot",
            "nightly.db.gz",
        )
        assert not info["writable"] and "warnings" not in info
        refusal = await served.http.post("/api/v1/namespaces", json={"metadata": {"name": "n"}})
        assert refusal.status_code == 403


async def test_a_members_file_off_its_disk_with_users_in_it(tmp_path: Path) -> None:
    async with cluster_of(1, tmp_path) as (member,):
        config = EtcdConfig((member.endpoint,), read_only=False)
        await furnish(config)
        await enable_auth(config)
        await member.kill()
    file = tmp_path / "m0" / "member" / "snap" / "db"
    async with serving(tmp_path, "--snapshot", str(file), "--user", "reader:reader") as served:
        assert (await served.json("/api/v1/namespaces/shop/configmaps/c"))["data"] == {"a": "b"}
        (warning,) = (await served.json("/ktui/v1/info"))["warnings"]
        assert warning == "db has no hash (a copy of a member's db?): it is used unchecked"
    assert f"ktui: warning: {warning}\n" in served.said
    status, said = await refused(tmp_path, "--snapshot", str(file))
    assert status == 3 and "check --user" in said


async def test_what_is_no_snapshot(whole: bytes, tmp_path: Path) -> None:
    """One of them: tests/etcd/etcd/test_snapshot.py has all."""
    file = tmp_path / "half.db"
    file.write_bytes(whole[: len(whole) // 2])
    status, said = await refused(tmp_path, "--snapshot", str(file))
    assert status == 3 and "half.db: the file is truncated" in said and said.count("\n") == 1, said


async def test_a_damaged_database_is_reported_without_source_paths(whole: bytes, tmp_path: Path) -> None:
    """Without a hash only etcdutl notices, and crashes."""
    damaged = bytearray(whole[:-HASH_BYTES])
    for start in range(2 * PAGE, len(damaged), PAGE):
        damaged[start : start + PAGE] = b"\xff" * PAGE
    (tmp_path / "damaged.db").write_bytes(damaged)
    status, said = await refused(tmp_path, "--snapshot", str(tmp_path / "damaged.db"))
    assert status == 3 and "damaged.db: the database in it is damaged (" in said, said
    assert ".go" not in said and "goroutine" not in said and said.count("\n") == 1, said


@pytest.mark.timeout(300)
async def test_every_object_of_a_recorded_cluster(tmp_path: Path) -> None:
    """By HTTP from etcd and from the cache, and a dozen resources by a real kubectl."""
    rows = list(lines(ORACLE / "objects.jsonl.xz"))
    async with serving(tmp_path, "--snapshot", str(ORACLE / "cluster.snapshot.db.gz")) as served:
        wrong = []
        for row in rows:
            answer = await served.http.get(row["url"])
            if answer.status_code != 200 or not identical(answer.json(), row["body"]):
                wrong.append(row["url"])
        assert wrong == [] and len(rows) > 1_000
        await ask_kubectl(served, rows, tmp_path)


async def ask_kubectl(served: Served, rows: list[dict[str, Any]], directory: Path) -> None:
    if KUBECTL is None:
        return
    config = directory / "kubeconfig"
    config.write_text(KUBECONFIG.format(url=served.url))
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "KUBECONFIG": str(config)}
    by_url = {row["url"]: row["body"] for row in rows}
    done = subprocess.run(
        [KUBECTL, "get", ",".join(KUBECTL_RESOURCES), "-A", "-o", "json", "--show-managed-fields"],
        env=env,
        capture_output=True,
        timeout=100,
        check=True,
    )
    of_each = groupby(json.loads(done.stdout)["items"], key=lambda item: (item["apiVersion"], item["kind"]))
    for resource, (_, group) in zip(KUBECTL_RESOURCES, of_each, strict=True):  # in the order asked for
        items = list(group)
        version, plural = items[0]["apiVersion"], resource.partition(".")[0]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for item in items:
            namespace = item["metadata"].get("namespace")
            scope = f"{root}/namespaces/{namespace}" if namespace else root
            assert identical(item, by_url.pop(f"{scope}/{plural}/{item['metadata']['name']}"))
        ours = re.compile(f"{re.escape(root)}(/namespaces/[^/]+)?/{plural}/[^/]+")
        assert not [url for url in by_url if ours.fullmatch(url)], "kubectl has shown them all"


KUBECTL_RESOURCES = (
    *(
        "pods",
        "nodes",
        "services",
        "configmaps",
        "secrets",
        "namespaces",
        "deployments.apps",
        "replicasets.apps",
    ),
    *("events", "leases.coordination.k8s.io", "clusterroles.rbac.authorization.k8s.io"),
    *("customresourcedefinitions.apiextensions.k8s.io", "ciliumnodes.cilium.io", "widgets.example.io"),
)
