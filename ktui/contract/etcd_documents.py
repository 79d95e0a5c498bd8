"""Documents of `/ktui/v1/etcd`: prefixes, keys, one key and its history.

Prefixes and keys are text: bytes that are not UTF-8 are escaped by `storage.keys`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ktui.contract.events.base import Count, Difference

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Hex = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-fA-F]{2})*$")]


class PrefixChild(msgspec.Struct, frozen=True):
    """One child of a prefix. `bytes` is keys plus values; `exact` False: estimated from a sample, and
    most probably between `low` and `high`.

    `leaf`: it has no further prefixes, only keys. A key directly under the parent prefix is a child
    too; its `prefix` does not end in a slash.
    """

    prefix: str
    resource: str = ""
    count: Count = 0
    bytes: Count = 0
    exact: bool = True
    leaf: bool = False
    low: Count = 0
    high: Count = 0

    def label(self, parent: str) -> str:
        """The part that this child adds to its parent's prefix: `pods/`."""
        return self.prefix.removeprefix(parent) or self.prefix


class PrefixPage(msgspec.Struct, frozen=True):
    """The children of a prefix. `complete` False: some are not listed."""

    revision: Count
    children: list[PrefixChild]
    complete: bool = True


class StoredKey(msgspec.Struct, frozen=True):
    """Metadata of one key. `lease` is etcd's id, 0 for none; `bytes` is its value's size, None: not read."""

    key: str
    mod_revision: Count = 0
    create_revision: Count = 0
    version: Count = 0
    lease: Difference = 0
    bytes: Count | None = None


class KeyPage(msgspec.Struct, frozen=True):
    """A page of keys in order.

    `count`: keys under the prefix; `next`: the key to continue after, "" at the end.
    """

    revision: Count
    count: Count
    keys: list[StoredKey]
    next: str = ""


class FieldSize(msgspec.Struct, frozen=True):
    """Bytes of one field (`metadata.managedFields`) of a stored value; `share` of the whole, 0 to 1."""

    path: str
    size: Count = 0
    share: Share = 0.0


class LargeKey(msgspec.Struct, frozen=True):
    """A key and the bytes of key and value."""

    key: str
    bytes: Count = 0


class SurveyPage(msgspec.Struct, frozen=True):
    """The sizes of some of the keys under a prefix; `next`: the key to continue after, "" at the end.

    `managed_bytes` are those of metadata.managedFields; `skipped` keys are Secrets that were not read.
    """

    revision: Count
    keys: Count = 0
    bytes: Count = 0
    managed_bytes: Count = 0
    skipped: Count = 0
    largest: list[LargeKey] = []
    next: str = ""


class ResourceChurn(msgspec.Struct, frozen=True):
    """Changes of one resource ("": of keys of no resource); `bytes` of keys and values written."""

    resource: str
    writes: Count = 0
    deletes: Count = 0
    bytes: Count = 0


class KeyChurn(msgspec.Struct, frozen=True):
    """Changes of one key; `manager` wrote it last according to its managedFields, "" if unknown."""

    key: str
    resource: str = ""
    changes: Count = 0
    bytes: Count = 0
    lease: Difference = 0
    manager: str = ""


class LeaseChurn(msgspec.Struct, frozen=True):
    """A lease, and how many of the changed keys are attached to it.

    `ttl` in seconds, -1: it has expired; None: unknown to a read-only client.
    """

    lease: Difference
    keys: Count = 0
    resource: str = ""  # of the first of these keys
    ttl: int | None = None


class Churn(msgspec.Struct, frozen=True):
    """The changes that one watch received in `seconds`, most frequently changed keys first.

    `leases` is the number of leases of these keys, `leased` the number of keys with a lease, `lease_list`
    the leases with most keys. `complete` False: there were too many keys to count, and those that
    changed least were dropped.
    """

    seconds: Annotated[float, msgspec.Meta(ge=0)]
    revision: Count
    resources: list[ResourceChurn] = []
    keys: list[KeyChurn] = []
    leases: Count = 0
    leased: Count = 0
    complete: bool = True
    lease_list: list[LeaseChurn] = []


class CachedCopy(msgspec.Struct, frozen=True):
    """The watch cache's copy of a key: `rv` 0 if it has none; `same`: the bytes are equal too."""

    resource: str = ""
    rv: Count = 0
    cache_rv: Count = 0
    same: bool = False


class KeyDetail(msgspec.Struct, frozen=True):
    """One key at one revision.

    `ttl` in seconds, -1: no lease, or an expired one; None: unknown to a read-only client.
    `json` None: the value is not a readable object; `error` says why, `text` is a plain text value.
    `hex` is the first 4 KiB of the stored value, `sizes` its fields, the largest first.
    `redacted`: a Secret's values are withheld. `cache` None: its resource has no ready cache.
    """

    key: str
    mod_revision: Count = 0
    create_revision: Count = 0
    version: Count = 0
    lease: Difference = 0
    ttl: Difference | None = None
    encoding: str = ""
    api_version: str = ""
    kind: str = ""
    json: Any = None
    hex: Hex = ""
    raw_bytes: Count = 0
    redacted: bool = False
    sizes: list[FieldSize] = []
    error: str = ""
    text: str = ""
    cache: CachedCopy | None = None

    @property
    def type_name(self) -> str:
        """`v1 Pod`, `apps/v1 Deployment`; "" for a value of an unknown kind."""
        return f"{self.api_version} {self.kind}".strip()

    @property
    def remaining(self) -> int | None:
        """Seconds until the lease expires, 0 if it has expired; None without a lease."""
        return max(0, self.ttl) if self.lease and self.ttl is not None else None


class KeyHistory(msgspec.Struct, frozen=True):
    """Revisions of a key, newest first. `complete` False: older ones are compacted, or exceed the limit."""

    key: str
    revisions: list[StoredKey]
    complete: bool = True
