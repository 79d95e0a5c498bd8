"""Keys sorted by the server: the first of all of them, by each column, and what is refused."""

from __future__ import annotations

import pytest

from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import Api, running

pytestmark = pytest.mark.anyio
PAGE = "/ktui/v1/etcd/keys?prefix={}/configmaps/&limit=2&sort={}"


async def names(api: Api, sort: str) -> list[str]:
    """The first two of the three config maps."""
    answer = await api.get(PAGE.format(api.facts.info().etcd_prefix, sort))
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert (page["count"], page["next"]) == (3, "")
    return [row["key"].rpartition("/")[2] for row in page["keys"]]


async def test_the_first_of_all_keys_by_each_column(api: Api) -> None:
    for name, size in (("c", 60), ("a", 10), ("b", 30)):
        await api.config_map(name, note="x" * size)
    await api.merge("/api/v1/namespaces/a/configmaps/c", {"data": {"k": "v"}})
    assert await names(api, "-bytes") == ["c", "b"]
    assert await names(api, "bytes") == ["a", "b"]
    assert await names(api, "-key") == ["c", "b"]
    assert await names(api, "rev") == ["a", "b"]
    assert (await names(api, "-version"))[0] == "c"


async def test_an_unknown_column_is_refused(api: Api) -> None:
    answer = await api.get(PAGE.format(api.facts.info().etcd_prefix, "colour"))
    assert answer.status_code == 400
    assert "sort is one of key, rev, version, lease, bytes" in answer.json()["message"]


async def test_by_bytes_is_refused_over_an_etcd_that_others_depend_on(
    client: EtcdClient, prefix: str
) -> None:
    """Sizes would need every value; the columns that keys alone have are sorted."""
    await client.create(f"{prefix}/configmaps/a/one".encode(), b"x" * 300)
    async with running(client, prefix, gentle=True) as api:
        for sort in ("bytes", "-bytes"):
            refused = await api.get(PAGE.format(prefix, sort))
            assert refused.status_code == 400
            assert "every value would be read from an etcd in use" in refused.json()["message"]
        page = (await api.get(PAGE.format(prefix, "-rev"))).json()
    assert [row["key"] for row in page["keys"]] == [f"{prefix}/configmaps/a/one"]
    assert page["keys"][0].get("bytes") is None
