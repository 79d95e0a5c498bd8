"""Where objects lie, and where a range of them ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN
from ktui.storage.keys import ResourceKeys, range_end


@pytest.mark.parametrize(
    ("name", "etcd_prefix", "prefix", "key"),
    [
        ("pods", "/registry", "/registry/pods/", "/registry/pods/shop/x"),
        ("services", "/registry", "/registry/services/specs/", "/registry/services/specs/shop/x"),
        ("leases", "/kubernetes.io/", "/kubernetes.io/leases/", "/kubernetes.io/leases/shop/x"),
    ],
)
def test_namespaced_keys(name: str, etcd_prefix: str, prefix: str, key: str) -> None:
    resource = BUILTIN.by_name(name)
    assert resource is not None
    keys = ResourceKeys(resource, etcd_prefix)
    assert (keys.prefix, keys.of("shop", "x").decode()) == (prefix, key)
    assert keys.root.decode() == prefix[:-1] and keys.collection("shop") == f"{prefix}shop/"


def test_cluster_scoped_keys() -> None:
    nodes = BUILTIN.by_name("nodes")
    assert nodes is not None
    assert ResourceKeys(nodes).of(None, "n1") == b"/registry/minions/n1"


@pytest.mark.parametrize(
    ("prefix", "end"),
    [(b"/registry/pods/", b"/registry/pods0"), (b"", b"\0"), (b"\xff\xff", b"\0"), (b"a\xff", b"b")],
)
def test_range_ends(prefix: bytes, end: bytes) -> None:
    assert range_end(prefix) == end


@given(st.binary(min_size=1, max_size=4), st.binary(max_size=4))
def test_a_range_holds_exactly_what_begins_with_its_prefix(prefix: bytes, other: bytes) -> None:
    end = range_end(prefix)
    for key in (prefix, prefix + other, other):
        inside = key >= prefix and (end == b"\0" or key < end)
        assert inside == key.startswith(prefix)
