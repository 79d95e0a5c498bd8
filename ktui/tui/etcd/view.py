"""What the etcd screen shows: prefixes, keys and one key, as the server describes them."""

from __future__ import annotations

from typing import Any

import msgspec

ROOT = "/registry/"
# etcd has no lease 0: it is how it says "none".
NO_LEASE = 0


class PrefixChild(msgspec.Struct, frozen=True):
    """One child of a prefix. `bytes` is keys plus values; `exact` False: extrapolated from a sample."""

    prefix: str
    resource: str = ""
    count: int = 0
    bytes: int = 0
    exact: bool = True
    leaf: bool = False

    def label(self, parent: str) -> str:
        """The part that this child adds to its parent's prefix: `pods/`."""
        return self.prefix.removeprefix(parent) or self.prefix


class PrefixPage(msgspec.Struct, frozen=True):
    """Answer of `/ktui/v1/etcd/prefixes`."""

    revision: int = 0
    children: list[PrefixChild] = []


class StoredKey(msgspec.Struct, frozen=True):
    """Metadata of one key. `lease` is etcd's id, 0 when the key has none; `bytes` None: not read."""

    key: str
    mod_revision: int = 0
    create_revision: int = 0
    version: int = 0
    lease: int = 0
    bytes: int | None = None


class FieldSize(msgspec.Struct, frozen=True):
    """What a field (`metadata`, `metadata.managedFields`) takes of a stored value; `share` 0 … 1."""

    path: str
    size: int = 0
    share: float = 0.0


class CachedCopy(msgspec.Struct, frozen=True):
    """What the watch cache holds for a key: `rv` 0 is nothing, `same` also the bytes."""

    resource: str = ""
    rv: int = 0
    cache_rv: int = 0
    same: bool = False


class KeyPage(msgspec.Struct, frozen=True):
    """Answer of `/ktui/v1/etcd/keys`. `count` is all keys of the prefix, `next` where to go on."""

    revision: int = 0
    count: int = 0
    keys: list[StoredKey] = []
    next: str | None = None


class KeyDetail(msgspec.Struct, frozen=True):
    """Answer of `/ktui/v1/etcd/key`. `hex` is the beginning of the stored value.

    `ttl` in seconds, -1: the lease has ended, None: it may not be asked. `text`: a value
    that is no object but text. `cache` None: no cache of its resource is filled.
    """

    key: str = ""
    mod_revision: int = 0
    create_revision: int = 0
    version: int = 0
    lease: int = 0
    ttl: int | None = None
    encoding: str = ""
    api_version: str = ""
    kind: str = ""
    json: Any = None
    hex: str = ""
    raw_bytes: int = 0
    redacted: bool = False
    error: str = ""
    text: str = ""
    sizes: list[FieldSize] = []
    cache: CachedCopy | None = None

    @property
    def typed(self) -> str:
        """`v1 Pod`, `apps/v1 Deployment`; "" for a value of unknown kind."""
        return f"{self.api_version} {self.kind}".strip()

    @property
    def remaining(self) -> int | None:
        """Seconds that the lease has left, 0 when it has run out; None without one."""
        return max(0, self.ttl) if self.lease and self.ttl is not None else None


def read_prefixes(answer: object) -> PrefixPage:
    return msgspec.convert(answer, PrefixPage, strict=False)


def read_keys(answer: object) -> KeyPage:
    return msgspec.convert(answer, KeyPage, strict=False)


def read_key(answer: object) -> KeyDetail:
    return msgspec.convert(answer, KeyDetail, strict=False)


def lease_id(lease: int) -> str:
    """A lease as etcdctl writes it: hexadecimal, or `–` for none."""
    return "–" if lease == NO_LEASE else f"{lease & 0xFFFF_FFFF_FFFF_FFFF:x}"


def is_secret(key: str) -> bool:
    """Whether the key holds a Secret: `/registry/secrets/…` under any etcd prefix."""
    return "/secrets/" in key


class KeyList:
    """Keys of one prefix, read page by page in key order; etcd's cursor allows nothing else."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.keys: list[StoredKey] = []
        self.count = 0
        self.revision = 0
        self._next: str | None = ""

    @property
    def complete(self) -> bool:
        return self._next is None

    @property
    def after(self) -> str:
        """Where the next page begins; only while not `complete`."""
        return self._next or ""

    def wants_more(self, last_visible: int, ahead: int) -> bool:
        """Whether row `last_visible` comes within `ahead` rows of what has been read."""
        return not self.complete and last_visible + ahead >= len(self.keys)

    def extend(self, page: KeyPage) -> None:
        self.keys.extend(page.keys)
        self.count = max(page.count, len(self.keys))
        self.revision = page.revision
        self._next = page.next or None
