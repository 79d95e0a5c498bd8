"""The messages of the Kubernetes API as data: the JSON field of each field number.

`data/messages.json` covers releases 1.24 to 1.37. A row is
`[number, JSON name, kind, flags, type?]`; the flags are

    r  repeated            p  pointer: absent differs from zero
    m  map, string keys    o  omitempty        z  omitzero
    i  inlined in parent   x  removed from newer releases

`field_absent` adds a flag: `a`, left out of the JSON when absent.

`data/merge_rules.json`, made by `tools/merge_rules.py`, has what upstream's Go types say and messages do not:
how fields merge, the order of members in JSON, and Go's names of types.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import msgspec

META = "meta.v1.ObjectMeta"
VARINT_KINDS = frozenset(("bool", "int32", "int64"))

SERVED_AS = 36
"""The minor whose zero values are printed if no release is given."""

READ_DEFAULTS = {
    "core.v1.PersistentVolumeClaimStatus phase": "Pending",
    "core.v1.PersistentVolumeStatus phase": "Pending",
}
"""pkg/apis/core/v1/defaults.go: defaults that stored objects of real clusters may lack."""

JSON_ZERO_VALUES: dict[str, dict[str, Any]] = {
    "CustomResourceDefinition": {
        "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": None},
        "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None},
    },
    "APIService": {"spec": {"groupPriorityMinimum": 0, "versionPriority": 0}, "status": {}},
}
"""What Go prints of the zero values of the kinds that are stored as JSON, which have no messages."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class SchemaField(msgspec.Struct, frozen=True, array_like=True):
    """A row: one field of a message."""

    number: int
    name: str
    kind: str
    flags: str
    type: str = ""  # the message of a `message`, `list` or `schemaOr…` field
    default: str = ""  # the server's for an empty string when decoding

    def has(self, flag: str) -> bool:
        return flag in self.flags

    @property
    def is_map(self) -> bool:
        return "m" in self.flags

    @property
    def repeated(self) -> bool:
        return "r" in self.flags or "m" in self.flags

    @property
    def printed_if_absent(self) -> bool:
        """As a zero value: `"status": {}`, `null`."""
        return not self.has("o") or (self.kind == "message" and not self.repeated and not self.has("p"))

    @property
    def wire_type(self) -> int:
        if self.is_map:
            return BYTES
        if self.kind in VARINT_KINDS:
            return VARINT
        return FIXED64 if self.kind == "double" else BYTES


class _File(msgspec.Struct):
    kinds: dict[str, str]
    since: dict[str, str]
    until: dict[str, str]
    messages: dict[str, msgspec.Raw]


# Made at import: msgspec crashes if two threads are the first to decode a type.
_messages_file = msgspec.json.Decoder(_File)
_rows = msgspec.json.Decoder(tuple[SchemaField, ...])


@cache
def _file() -> _File:
    data = resources.files("ktui.wire").joinpath("data/messages.json").read_bytes()
    return _messages_file.decode(data)


OPTIONS = frozenset(
    {"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"}
)
"""Kinds that every group has in every version: a typed client sends them in its own version."""


def message_of(api_version: str, kind: str) -> str | None:
    """Return the message of a kind: `("apps/v1", "Deployment")` → `"apps.v1.Deployment"`; None if unknown."""
    return _file().kinds.get(f"{'v1' if kind in OPTIONS else api_version} {kind}")


@cache
def kind_messages() -> dict[str, tuple[str, str]]:
    """Return messages of whole objects → their (apiVersion, kind)."""
    found = {}
    for name, message in _file().kinds.items():
        api_version, kind = name.split(" ")
        found[message] = (api_version, kind)
    return found


@cache
def fields(message: str, release: int | None = None, *, served: bool = False) -> tuple[SchemaField, ...]:
    """Return the fields of a message, ascending by number, in Kubernetes 1.`release`.

    `served` is for decoding as a server does, with its defaults. Without a release removed fields are
    included, and fields that only some servers print if absent are printed as in 1.36 if `served`, else
    omitted.
    """
    raw = _file().messages.get(message)
    if raw is None:
        return ()
    return tuple(kept for row in _rows.decode(raw) if (kept := _as_of(message, row, release, served)))


@cache
def fields_by_name(message: str, release: int | None = None) -> dict[str, SchemaField]:
    """Return the fields by JSON name in Kubernetes 1.`release`, including those of inlined structs."""
    known: dict[str, SchemaField] = {}
    for field in fields(message, release):
        known |= fields_by_name(field.type, release) if field.has("i") else {field.name: field}
    return known


def _as_of(message: str, row: SchemaField, release: int | None, served: bool) -> SchemaField | None:
    key = f"{message} {row.name}"
    if served and key in READ_DEFAULTS:
        row = msgspec.structs.replace(row, default=READ_DEFAULTS[key])
    since, until = _file().since.get(key), _file().until.get(key)
    shown_as = SERVED_AS if release is None and served else release
    if until and shown_as is not None and shown_as <= _minor(until):
        row = msgspec.structs.replace(row, flags=row.flags.replace("x", ""))
    if release is None:
        left_out = since is not None and row.printed_if_absent and (_minor(since) > SERVED_AS or not served)
        return msgspec.structs.replace(row, flags=row.flags + "a") if left_out else row
    if since and release < _minor(since):
        return None
    if until and release > _minor(until):
        return None
    if row.has("z") and release < 34:
        # metadata.creationTimestamp of pod templates was printed as null before 1.34.
        return msgspec.structs.replace(row, flags=row.flags.replace("z", ""))
    return row


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


class MergeRule(msgspec.Struct, frozen=True, array_like=True):
    """The rule by which one field merges.

    Server-side apply reads `keys` and `relationship`, strategic merge patches `strategy` and `merge_key`:
    they differ for some fields.

    `keys` are those of a keyed list's items, () for a set, None for an atomic list. `strategy` is a list of
    `merge`, `replace` and `retainKeys`; `merge_key` is "" for lists of plain values. `relationship` is
    `atomic` or `granular` where the field differs from its type.
    """

    keys: tuple[str, ...] | None = None
    strategy: str = ""
    merge_key: str = ""
    relationship: str = ""

    @property
    def merges(self) -> bool:
        return "merge" in self.strategy.split(",")

    @property
    def replaces(self) -> bool:
        return "replace" in self.strategy.split(",")


NO_RULE = MergeRule()


class _MergeFile(msgspec.Struct):
    atomic: frozenset[str]
    fields: dict[str, dict[str, MergeRule]]
    order: dict[str, tuple[int, ...]]
    types: dict[str, dict[str, str]]


_rules_file = msgspec.json.Decoder(_MergeFile)


@cache
def _merge_file() -> _MergeFile:
    data = resources.files("ktui.wire").joinpath("data/merge_rules.json").read_bytes()
    return _rules_file.decode(data)


def rule_of(message: str, field: str) -> MergeRule:
    """Return the rule of a field by its message and its JSON name."""
    return _merge_file().fields.get(message, {}).get(field, NO_RULE)


def is_atomic(message: str) -> bool:
    """Return True for a struct that is owned and replaced as a whole."""
    return message in _merge_file().atomic


def member_order(message: str) -> tuple[int, ...]:
    """Return the field numbers in the order of the struct's members; () if that is ascending."""
    return _merge_file().order.get(message, ())


@cache
def fields_in_order(message: str) -> tuple[SchemaField, ...]:
    """Return the fields in the order of the struct's members, with those of other releases."""
    by_number = {field.number: field for field in fields(message)}
    return tuple(by_number[number] for number in member_order(message) or by_number)


def named_types(message: str) -> dict[str, str]:
    """Return the Go types of fields that messages do not tell: `{"imagePullPolicy": "v1.PullPolicy"}`."""
    return _merge_file().types.get(message, {})
