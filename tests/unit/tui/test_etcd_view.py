"""What the server says of etcd, read into rows."""

import msgspec

from ktui.contract.etcd_documents import KeyDetail, KeyPage, PrefixPage, StoredKey
from ktui.tui.etcd.keys_pane import KeyList
from ktui.tui.etcd.value_pane import is_secret, lease_id


def read_key(answer: object) -> KeyDetail:
    return msgspec.convert(answer, KeyDetail)


def test_a_child_is_labelled_by_what_it_adds() -> None:
    page = msgspec.convert(
        {
            "revision": 7,
            "children": [{"prefix": "/registry/pods/", "resource": "pods", "count": 3, "bytes": 9}],
        },
        PrefixPage,
    )
    assert page.children[0].label("/registry/") == "pods/"
    assert page.children[0].exact


def test_unknown_fields_of_a_newer_server_are_skipped() -> None:
    assert read_key({"key": "/a", "sparkle": 1}).key == "/a"


def test_leases_read_as_etcdctl_writes_them() -> None:
    assert lease_id(0) == "–"
    assert lease_id(7587846145362231045) == "694d71ddf8a1ff05"
    assert lease_id(-1) == "f" * 16


def test_secrets_are_known_by_their_key() -> None:
    assert is_secret("/registry/secrets/default/token")
    assert is_secret("/kubernetes.io/secrets/default/token")
    assert not is_secret("/registry/pods/secrets-reader/x")


def test_a_key_list_reads_on_only_near_its_end() -> None:
    keys = KeyList("/registry/pods/")
    assert keys.wants_more(0, ahead=10)
    keys.extend(KeyPage(7, 5, [StoredKey(f"/p/{n}") for n in range(3)], "/p/2"))
    assert not keys.wants_more(0, ahead=2)
    assert keys.wants_more(1, ahead=2)
    assert keys.after == "/p/2"
    keys.extend(KeyPage(7, 5, [StoredKey("/p/3"), StoredKey("/p/4")]))
    assert keys.complete
    assert not keys.wants_more(4, ahead=100)
    assert (keys.count, len(keys.keys)) == (5, 5)


def test_a_key_without_a_lease_has_no_time_left() -> None:
    assert read_key({"key": "/a", "lease": 0, "ttl": -1}).remaining is None
    assert read_key({"key": "/a", "lease": 7, "ttl": 90}).remaining == 90
    assert read_key({"key": "/a", "lease": 7, "ttl": -1}).remaining == 0
