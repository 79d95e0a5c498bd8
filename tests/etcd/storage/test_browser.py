"""Prefixes, keys and revisions of a real etcd, for the etcd screen."""

from __future__ import annotations

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import CompactedError
from ktui.storage.browser import EtcdBrowser

pytestmark = pytest.mark.anyio

RESOURCES = {"pods/": "pods", "services/specs/": "services"}


@pytest.fixture
def browser(client: EtcdClient, prefix: str) -> EtcdBrowser:
    return EtcdBrowser(client, prefix, lambda below: RESOURCES.get(below, ""))


async def put(client: EtcdClient, prefix: str, *keys: str, size: int = 10) -> None:
    for key in keys:
        await client.create(f"{prefix}{key}".encode(), b"x" * size)


async def test_children_with_counts_and_bytes(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    await put(
        client, prefix, "/pods/a/p1", "/pods/a/p2", "/pods/b/p3", "/namespaces/a", "/services/specs/a/s"
    )
    listing = await browser.prefixes(f"{prefix}/")
    rows = [(c.prefix.removeprefix(prefix), c.resource, c.count, c.leaf) for c in listing.children]
    assert rows == [("/namespaces/", "", 1, True), ("/pods/", "pods", 3, False), ("/services/", "", 1, False)]
    pods = listing.children[1]
    assert (pods.bytes, pods.exact) == (3 * (len(f"{prefix}/pods/a/p1") + 10), True)
    inner = await browser.prefixes(f"{prefix}/services/")
    assert [(c.resource, c.leaf) for c in inner.children] == [("services", False)]


async def test_one_seek_for_each_child_however_many_keys(
    client: EtcdClient, browser: EtcdBrowser, prefix: str
) -> None:
    await put(client, prefix, *(f"/pods/{ns}/p{i}" for ns in "abc" for i in range(30)))
    await browser.prefixes(f"{prefix}/pods/")
    before = client.usage.rpcs
    await browser.prefixes(f"{prefix}/pods/")
    assert client.usage.rpcs - before == 3 + 1 + 3  # seeks and the last one, counts; weights are remembered


async def test_few_keys_below_a_prefix_are_children_many_are_not(
    client: EtcdClient, browser: EtcdBrowser, prefix: str
) -> None:
    await put(client, prefix, "/a", "/b/c")
    listing = await browser.prefixes(f"{prefix}/")
    assert [c.prefix.removeprefix(prefix) for c in listing.children] == ["/a", "/b/"]
    assert [c.count for c in listing.children] == [1, 1]
    await put(client, prefix, *(f"/n/{i:03}" for i in range(40)), "/n/z/1")
    listing = await browser.prefixes(f"{prefix}/n/")
    assert [c.prefix.removeprefix(prefix) for c in listing.children] == ["/n/z/"]


async def test_large_prefixes_are_weighed_by_a_sample(client: EtcdClient, prefix: str) -> None:
    await put(client, prefix, *(f"/big/{i:04}" for i in range(40)), size=400_000)
    listing = await EtcdBrowser(client, prefix).prefixes(f"{prefix}/")
    (big,) = listing.children
    assert (big.count, big.exact) == (40, False)
    assert big.bytes == pytest.approx(40 * 400_000, rel=0.01)


async def test_keys_are_paged(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    await put(client, prefix, *(f"/pods/a/p{i:03}" for i in range(120)))
    first = await browser.keys(f"{prefix}/pods/", limit=100)
    assert (len(first.keys), first.count, first.next) == (100, 120, f"{prefix}/pods/a/p099")
    rest = await browser.keys(f"{prefix}/pods/", limit=100, after=first.next)
    assert (rest.keys[0].key[-4:], len(rest.keys), rest.next) == ("p100", 20, "")
    assert (rest.count, rest.keys[0].bytes, rest.keys[0].version) == (120, 10, 1)


async def test_a_page_of_large_values_ends_early(
    client: EtcdClient, browser: EtcdBrowser, prefix: str
) -> None:
    await put(client, prefix, *(f"/s/{i:02}" for i in range(40)), size=300_000)
    seen, after = 0, ""
    while True:
        page = await browser.keys(f"{prefix}/s/", limit=500, after=after)
        seen += len(page.keys)
        if not page.next:
            break
        after = page.next
    assert seen == 40


async def test_a_key_and_its_past(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    key = f"{prefix}/deployments/a/d"
    body = b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"d"},"spec":%d}'
    first = (await client.create(key.encode(), body % 1)).revision
    second = (await client.update(key.encode(), body % 2, first)).revision
    now = await browser.key(key)
    assert now is not None and now.decoded.json is not None and now.ttl == -1
    read = now.decoded
    assert (read.encoding, read.kind, read.json["spec"]) == ("json", "Widget", 2)
    assert read.json["metadata"]["resourceVersion"] == str(second)
    old = await browser.key(key, first)
    assert old is not None and old.decoded.json is not None and old.decoded.json["spec"] == 1
    assert [row.mod_revision for row in await browser.history(key)] == [second, first]
    assert await browser.key(f"{key}-nothing") is None


async def test_the_current_revision_of_a_key_is_never_compacted(
    client: EtcdClient, browser: EtcdBrowser, prefix: str
) -> None:
    key = f"{prefix}/deployments/a/kept"
    first = (await client.create(key.encode(), b"1")).revision
    second = (await client.update(key.encode(), b"2", first)).revision
    later = (await client.create(f"{prefix}/deployments/a/other".encode(), b"3")).revision
    await client.compact(later)
    kept = await browser.key(key, second)
    assert kept is not None and kept.kv.value == b"2"
    assert [row.mod_revision for row in await browser.history(key)] == [second]
    with pytest.raises(CompactedError):
        await browser.key(key, first)


@pytest.mark.parametrize(
    ("raw", "encoding", "says"),
    [
        (b"k8s:enc:aescbc:v1:key1:abc", "encrypted", "encrypted"),
        (b"k8s\0\xff\xff\xff", "unknown", ""),
        (b"\xd9\xd9\xf7\xa0", "cbor", "CBOR"),
        (b"17", "unknown", "neither"),
    ],
)
async def test_what_is_no_object_says_why(
    client: EtcdClient, browser: EtcdBrowser, prefix: str, raw: bytes, encoding: str, says: str
) -> None:
    await client.create(f"{prefix}/x".encode(), raw)
    value = await browser.key(f"{prefix}/x")
    assert value is not None and value.decoded.json is None and value.kv.value == raw
    assert value.decoded.encoding == encoding and says in value.decoded.error and value.decoded.error


async def test_the_remaining_time_of_a_lease(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    lease = await client.grant_lease(600)
    await client.create(f"{prefix}/x".encode(), b"", lease)
    value = await browser.key(f"{prefix}/x")
    assert value is not None and 0 < value.ttl <= 600 and value.kv.lease == lease


async def test_keys_of_any_bytes_can_be_opened(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    key = prefix.encode() + b"/odd/\xff\\\x01"
    await client.create(key, b"here")
    (row,) = (await browser.keys(f"{prefix}/odd/")).keys
    value = await browser.key(row.key)
    assert row.key == f"{prefix}/odd/\\xff\\\\\x01"
    assert value is not None and value.kv.value == b"here" and value.kv.key == key
    assert len(await browser.history(row.key)) == 1


async def test_what_a_field_takes(client: EtcdClient, browser: EtcdBrowser, prefix: str) -> None:
    body = b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"d"},"spec":{"text":"%s"}}'
    await client.create(f"{prefix}/w".encode(), body % (b"x" * 900))
    value = await browser.key(f"{prefix}/w")
    assert value is not None
    sizes = value.decoded.sizes
    assert [field.path for field in sizes[:2]] == ["spec", "spec.text"] and sizes[0].share > 0.85


async def test_an_etcd_that_others_depend_on_is_read_gently(client: EtcdClient, prefix: str) -> None:
    await put(client, prefix, *(f"/pods/a/p{i:03}" for i in range(300)), size=5_000)
    await put(client, prefix, *(f"/secrets/a/s{i:03}" for i in range(300)), size=5_000)
    gentle = EtcdBrowser(client, prefix, gentle=True)
    before = client.usage.received_bytes
    pods, secrets = (await gentle.prefixes(f"{prefix}/")).children
    assert (pods.count, pods.exact, secrets.count, secrets.exact) == (300, False, 300, False)
    assert pods.bytes == pytest.approx(300 * 5_020, rel=0.02)
    assert secrets.bytes == 0  # no value of a Secret has been read
    assert client.usage.received_bytes - before < 8 * 3 * 5_100  # three values at each of eight places
    before = client.usage.received_bytes
    page = await gentle.keys(f"{prefix}/pods/", limit=200)
    assert len(page.keys) == 200 and page.keys[0].bytes is None and page.keys[0].mod_revision > 0
    rest = await gentle.keys(f"{prefix}/pods/", limit=200, after=page.next)
    assert len(rest.keys) == 100 and rest.next == ""
    assert client.usage.received_bytes - before < 8 * 3 * 5_100  # three values at each of eight places


async def test_the_first_keys_by_any_column_are_of_all_keys(
    client: EtcdClient, browser: EtcdBrowser, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ktui.storage.browser._KEYS_AT_ONCE", 7)
    for number in range(30):
        await put(client, prefix, f"/pods/a/p{number:02}", size=100 + number * 37 % 30)
    top = await browser.top_keys(f"{prefix}/pods/", 4, "bytes", descending=True)
    assert ([row.bytes for row in top.keys], top.count, top.next) == ([129, 128, 127, 126], 30, "")
    last = await browser.top_keys(f"{prefix}/pods/", 3, "rev", descending=True)
    assert [row.key[-3:] for row in last.keys] == ["p29", "p28", "p27"]
    least = await browser.top_keys(f"{prefix}/pods/", 50, "bytes", descending=False)
    assert [row.bytes for row in least.keys] == list(range(100, 130))
    assert (await browser.top_keys(f"{prefix}/none/", 5, "key", descending=False)).keys == []
