"""Find the children of a key prefix, seeking from one to the next instead of reading all keys."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.etcd.client import EtcdClient
from ktui.storage.keys import range_end

MAX_CHILDREN = 500
_KEYS_AT_ONCE = 500
# keys directly below a prefix that count as its children; the `keys` request lists the others
_SHOWN_KEYS = 20


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a prefix. `leaf`: its first key has no further slash. `is_key`: a key, not a prefix."""

    prefix: bytes
    leaf: bool
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Children:
    """Children in key order. `complete` is False if the search stopped at MAX_CHILDREN."""

    children: list[Child]
    complete: bool


async def find_children(client: EtcdClient, prefix: bytes, purpose: str) -> Children:
    """Find the children with one keys-only Range each; keys directly below `prefix` are skipped in pages."""
    found: list[Child] = []
    keys: list[Child] = []
    cursor, end, wanted = prefix or b"\0", range_end(prefix), 1
    while len(found) < MAX_CHILDREN:
        answer = await client.range(cursor, end, limit=wanted, keys_only=True, purpose=purpose)
        if not answer.kvs:
            return _children(found, keys, complete=True)
        wanted = 1
        for kv in answer.kvs:
            child = _child_of(prefix, kv.key)
            if not child.is_key:
                found.append(child)
                cursor = range_end(child.prefix)
                break
            if len(keys) <= _SHOWN_KEYS:
                keys.append(child)
            cursor, wanted = kv.key + b"\0", _KEYS_AT_ONCE
    return _children(found, keys, complete=False)


def _child_of(prefix: bytes, key: bytes) -> Child:
    """Return the child that contains `key`. A slash at the very beginning is part of the first name."""
    rest = key[len(prefix) :]
    slash = rest.find(b"/", 0 if prefix else 1)
    if slash < 0:
        return Child(key, leaf=True, is_key=True)
    return Child(key[: len(prefix) + slash + 1], leaf=b"/" not in rest[slash + 1 :])


def _children(found: list[Child], keys: list[Child], *, complete: bool) -> Children:
    shown = keys if len(keys) <= _SHOWN_KEYS else []
    return Children(sorted(found + shown, key=lambda child: child.prefix), complete)
