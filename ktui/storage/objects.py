"""One Kubernetes object as etcd holds it: bytes, looked into only as far as somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ktui.etcd.types import KV
from ktui.kube.resources import Resource
from ktui.kube.structural.shaping import Shaper
from ktui.storage.errors import UnreadableError
from ktui.storage.selection import Selection
from ktui.telemetry.meter import decoding
from ktui.wire.codec import codec_for
from ktui.wire.errors import CodecError
from ktui.wire.pieces import Pieces
from ktui.wire.scan import Scanned, Scanner


class Codec(Protocol):
    """Stored bytes as the JSON that is served."""

    def item_pieces(self, raw: bytes, rv: int | None, api_version: str | None = None) -> Pieces: ...

    def item_json(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes: ...

    def object_json(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes: ...


class Reader:
    """Makes objects of one resource out of keys and values, and reads them when asked to."""

    def __init__(self, resource: Resource, prefix: str, codec: Codec | None = None) -> None:
        self.resource = resource
        self.prefix = prefix
        self.codec: Codec = codec or codec_for()
        self.scanner = Scanner(resource)
        self._shaper = Shaper(resource.schemas) if resource.schemas else None

    def object(self, kv: KV) -> StoredObject:
        """The object at `kv`. A custom resource is what its schema makes of it, all else what is stored."""
        key = kv.key.decode("utf-8", "backslashreplace")
        value = kv.value if self._shaper is None else self._shaper.shaped(kv.value)
        return StoredObject(self, key, value, kv.mod_revision, kv.create_revision, kv.lease)

    def scanned(self, kv: KV) -> StoredObject:
        """The object at `kv`, already scanned. Raises UnreadableError."""
        obj = self.object(kv)
        obj.scan()
        return obj


class StoredObject(msgspec.Struct, gc=False, eq=False):
    """`key` is the whole etcd key, `rv` the resourceVersion to serve, `raw` the stored value.

    `labels`, `fields` (its resource's field selectors) and `uid` are scanned once,
    on first use; `item_pieces` transcodes once and keeps the result. All of them
    raise UnreadableError for a value that is no object.

    No object refers to another one, so the garbage collector need not look at
    them: over 100,000 of them it would stop the process for 130 ms at a time.
    """

    _reader: Reader
    key: str
    raw: bytes
    rv: int
    create_revision: int
    lease: int = 0
    _scanned: Scanned | None = None
    _item: Pieces | None = None

    def __repr__(self) -> str:
        return f"StoredObject({self.key!r}, rv={self.rv})"

    @property
    def namespace(self) -> str:
        """As the key says, "" for a cluster-scoped object."""
        return self.key[len(self._reader.prefix) :].rpartition("/")[0]

    @property
    def name(self) -> str:
        """As the key says."""
        return self.key.rpartition("/")[2]

    @property
    def uid(self) -> str:
        return self.scan().uid

    @property
    def labels(self) -> dict[str, str]:
        return self.scan().labels

    @property
    def fields(self) -> dict[str, str]:
        return self.scan().fields

    def scan(self) -> Scanned:
        """Labels, fields and uid, without decoding the whole object."""
        scanned = self._scanned
        if scanned is None:
            decoding(len(self.raw))
            try:
                scanned = self._scanned = self._reader.scanner.scan(self.raw)
            except CodecError as error:
                raise UnreadableError(self.key, error.reason) from error
        return scanned

    def matches(self, selection: Selection) -> bool:
        """Whether it lies in the selection's scope and passes its selectors."""
        if selection.namespace and selection.namespace != self.namespace:
            return False
        if selection.name and selection.name != self.name:
            return False
        if not selection.labels.empty and not selection.labels.matches(self.labels):
            return False
        return selection.fields.empty or selection.fields.matches(self.fields)

    def item_pieces(self) -> Pieces:
        """As it stands in a List (built-ins without kind and apiVersion): to be joined."""
        item = self._item
        if item is None:
            decoding(len(self.raw))
            try:
                item = self._item = self._reader.codec.item_pieces(self.raw, self.rv)
            except CodecError as error:
                raise UnreadableError(self.key, error.reason) from error
        return item

    def item_json(self) -> bytes:
        """`item_pieces`, joined."""
        return b"".join(self.item_pieces())

    def full_json(self) -> bytes:
        """As it stands by itself: kind and apiVersion first."""
        decoding(len(self.raw))
        try:
            return self._reader.codec.object_json(self.raw, self.rv)
        except CodecError as error:
            raise UnreadableError(self.key, error.reason) from error

    def with_rv(self, rv: int) -> StoredObject:
        """The same object at another resourceVersion (a deleted one bears that of its deletion)."""
        other = StoredObject(self._reader, self.key, self.raw, rv, self.create_revision, self.lease)
        other._scanned = self._scanned
        return other


def bytes_of(objects: Sequence[StoredObject]) -> int:
    """Bytes of their keys and values."""
    return sum(len(obj.key) + len(obj.raw) for obj in objects)
