"""`ktui serve --etcd …` against etcds as clusters run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.injection import Proxy
from ktui.telemetry.bus import Bus
from tests.etcd.certificates import Authority
from tests.etcd.members import cluster_of, enable_auth, server_flags
from tests.etcd.ports import reserved_ports
from tests.etcd.serving import refused, serving

pytestmark = pytest.mark.anyio

NAMESPACE = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s","uid":"u"}}'
CONFIG_MAP = (
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"shop"},"data":{"a":"b"}}'
)


async def furnish(config: EtcdConfig, prefix: str = "/registry") -> None:
    """The namespaces `default` and `shop`, and one ConfigMap."""
    client = await EtcdClient.connect(config, Bus())
    for name in ("default", "shop"):
        await client.create(f"{prefix}/namespaces/{name}".encode(), NAMESPACE % name.encode())
    await client.create(f"{prefix}/configmaps/shop/c".encode(), CONFIG_MAP % b"c")
    await client.close()


async def test_one_of_three_endpoints_is_dead_and_another_dies(tmp_path: Path) -> None:
    async with cluster_of(3, tmp_path) as members:
        endpoints = tuple(member.endpoint for member in members)
        await furnish(EtcdConfig(endpoints, read_only=False))
        await members[0].kill()
        async with serving(tmp_path, "--etcd", ",".join(endpoints), "--allow-writes") as served:
            path = "/api/v1/namespaces/shop/configmaps?resourceVersion=0"
            found = await served.until(path, lambda listed: "items" in listed)
            assert [item["metadata"]["name"] for item in found["items"]] == ["c"]
            # The cluster has no quorum any more: told, not hung.
            await members[1].kill()
            await served.until("/readyz?verbose", lambda text: "[-]etcd failed" in str(text), 60)
            answer = await served.http.get(path)  # the cache goes on, as it does upstream
            assert answer.status_code == 200 and answer.headers["x-ktui-route"] == "cache"
            cluster = ",".join(f"{member.name}={member.peer}" for member in members)
            await members[0].start(cluster)
            await served.until("/api/v1/namespaces/shop/configmaps/c", lambda found: "data" in found)
            await served.until("/readyz", lambda text: text == "ok")
            body = {"metadata": {"name": "new"}}
            created = await served.http.post("/api/v1/namespaces/shop/configmaps", json=body)
            assert created.status_code == 201, created.text
            await served.until(path, lambda listed: len(listed.get("items", [])) == 2)


async def test_an_etcd_that_accepts_connections_and_answers_later(tmp_path: Path) -> None:
    """As a load balancer does before an etcd that is down, or a link that loses what is sent."""
    lines: list[str] = []
    with reserved_ports(1) as (port,):
        async with cluster_of(1, tmp_path) as (member,):
            await furnish(EtcdConfig((member.endpoint,), read_only=False))
            proxy = Proxy(port, int(member.endpoint.rpartition(":")[2]))
            proxy.refuse = True
            await proxy.start()

            def answer(line: str) -> None:
                assert "accepts connections and closes them" in line, line
                proxy.heal()
                lines.append(line)

            try:
                async with serving(tmp_path, "--etcd", f"127.0.0.1:{port}", on_error=answer) as served:
                    assert lines
                    assert await served.json("/api/v1/namespaces/shop/configmaps/c")
            finally:
                await proxy.close()


async def test_the_endpoint_in_use_dies(tmp_path: Path) -> None:
    async with cluster_of(3, tmp_path) as members:
        endpoints = tuple(member.endpoint for member in members)
        await furnish(EtcdConfig(endpoints, read_only=False))
        async with serving(tmp_path, "--etcd", ",".join(endpoints)) as served:
            await served.until("/api/v1/namespaces/shop/configmaps", lambda listed: "items" in listed)
            await members[0].kill()
            path = "/api/v1/namespaces/shop/configmaps"
            found = await served.until(path, lambda listed: "items" in listed)
            assert len(found["items"]) == 1
            answer = await served.http.get(f"{path}/c")
            assert answer.status_code == 200 and answer.headers["x-ktui-route"] == "etcd"


async def test_tls_user_and_password_from_etcdctls_environment(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ca")
    client = authority.issue("client")
    flags = server_flags(authority, authority.issue("server"))
    async with cluster_of(1, tmp_path, scheme="https", flags=flags) as (member,):
        config = EtcdConfig((member.endpoint,), False, authority.file, *client, server_name="etcd.test")
        await furnish(config)
        await enable_auth(config)
        environ = {
            "ETCDCTL_ENDPOINTS": member.endpoint,
            "ETCDCTL_CACERT": str(authority.file),
            "ETCDCTL_CERT": str(client[0]),
            "ETCDCTL_KEY": str(client[1]),
            "ETCDCTL_USER": "reader:reader",
        }
        words = ("--etcd", "--server-name", "etcd.test")
        async with serving(tmp_path, *words, environ=environ) as served:
            found = await served.json("/api/v1/namespaces/shop/configmaps/c")
            assert found["data"] == {"a": "b"}
            await served.until(
                "/api/v1/configmaps?resourceVersion=0", lambda listed: len(listed.get("items", ())) == 1
            )
            info = await served.json("/ktui/v1/info")
            assert info["endpoints"] == [member.endpoint] and "reader:reader" not in str(info)
        for user, says in (
            (
                "reader:wrong",
                "does not let us in (authentication failed, invalid user ID or password); check --user",
            ),
            ("guest:guest", 'lacks the permission for key:"/registry/" range_end:"/registry0"'),
        ):
            status, said = await refused(tmp_path, *words, environ={**environ, "ETCDCTL_USER": user})
            assert status == 3 and says in said and member.endpoint in said and said.count("\n") == 1, said


FOUND = ("/kubernetes.io", "/my-cluster")


@pytest.mark.parametrize("prefix", FOUND)
async def test_another_prefix_is_found(tmp_path: Path, prefix: str) -> None:
    etcd = await EmbeddedEtcd.start()
    try:
        await furnish(EtcdConfig((etcd.endpoint,), read_only=False), prefix)
        async with serving(tmp_path, "--etcd", etcd.endpoint) as served:
            await served.until("/api/v1/configmaps", lambda listed: len(listed.get("items", ())) == 1)
            info = await served.json("/ktui/v1/info")
            assert info["etcd_prefix"] == prefix and "warnings" not in info
            children = (await served.json("/ktui/v1/etcd/prefixes"))["children"]
            assert [child["resource"] for child in children] == ["configmaps", "namespaces"]
        assert any(f"keys under {prefix} " in line for line in served.said)
        if prefix == FOUND[0]:  # named, it need not be found
            async with serving(tmp_path, "--etcd", etcd.endpoint, "--etcd-prefix", f"{prefix}/") as served:
                await served.until("/api/v1/configmaps", lambda listed: len(listed.get("items", ())) == 1)
    finally:
        await etcd.stop()


async def test_an_etcd_without_kubernetes(tmp_path: Path) -> None:
    etcd = await EmbeddedEtcd.start()
    try:
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
        await client.create(b"/service/leader", "patroni-1 ✓".encode())
        await client.create(b"plain", bytes(range(256)))
        await client.close()
        async with serving(tmp_path, "--etcd", etcd.endpoint) as served:
            info = await served.json("/ktui/v1/info")
            assert "no Kubernetes object" in info["warnings"][0]
            children = (await served.json("/ktui/v1/etcd/prefixes?prefix="))["children"]
            assert [(child["prefix"], child["count"]) for child in children] == [
                ("/service/", 1),
                ("plain", 1),
            ]
            value = await served.json("/ktui/v1/etcd/key?key=/service/leader")
            assert (value["text"], value["json"], value["encoding"]) == ("patroni-1 ✓", None, "unknown")
            value = await served.json("/ktui/v1/etcd/key?key=plain")
            assert value["hex"] == bytes(range(256)).hex() and value["text"] == ""
    finally:
        await etcd.stop()


async def test_etcdctls_environment_without_endpoints(tmp_path: Path) -> None:
    status, said = await refused(tmp_path, "--etcd", "env")
    assert status == 2 and "ETCDCTL_ENDPOINTS, which is not set" in said
