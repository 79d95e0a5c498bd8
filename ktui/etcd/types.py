"""etcd's responses as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class KV(NamedTuple):
    """One key at one revision. `lease` 0: none. In a DELETE event only key and mod_revision are set."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int


@dataclass(frozen=True, slots=True)
class RangeResult:
    """`count` is the number of keys in the whole range, `revision` etcd's at the response.

    `bytes` is the size of the received response.
    """

    kvs: Sequence[KV]
    count: int
    more: bool
    revision: int
    bytes: int = 0


class Put(NamedTuple):
    """A key to write."""

    key: bytes
    value: bytes
    lease: int = 0


@dataclass(frozen=True, slots=True)
class TxnResult:
    """A transaction on one key. Not `succeeded`: `kv` is the current one (None: none)."""

    succeeded: bool
    revision: int
    kv: KV | None = None


class WatchEvent(NamedTuple):
    """`prev_kv` is None for a created key, or if it is compacted."""

    type: Literal["PUT", "DELETE"]
    kv: KV
    prev_kv: KV | None


class WatchBatch(NamedTuple):
    """Events of one or more revisions, in order; `is_progress`: no event up to `revision`."""

    revision: int
    events: Sequence[WatchEvent]
    is_progress: bool


@dataclass(frozen=True, slots=True)
class EtcdStatus:
    """One member's response to Status; `revision` is its current one."""

    version: str
    db_size: int
    db_in_use: int
    revision: int
    leader: int
    errors: tuple[str, ...] = ()
