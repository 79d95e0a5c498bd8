from __future__ import annotations

import itertools

import msgspec.json
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.cacher.sorted_store import SortedStore
from ktui.etcd.types import KV
from ktui.kube.resources import BUILTIN
from ktui.kube.tables.table import TableRow
from ktui.storage.kept_json import KeptJson
from ktui.storage.objects import Reader, StoredObject
from ktui.wire.encode import encode_object
from tests.unit.growth import steps

RESOURCE = BUILTIN.find("", "v1", "configmaps")
assert RESOURCE is not None
READER = Reader(RESOURCE, "/registry/configmaps/")
FILLING = "".join(chr(33 + n * n % 89) for n in range(4000)).replace('"', "'").replace("\\", "/")


def version(number: int) -> StoredObject:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop", "labels": {"tier": "web"}},
        "data": {"number": str(number), "text": FILLING},
    }
    assert RESOURCE is not None
    value = encode_object(document, RESOURCE)
    return READER.scanned(KV(b"/registry/configmaps/shop/settings", value, 100 + number, 100, number, 0))


def superseded(count: int) -> tuple[list[StoredObject], StoredObject]:
    """`count` old versions, shrunk one after the other, and the present one."""
    versions = [version(number) for number in range(count + 1)]
    for older, newer in itertools.pairwise(versions):
        older.shrink(newer)
    return versions[:-1], versions[-1]


@pytest.mark.parametrize("count", [1, 5, 16, 17, 60])
def test_superseded_versions_are_what_they_were(count: int):
    older, current = superseded(count)
    for number, obj in enumerate([*older, current]):
        fresh = version(number)
        assert (obj.raw, obj.size, obj.rv) == (fresh.raw, fresh.size, fresh.rv)
        assert (obj.uid, obj.labels, obj.fields) == (fresh.uid, fresh.labels, fresh.fields)
        assert b"".join(obj.item_pieces()) == b"".join(fresh.item_pieces())
        assert msgspec.json.decode(obj.full_json())["data"]["number"] == str(number)


def test_superseded_versions_take_a_fraction_of_their_size():
    older, current = superseded(60)
    assert sum(held(obj) for obj in older) < sum(obj.size for obj in older) / 8
    assert held(current) == current.size


def test_a_deleted_version_needs_no_other_one():
    last = version(1)
    gone = last.with_rv(200)
    last.shrink(gone)
    gone.shrink(None)
    assert last.raw == gone.raw == version(1).raw
    assert held(last) + held(gone) < last.size / 4


def test_what_was_transcoded_is_dropped():
    older, newer = version(1), version(2)
    older.item_pieces()
    older.shrink(newer)
    assert older.item_pieces() == version(1).item_pieces()
    assert older.item_pieces() is not older.item_pieces()
    assert newer.item_pieces() is newer.item_pieces()


def test_equal_names_and_labels_are_held_once():
    older, newer = version(1), version(2)
    assert older.key is not newer.key
    older.shrink(newer)
    assert older.key is newer.key
    assert older.labels is newer.labels


def held(obj: StoredObject) -> int:
    """Bytes that the stored value takes in this object, without those of newer ones."""
    value = obj._value
    return len(value) if isinstance(value, bytes) else len(value.delta.middle)


class Cache:
    """Objects of a cache whose JSON is kept in a budget of `limit` bytes."""

    def __init__(self, count: int, budget: KeptJson) -> None:
        self.budget = budget
        self.store = SortedStore(budget)
        self.store.replace([self.object(number) for number in range(count)])

    def object(self, number: int, rv: int = 100) -> StoredObject:
        return READER.object(
            KV(b"/registry/configmaps/shop/%05d" % number, version(number).raw, rv, 100, 1, 0)
        )

    def kept(self) -> list[int]:
        """The numbers of the objects whose JSON is kept; the counted bytes are right."""
        objects = self.store.all()
        assert self.store.share.bytes == sum(obj.kept for obj in objects)
        assert all(obj.kept == sum(map(len, obj.transcoded or ())) for obj in objects)
        return [number for number, obj in enumerate(objects) if obj.transcoded is not None]


def size_of_one() -> int:
    return sum(map(len, Cache(1, KeptJson()).store.all()[0].item_pieces()))


def test_no_more_json_is_kept_than_the_budget_allows_and_the_rest_is_answered_all_the_same():
    cache = Cache(100, KeptJson(limit=10 * size_of_one() + 100))
    for obj in cache.store.all():
        assert b"".join(obj.item_pieces()) == b"".join(obj.item_pieces())
        assert cache.budget.held <= cache.budget.limit
    assert len(cache.kept()) == 10
    assert cache.store.share.evicted == 90


def test_what_was_used_lately_stays():
    cache = Cache(40, KeptJson(limit=10 * size_of_one() + 100))
    hot = cache.store.all()[3]
    hot.full_json()
    pieces = hot.transcoded
    for obj in cache.store.all()[10:]:
        obj.full_json()
        hot.full_json()
    assert hot.transcoded is pieces


def test_an_object_larger_than_the_budget_is_not_kept():
    cache = Cache(3, KeptJson(limit=size_of_one() // 2))
    for obj in cache.store.all():
        obj.item_pieces()
    assert (cache.kept(), cache.budget.held) == ([], 0)


def test_what_leaves_a_cache_is_no_longer_counted():
    cache = Cache(5, KeptJson())
    for obj in cache.store.all():
        obj.item_pieces()
    one = cache.budget.held // 5
    cache.store.put(cache.object(0, 200))
    cache.store.remove("/registry/configmaps/shop/00001")
    assert (cache.budget.held, cache.kept()) == (3 * one, [1, 2, 3])
    old = cache.store.all()
    cache.store.replace([cache.object(7)])
    old[0].item_pieces()
    assert (cache.budget.held, cache.kept()) == (0, [])
    cache.store.close()
    cache.store.all()[0].item_pieces()
    assert (cache.budget.held, cache.kept()) == (0, [])


def test_room_is_made_at_the_same_cost_in_a_large_cache():
    """With a spent budget the JSON of a page is kept all the same, however many objects keep none."""
    raw = version(0).raw
    needed = []
    for count in (100, 100, 1000):  # the first fills the codec's caches
        store = SortedStore(KeptJson(limit=10 * size_of_one() + 100))
        keys = [b"/registry/configmaps/shop/%05d" % number for number in range(count)]
        store.replace([READER.object(KV(key, raw, 100, 100, 1, 0)) for key in keys])
        for obj in store.page(0, 10):
            obj.item_pieces()
        needed.append(steps(lambda page: [obj.item_pieces() for obj in page], store.page(count - 20, 20)))
        assert all(obj.transcoded is not None for obj in store.page(count - 10, 10))
    assert needed[1] == needed[2]


def test_keeping_more_of_an_object_does_not_evict_it():
    cache = Cache(1, KeptJson(limit=2 * size_of_one()))
    (obj,) = cache.store.all()
    obj.table_row(RESOURCE, lambda _: TableRow((b"x" * (size_of_one() // 2), 1.0)))
    obj.item_pieces()
    assert obj.kept == sum(map(len, obj.transcoded or ())) + (obj._row.size if obj._row else 0)


def test_caches_share_the_budget():
    budget = KeptJson(limit=10 * size_of_one() + 100)
    one, other = Cache(8, budget), Cache(8, budget)
    for obj in [*one.store.all(), *other.store.all()]:
        obj.item_pieces()
    assert len(one.kept()) + len(other.kept()) == 10
    assert budget.held == one.store.share.bytes + other.store.share.bytes <= budget.limit


def test_rows_of_tables_count_too():
    cache = Cache(1, KeptJson())
    (obj,) = cache.store.all()
    row = TableRow((b"x" * 1000, 1.0))
    assert obj.table_row(RESOURCE, lambda _: row) is row
    assert (cache.budget.held, obj.has_table_row(RESOURCE)) == (2000, True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 19)), max_size=60), st.integers(1, 12))
@settings(deadline=None)
def test_the_budget_is_never_exceeded(steps, room):
    cache = Cache(20, KeptJson(limit=room * size_of_one()))
    for step, number in steps:
        key = f"/registry/configmaps/shop/{number:05d}"
        match step:
            case 0:
                cache.store.put(cache.object(number, 300))
            case 1:
                cache.store.remove(key)
            case _:
                if (obj := cache.store.get(key)) is not None:
                    obj.full_json()
        cache.kept()
        assert cache.budget.held == cache.store.share.bytes <= cache.budget.limit
