"""Requests as etcd's log prints them."""

from __future__ import annotations

import pytest
from aetcd import rpc

from ktui.etcd.types import quote_key, range_text, txn_text, watch_text


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (
            rpc.RangeRequest(key=b"/registry/pods/", range_end=b"/registry/pods0", limit=500, revision=7),
            'key:"/registry/pods/" range_end:"/registry/pods0" limit:500 revision:7',
        ),
        (rpc.RangeRequest(key=b"/a", count_only=True), 'key:"/a" count_only:true'),
        (
            rpc.RangeRequest(key=b"\0", range_end=b"\0", keys_only=True),
            r'key:"\000" range_end:"\000" keys_only:true',
        ),
    ],
)
def test_range(request_: rpc.RangeRequest, text: str) -> None:
    assert range_text(request_) == text


@pytest.mark.parametrize(
    ("key", "quoted"),
    [
        (b"/plain", '"/plain"'),
        (b'a"b\\c', r'"a\"b\\c"'),
        (b"\x1b[31m\n", r'"\033[31m\n"'),
        ("ü".encode(), r'"\303\274"'),
        (b"[red]", '"[red]"'),
    ],
)
def test_keys_are_quoted_without_control_bytes(key: bytes, quoted: str) -> None:
    assert quote_key(key) == quoted and quoted.isascii() and quoted.isprintable()


def test_a_transaction_leaves_values_out() -> None:
    compare = rpc.Compare(key=b"/a", target=rpc.Compare.MOD, mod_revision=9)
    put = rpc.RequestOp(request_put=rpc.PutRequest(key=b"/a", value=b"secret", lease=5))
    get = rpc.RequestOp(request_range=rpc.RangeRequest(key=b"/a"))
    assert txn_text(rpc.TxnRequest(compare=[compare], success=[put], failure=[get])) == (
        'compare:<target:MOD key:"/a" mod_revision:9 > '
        'success:<request_put:<key:"/a" value_size:6 lease:5 >> failure:<request_range:<key:"/a" >>'
    )


def test_a_watch() -> None:
    create = rpc.WatchCreateRequest(key=b"/a/", range_end=b"/a0", start_revision=3, prev_kv=True)
    assert (
        watch_text(rpc.WatchRequest(create_request=create))
        == 'create_request:<key:"/a/" range_end:"/a0" start_revision:3 prev_kv:true >'
    )
    progress = rpc.WatchRequest(progress_request=rpc.WatchProgressRequest())
    assert watch_text(progress) == "progress_request:<>"
