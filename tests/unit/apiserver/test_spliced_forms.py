"""Forms spliced from what is kept are, to the byte, those that are encoded from the whole object."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.apiserver.forms import table_form
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.forms.metadata_form import LIST_KIND, metadata_of, partial
from ktui.apiserver.forms.plain import Message, ObjectForm
from ktui.apiserver.negotiation import JSON, PROTOBUF, Form, Target
from ktui.etcd.types import KV
from ktui.kube.resources import BUILTIN, Resource, builtin
from ktui.kube.tables.table import table_row
from ktui.storage.errors import UnreadableError
from ktui.storage.objects import Reader, StoredObject
from ktui.wire.encode import encode_object, envelope_of
from ktui.wire.envelope import open_value
from ktui.wire.pb import CodecError, walk
from ktui.wire.stored_codec import StoredCodec
from tests.unit.wire.corpus import conformance, golden

pytestmark = pytest.mark.slow

CODEC = StoredCodec()
META = "meta.k8s.io/v1"
NOW = 1_900_000_000.0


def _stored(resource: Resource, raw: bytes, rv: int = 4711) -> StoredObject:
    key = f"{resource.prefix}x".encode()
    return Reader(resource, resource.prefix).object(KV(key, raw, rv, 1, 1, 0))


def _resource(raw: bytes) -> Resource | None:
    """The built-in resource that such a value is stored for."""
    envelope = open_value(raw)
    group, _, version = envelope.api_version.rpartition("/")
    kinds = (r for r in BUILTIN if (r.group, r.kind) == (group, envelope.kind) and r.stored)
    found = next(kinds, None)
    return found and BUILTIN.find(group, version, found.resource)


def _corpus() -> Iterator[tuple[Resource, StoredObject]]:
    for raw in [*(value.raw for value in golden()), *(pair.raw for pair in conformance())]:
        try:
            resource = _resource(raw)
            if resource is not None:
                stored = _stored(resource, raw)
                stored.full_json()
                yield resource, stored
        except (CodecError, UnreadableError):
            continue


def _form(resource: Resource, target: Target = "", media_type: str = JSON) -> ObjectForm:
    return object_form(Form(media_type, target), resource, CODEC, include="", of_list=True)


def _check(resource: Resource, obj: StoredObject) -> bool:
    """Compare all forms of an object; True if its protobuf is spliced and the same to the byte.

    Values of the corpus that no server writes (fields left out, empty times) have to be read alike.
    """
    document = obj.full_json()
    metadata = partial(document, META, resource)
    assert b"".join(_form(resource, LIST_KIND).item(obj)) == metadata
    row = table_row(resource, json.loads(document)).at(NOW) + metadata + b"}"
    assert obj.full_json() == document
    table = _form(resource, "Table")
    assert [b"".join(table.item(obj)) for _ in range(2)] == [row, row]
    whole = _form(resource, "", PROTOBUF)
    assert _item(whole, obj) == CODEC.messages.item(obj.raw, obj.rv, resource.api_version, resource.kind)
    form = _form(resource, LIST_KIND, PROTOBUF)
    item = _item(form, obj)
    assert metadata_of(_read(item)) == metadata_of(metadata)
    return form.ready(obj) and whole.ready(obj) and item == CODEC.messages.partial_item(metadata)


def _item(form: ObjectForm, obj: StoredObject) -> bytes:
    assert isinstance(form, Message)
    item = b"".join(form.item(obj))
    assert form.item_size(obj) == len(item)
    return item


def _read(item: bytes) -> bytes:
    """The JSON of an item that has metadata only, which are the first field of every kind."""
    [(_, _, message)] = walk(item)
    assert isinstance(message, bytes)
    return CODEC.object_json(envelope_of("v1", "ConfigMap", message), None)


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_form, "time", SimpleNamespace(time=lambda: NOW))


def test_what_real_servers_stored() -> None:
    assert sum(_check(*found) for found in _corpus()) > 150


_names = st.text(min_size=1, max_size=200)
_maps = st.dictionaries(_names, st.text(max_size=300), max_size=3)
_times = st.integers(0, 2**32).map(lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)))
_metadata = st.fixed_dictionaries(
    {},
    optional={
        "name": _names,
        "generateName": _names,
        "namespace": _names,
        "uid": _names,
        "generation": st.integers(1, 2**63 - 1),
        "creationTimestamp": _times,
        "deletionTimestamp": _times,
        "labels": _maps,
        "annotations": _maps,
        "finalizers": st.lists(_names, max_size=3),
    },
)


@given(_metadata, st.integers(0, 2**63 - 1))
def test_any_metadata(metadata: dict[str, Any], rv: int) -> None:
    pods = builtin("", "pods")
    raw = encode_object({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}}, pods)
    assert _check(pods, _stored(pods, raw, rv))


def test_a_row_is_kept_until_the_object_changes() -> None:
    pods = builtin("", "pods")
    old, new = (
        _stored(pods, encode_object({"metadata": {"name": "a"}, "status": {"phase": phase}}, pods))
        for phase in ("Pending", "Running")
    )
    form = _form(pods, "Table")
    before = b"".join(form.item(old))
    assert form.kept(old) and not form.kept(new)
    assert old.has_table_row(replace(pods)) and not old.has_table_row(replace(pods, columns=()))
    old.shrink(new)
    assert not form.kept(old)
    assert b"".join(form.item(old)) == before != b"".join(form.item(new))


def test_equal_shapes_share_a_layout() -> None:
    pods = builtin("", "pods")
    raws = [encode_object({"metadata": {"name": name}, "spec": {}}, pods) for name in ("ab", "cd", "longer")]
    one, other, longer = (_stored(pods, raw).layout() for raw in raws)
    assert one is other is not longer


def test_a_message_that_ends_early_is_unreadable() -> None:
    pods = builtin("", "pods")
    raw = encode_object({"metadata": {"name": "a"}, "spec": {}}, pods)
    metadata = raw.index(b"\n", len("k8s\0.....v1..Pod."))
    broken = raw[: metadata + 1] + b"\x7f" + raw[metadata + 2 :]
    with pytest.raises(UnreadableError):
        _stored(pods, broken).layout()
