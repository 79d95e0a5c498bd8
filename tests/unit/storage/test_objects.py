from __future__ import annotations

import itertools

import msgspec.json
import pytest

from ktui.etcd.types import KV
from ktui.kube.resources import BUILTIN
from ktui.storage.objects import Reader, StoredObject
from ktui.wire.encode import encode_object

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
        assert obj.item_json() == fresh.item_json()
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
