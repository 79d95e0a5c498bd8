"""What etcd's values weigh, and what changes there: by bounded reads and by one watch."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest

from ktui.contract.etcd_documents import Churn
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.storage.browser import EtcdBrowser
from ktui.storage.churn import last_manager
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio
RESOURCES = {"pods/": "pods", "services/specs/": "services", "secrets/": "secrets"}


def browser(client: EtcdClient, prefix: str, *, gentle: bool = False) -> EtcdBrowser:
    return EtcdBrowser(client, prefix, lambda below: RESOURCES.get(below, ""), gentle=gentle)


def pod(name: str, size: int, manager: str = "kubelet") -> bytes:
    managed = [
        {"manager": "kubectl", "operation": "Update", "time": "2026-01-01T00:00:00Z"},
        {"manager": manager, "operation": "Update", "time": "2026-01-02T00:00:00Z", "subresource": "status"},
    ]
    metadata = {"name": name, "namespace": "a", "managedFields": managed, "annotations": {"x": "y" * size}}
    return json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": metadata}).encode()


async def test_largest_keys_and_managed_fields(client: EtcdClient, prefix: str) -> None:
    values = {f"{prefix}/pods/a/p{number}": pod(f"p{number}", number * 10) for number in range(30)}
    for key, value in values.items():
        await client.create(key.encode(), value)
    page = await browser(client, prefix).survey(f"{prefix}/pods/")
    assert (page.keys, page.next) == (30, "")
    assert page.bytes == sum(len(key) + len(value) for key, value in values.items())
    assert page.largest[0].key == f"{prefix}/pods/a/p29"
    assert [item.bytes for item in page.largest] == sorted(
        (item.bytes for item in page.largest), reverse=True
    )
    assert 30 * 150 < page.managed_bytes < page.bytes


async def test_large_values_come_in_pieces(client: EtcdClient, prefix: str) -> None:
    for number in range(8):
        await client.create(f"{prefix}/pods/a/p{number}".encode(), pod("p", 700_000))
    found, after, pieces = 0, "", 0
    while True:
        page = await browser(client, prefix).survey(f"{prefix}/pods/", after)
        found, after, pieces = found + page.keys, page.next, pieces + 1
        if not after:
            break
    assert found == 8
    assert pieces > 1


async def test_secrets_of_another_s_etcd_are_not_read(client: EtcdClient, prefix: str) -> None:
    await client.create(f"{prefix}/secrets/a/s".encode(), b'{"kind":"Secret"}')
    await client.create(f"{prefix}/services/specs/a/s".encode(), b'{"kind":"Service"}')
    page = await browser(client, prefix, gentle=True).survey(f"{prefix}/")
    assert (page.keys, page.skipped) == (1, 1)
    assert (await browser(client, prefix).survey(f"{prefix}/")).keys == 2


async def begun(reports: AsyncGenerator[Churn, None], client: EtcdClient, prefix: str) -> None:
    """Write Secrets until a report counts one: the first report does not wait for etcd to make the watch."""
    number = 0
    while not (await anext(reports)).keys:
        number += 1
        await client.create(f"{prefix}/secrets/a/s{number}".encode(), b"{}")


async def test_changes_by_resource_and_key(client: EtcdClient, prefix: str) -> None:
    reports = browser(client, prefix).churn(f"{prefix}/")
    assert (await anext(reports)).keys == []
    await begun(reports, client, prefix)
    key = f"{prefix}/pods/a/hot"
    revision = (await client.create(key.encode(), pod("hot", 10))).revision
    for _ in range(3):
        revision = (await client.update(key.encode(), pod("hot", 10), revision)).revision
    await client.delete(key.encode(), revision)
    await client.create(f"{prefix}/services/specs/a/s".encode(), b"{}")
    report = await anext(reports)
    while sum(item.writes + item.deletes for item in report.resources if item.resource != "secrets") < 6:
        report = await anext(reports)
    await reports.aclose()
    by_resource = {item.resource: (item.writes, item.deletes) for item in report.resources}
    assert by_resource.pop("secrets") >= (1, 0)
    assert by_resource == {"pods": (4, 1), "services": (1, 0)}
    hottest = report.keys[0]
    assert (hottest.key, hottest.resource, hottest.changes) == (key, "pods", 5)
    assert hottest.manager == "kubelet (status)"


@pytest.mark.parametrize(
    "document",
    [None, {}, {"metadata": 1}, {"metadata": {"managedFields": "x"}}, {"metadata": {"managedFields": [1]}}],
)
def test_a_writer_that_is_not_known(document: dict[str, object] | None) -> None:
    assert last_manager(document) == ""


async def test_leases_of_changed_keys_and_their_ttls(client: EtcdClient, prefix: str) -> None:
    reports = browser(client, prefix).churn(f"{prefix}/")
    await begun(reports, client, prefix)
    long, short = await client.grant_lease(600), await client.grant_lease(60)
    for name, lease in (("a", long), ("b", long), ("c", short)):
        await client.create(f"{prefix}/pods/a/{name}".encode(), b"{}", lease)
    report = await anext(reports)
    while report.leased < 3:
        report = await anext(reports)
    await reports.aclose()
    assert [(one.lease, one.keys, one.resource) for one in report.lease_list] == [
        (long, 2, "pods"), (short, 1, "pods"),
    ]  # fmt: skip
    ttls = [one.ttl for one in report.lease_list]
    assert ttls[0] is not None and 540 < ttls[0] <= 600
    assert ttls[1] is not None and 0 < ttls[1] <= 60


async def test_a_client_that_only_reads_asks_for_no_ttl(
    client: EtcdClient, etcd: EmbeddedEtcd, bus: Bus, prefix: str
) -> None:
    reader = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)
    reports = browser(reader, prefix).churn(f"{prefix}/")
    await anext(reports)
    await client.create(f"{prefix}/pods/a/a".encode(), b"{}", await client.grant_lease(600))
    report = await anext(reports)
    while not report.leased:
        report = await anext(reports)
    await reports.aclose()
    await reader.close()
    assert [one.ttl for one in report.lease_list] == [None]
