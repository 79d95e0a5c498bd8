"""One Kubernetes object as stored in etcd: bytes, parsed only as far as needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ktui.etcd.types import KV
from ktui.kube.resources import Resource
from ktui.kube.selectors import FieldSelector, LabelSelector, ShardSelector
from ktui.kube.structural.shaping import Shaper
from ktui.kube.tables.table import TableRow
from ktui.storage.deltas import Delta, difference, restored
from ktui.storage.errors import UnreadableError
from ktui.storage.kept_json import Share
from ktui.telemetry.meter import decoding
from ktui.telemetry.off_loop import LARGE_BYTES, compute_large
from ktui.wire.codec import Codec, codec_for
from ktui.wire.envelope import MAGIC
from ktui.wire.pb import CodecError
from ktui.wire.pieces import Layout, Pieces
from ktui.wire.scan import Scanned, Scanner
from ktui.wire.stored_edits import (
    LABELLED_BY_TEMPLATE,
    TemplateLabels,
    metadata_without,
    without_managed_fields,
)


class SelectionPredicate(msgspec.Struct, frozen=True):
    """Selectors, shard and the request's own scope. `namespace` and `name` None: any."""

    labels: LabelSelector = msgspec.field(default_factory=LabelSelector)
    fields: FieldSelector = msgspec.field(default_factory=FieldSelector)
    namespace: str | None = None
    name: str | None = None
    shards: ShardSelector | None = None

    @property
    def selective(self) -> bool:
        """True if there are selectors or a shard; otherwise no object has to be scanned."""
        return not (self.labels.empty and self.fields.empty and self.shards is None)

    def select(self, objects: Sequence[StoredObject]) -> list[StoredObject]:
        if self.namespace or self.name or self.shards is not None or not self.labels.empty:
            return [obj for obj in objects if obj.matches(self)]
        matches = self.fields.matches
        return [obj for obj in objects if matches(obj.fields)]


EVERYTHING = SelectionPredicate()


class Reader:
    """Creates objects of one resource from keys and values, and scans them on demand."""

    def __init__(self, resource: Resource, prefix: str) -> None:
        self.resource = resource
        self.prefix = prefix
        self.codec: Codec = codec_for()
        self.scanner = Scanner(resource)
        # Custom resources are pruned and defaulted by their schema; some built-in ones get their template's
        # labels.
        self._defaults: Callable[[bytes], bytes] | None = None
        if resource.schemas:
            self._defaults = Shaper(resource.schemas).shaped
        elif resource.id in LABELLED_BY_TEMPLATE:
            self._defaults = TemplateLabels(resource).set

    def object(self, kv: KV) -> StoredObject:
        """Return the object at `kv`, with the changes that Kubernetes makes while decoding."""
        key = kv.key.decode("utf-8", "backslashreplace")
        value = kv.value if self._defaults is None else self._defaults(kv.value)
        return StoredObject(self, key, value, kv.mod_revision, kv.create_revision, kv.lease)

    def scanned(self, kv: KV) -> StoredObject:
        """Return the object at `kv`, already scanned. Raises UnreadableError."""
        obj = self.object(kv)
        obj.scan()
        return obj

    async def read(self, kvs: Sequence[KV], *, scan: bool = False) -> list[StoredObject]:
        """Return the objects at `kvs`, scanned if `scan`; off the event loop if one of them is large."""
        make = self.scanned if scan else self.object
        if any(len(kv.value) >= LARGE_BYTES for kv in kvs):
            return await compute_large(lambda: [*map(make, kvs)])
        return [*map(make, kvs)]


_unpacked = msgspec.msgpack.Decoder(Scanned)
# The longest chain of superseded versions that are restored from one another.
_LONGEST_CHAIN = 16


class Superseded(msgspec.Struct, frozen=True, gc=False):
    """The value of a superseded version: its difference from a newer version; `newer` None: it needs none."""

    delta: Delta
    newer: StoredObject | None


class StoredObject(msgspec.Struct, gc=False, eq=False):
    """One object. `key` is the whole etcd key, `rv` the resourceVersion to serve, `raw` the stored value.

    `labels`, `fields` (its resource's field selectors) and `uid` are scanned once, on first use.
    `item_pieces` and `table_row` are computed once, and kept until a newer version supersedes the object, or
    until the `share` of its watch cache needs the room. All of them raise UnreadableError if the value is not
    an object.

    Objects refer only to newer versions of themselves, so there are no cycles and the garbage collector does
    not track them: tracking 100,000 objects would stop the process for 130 ms at a time.
    """

    _reader: Reader
    key: str
    _value: bytes | Superseded
    rv: int
    create_revision: int
    lease: int = 0
    _scanned: Scanned | bytes | None = None  # bytes: packed, of a superseded version
    transcoded: Pieces | None = None  # the cached result of `item_pieces`
    _metadata_end: int = 0  # see Codec.item_parts
    _layout: Layout | None = None
    _row: TableRow | None = None
    _older: int = 0  # superseded versions in the chain that ends here
    share: Share | None = None  # of the watch cache that holds the object
    kept: int = 0  # bytes that the share counts for it
    kept_at: int = 0
    used: bool = False  # since the share has looked last

    def __repr__(self) -> str:
        return f"StoredObject({self.key!r}, rv={self.rv})"

    @property
    def raw(self) -> bytes:
        value = self._value
        if isinstance(value, bytes):
            return value
        return restored(value.delta, b"" if value.newer is None else value.newer.raw)

    @property
    def size(self) -> int:
        value = self._value
        return len(value) if isinstance(value, bytes) else len(self.raw)

    @property
    def namespace(self) -> str:
        """The namespace from the key, "" for a cluster-scoped object."""
        return self.key[len(self._reader.prefix) :].rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def uid(self) -> str:
        return self.scan().uid

    @property
    def labels(self) -> dict[str, str]:
        return self.scan().labels

    @property
    def fields(self) -> dict[str, str]:
        scanned = self._scanned
        return (scanned if isinstance(scanned, Scanned) else self.scan()).fields

    def scan(self) -> Scanned:
        """Return labels, fields and uid, without decoding the whole object."""
        scanned = self._scanned
        if isinstance(scanned, bytes):
            return _unpacked.decode(scanned)
        if scanned is None:
            decoding(len(self.raw))
            try:
                scanned = self._scanned = self._reader.scanner.scan(self.raw)
            except CodecError as error:
                raise UnreadableError(self.key, error.reason) from error
        return scanned

    def matches(self, selection: SelectionPredicate) -> bool:
        """Return True if the object is in the selection's scope and matches its selectors."""
        if selection.namespace and selection.namespace != self.namespace:
            return False
        if selection.name and selection.name != self.name:
            return False
        if selection.shards is not None and not selection.shards.matches(self.uid, self.namespace):
            return False
        if not selection.labels.empty and not selection.labels.matches(self.labels):
            return False
        return selection.fields.empty or selection.fields.matches(self.fields)

    def item_pieces(self) -> Pieces:
        """The object's JSON as an item of a List (built-ins without kind and apiVersion), in pieces."""
        item = self.transcoded
        if item is None:
            decoding(len(self.raw))
            try:
                item, self._metadata_end = self._reader.codec.item_parts(self.raw, self.rv)
            except CodecError as error:
                raise UnreadableError(self.key, error.reason) from error
            if isinstance(self._value, bytes):
                self.transcoded = item
                if self.share is not None:
                    self.share.keep(self, sum(map(len, item)))
        else:
            self.used = True
        return item

    def metadata_pieces(self) -> Pieces | None:
        """Return the member `"metadata":{…}` of the JSON, in pieces; None if the value is stored as JSON."""
        pieces = self.item_pieces()
        return pieces[1 : self._metadata_end] if self._metadata_end else None

    def layout(self) -> Layout | None:
        """How to cut the stored message; None if the value does not have its resource's stored version."""
        layout = self._layout
        if layout is None:
            resource = self._reader.resource
            version = resource.storage_version or resource.api_version
            try:
                layout = self._layout = self._reader.codec.layout(self.raw, self.rv, version)
            except CodecError as error:
                raise UnreadableError(self.key, error.reason) from error
        return layout

    def table_row(self, resource: Resource, make: Callable[[StoredObject], TableRow]) -> TableRow:
        """Return the object's row in a Table of `resource`, cached if it was read as that resource."""
        if not self._is_read_as(resource):
            return make(self)
        row = self._row
        if row is None:
            row = make(self)
            if isinstance(self._value, bytes):
                self._row = row
                if self.share is not None:
                    self.share.keep(self, row.size)
        else:
            self.used = True
        return row

    def has_table_row(self, resource: Resource) -> bool:
        return self._row is not None and self._is_read_as(resource)

    def _is_read_as(self, resource: Resource) -> bool:
        """Return False for another served version, and for a custom resource whose columns were changed."""
        own = self._reader.resource
        return resource is own or resource == own

    def full_json(self) -> bytes:
        """Return the complete JSON, kind and apiVersion first."""
        if isinstance(self._value, bytes) and self._value.startswith(MAGIC):
            item = self.transcoded
            if item is None:
                item = self.item_pieces()  # kept for the next answer
            else:
                self.used = True
            if self._metadata_end:
                return self._reader.codec.with_type(self._value, item)
        decoding(len(self.raw))
        try:
            return self._reader.codec.object_json(self.raw, self.rv)
        except CodecError as error:
            raise UnreadableError(self.key, error.reason) from error

    def with_rv(self, rv: int) -> StoredObject:
        """Return the same object at another resourceVersion (a deleted object: that of the deletion)."""
        other = StoredObject(self._reader, self.key, self._value, rv, self.create_revision, self.lease)
        other._scanned = self._scanned
        return other

    def without_managed_fields(self, *, from_json: bool) -> StoredObject:
        """Return the same object without metadata.managedFields; raise UnreadableError.

        `from_json`: JSON will be read; that of a built-in object is cut from the kept pieces, not made again.
        """
        try:
            value = without_managed_fields(self.raw)
        except CodecError as error:
            raise UnreadableError(self.key, error.reason) from error
        other = StoredObject(self._reader, self.key, value, self.rv, self.create_revision, self.lease)
        other._scanned, other._row = self._scanned, self._row
        if from_json and value.startswith(MAGIC):
            pieces, end = self.item_pieces(), self._metadata_end
            if end:
                metadata = metadata_without(b"".join(pieces[1:end]))
                other.transcoded, other._metadata_end = (pieces[0], metadata, *pieces[end:]), 2
        return other

    def shrink(self, newer: StoredObject | None) -> None:
        """Reduce the memory of an object that `newer` superseded (None: the object was deleted).

        Cached results are dropped, and the value becomes a difference from the newer one.
        """
        self.drop_kept()
        if newer is not None:
            self._share(newer)
        if isinstance(self._scanned, Scanned) and (newer is None or self._scanned is not newer._scanned):
            self._scanned = msgspec.msgpack.encode(self._scanned)
        if not isinstance(self._value, bytes):
            return
        if newer is not None and self._older >= _LONGEST_CHAIN:
            newer = None
        delta = difference(self._value, b"" if newer is None else newer.raw)
        if not delta.needs_base:
            newer = None
        self._value = Superseded(delta, newer)
        if newer is not None:
            newer._older = self._older + 1

    def drop_kept(self) -> None:
        """Drop what can be computed again."""
        self.transcoded = self._row = None

    def _share(self, newer: StoredObject) -> None:
        """Share equal names, labels and fields with `newer`."""
        newer.key = self.key
        if self.create_revision == newer.create_revision:
            newer.create_revision = self.create_revision
        if self._scanned == newer._scanned:
            self._scanned = newer._scanned


def bytes_of(objects: Sequence[StoredObject]) -> int:
    """Return the bytes of the objects' keys and values."""
    return sum(len(obj.key) + obj.size for obj in objects)
