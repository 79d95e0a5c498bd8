"""A large answer taken apart key by key is the answer."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

from aetcd import rpc
from hypothesis import given
from hypothesis import strategies as st

from ktui.etcd import types

numbers = st.integers(0, 2**63 - 1)
key_values = st.builds(
    rpc.KeyValue,
    key=st.binary(max_size=200),
    value=st.binary(max_size=400),
    create_revision=numbers,
    mod_revision=numbers,
    version=numbers,
    lease=numbers,
)


@given(st.lists(key_values, max_size=8), numbers, numbers, st.booleans())
def test_both_ways_agree(kvs: list[rpc.KeyValue], revision: int, count: int, more: bool) -> None:
    header = rpc.ResponseHeader(cluster_id=2**64 - 1, revision=revision)
    raw = rpc.RangeResponse(header=header, kvs=kvs, count=count, more=more).SerializeToString()
    at_once, expected = asyncio.run(types.decode_range(raw))
    with patch.object(types, "_AT_ONCE", -1):
        sliced, found = asyncio.run(types.decode_range(raw))
    assert found == expected
    assert (sliced.header.revision, sliced.count, sliced.more) == (revision, count, more)
    assert at_once.count == sliced.count
