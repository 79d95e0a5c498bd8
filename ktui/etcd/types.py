"""etcd's responses as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class KV(NamedTuple):
    """One key at one revision. `lease` is 0 for none. A DELETE event has only key and mod_revision."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int


@dataclass(frozen=True, slots=True)
class RangeResult:
    """The answer to a Range. `count` is the number of keys in the whole range, `revision` etcd's at the read.

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
    """The result of a transaction on one key. If it failed, `kv` is the current value (None: no key)."""

    succeeded: bool
    revision: int
    kv: KV | None = None


class WatchEvent(NamedTuple):
    """A change of one key. `prev_kv` is None for a created key, or if the previous value is compacted."""

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
    """One member's response to Status; `revision` is its current revision."""

    version: str
    db_size: int
    db_in_use: int
    revision: int
    leader: int
    errors: tuple[str, ...] = ()
