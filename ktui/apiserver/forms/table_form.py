"""Tables: the columns and cells of `kubectl get`, rendered by the server."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, TypedDict

import msgspec

from ktui.apiserver.forms.metadata_form import Partial
from ktui.apiserver.forms.plain import ObjectForm, event_line
from ktui.cacher.bookmarks import INITIAL_EVENTS_END
from ktui.cacher.watch_events import OutEvent
from ktui.kube.golang.formatting import to_json
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request
from ktui.kube.tables.table import PRINTERS, TableRow, table_columns, table_row
from ktui.storage.objects import StoredObject
from ktui.telemetry.off_loop import LARGE_BYTES
from ktui.wire.type_order import OBJECT_META

_NULL = b"null"
# A BOOKMARK that ends initial events keeps its metadata without an object too (k8s.io/apiserver 1.36,
# endpoints/handlers/response.go:384), for the annotation is in them.
_INITIAL_END = b'"%b":"true"' % INITIAL_EVENTS_END.encode()
INCLUDES = ("Metadata", "Object", "None")


# ObjectMeta without managedFields, which are half of many objects and in no cell.
_shown = dict.fromkeys((name for name in OBJECT_META if name != "managedFields"), Any)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_metadata = msgspec.json.Decoder(TypedDict("_Metadata", _shown, total=False))  # type: ignore[operator]
_any = msgspec.json.Decoder()


def check_include(include: str) -> str:
    """Validate `includeObject` of a Table request; raise StatusError 400."""
    if include and include not in INCLUDES:
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return include or "Metadata"


class Table(ObjectForm):
    """A Table with one row per object. `include` is the part of the object in each row, next to the cells."""

    def __init__(self, plain: ObjectForm, resource: Resource, api_version: str, include: str) -> None:
        self._plain = plain
        self._resource = resource
        self._api_version = api_version
        self._include = include
        self._partial = Partial(plain, api_version, resource)
        searching = sum("*" in column.source or "?" in column.source for column in resource.columns)
        # A definition's columns may be hundreds, each of which looks at every item of a list.
        self.large_bytes = LARGE_BYTES // (1 + searching // 8 if resource.custom else 1)

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        return self._head(metadata, table_columns(self._resource))

    def empty_list(self, metadata: dict[str, Any]) -> bytes:
        if self._resource.custom or self._resource.id in PRINTERS:
            return super().empty_list(metadata)
        return self.list_head(metadata).removesuffix(b"[") + b"null}\n"

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        row = obj.table_row(self._resource, self._made).at(time.time())
        return (row, *self._object(obj), b"}")

    def kept(self, obj: StoredObject) -> Sequence[bytes] | None:
        ready = obj.has_table_row(self._resource) and (
            self._include == "None" or (self._partial.spliced and obj.transcoded is not None)
        )
        return self.item(obj) if ready else None

    def whole(self, obj: StoredObject) -> bytes:
        return self._one(b"".join(self.item(obj)), str(obj.rv or ""))

    def of_document(self, document: bytes) -> bytes:
        metadata = json.loads(document).get("metadata") or {}
        return self._one(self._document_row(document), metadata.get("resourceVersion", ""))

    def _one(self, row: bytes, rv: str) -> bytes:
        return b"%b%b]}" % (self.list_head({"resourceVersion": rv} if rv else {}), row)

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        if event.type == "ERROR":
            return event.line()
        key = ("Table", self._api_version, self._resource.version, self._include, first)
        return event.encoding(key, lambda e: self._line(e, first), self.second())

    def second(self) -> int:
        return int(time.time())

    def _line(self, event: OutEvent, first: bool) -> bytes:
        # Only the first event of a watch has the column definitions.
        columns = table_columns(self._resource) if first else None
        head, obj = self._head({"resourceVersion": str(event.rv)}, columns), event.object
        row = self._document_row(event.document) if obj is None else b"".join(self.item(obj))
        return event_line(event.type, b"%b%b]}" % (head, row))

    def _head(self, metadata: dict[str, Any], columns: list[dict[str, Any]] | None) -> bytes:
        head = {"kind": "Table", "apiVersion": self._api_version, "metadata": metadata}
        return to_json(head | {"columnDefinitions": columns})[:-1] + b',"rows":['

    def _made(self, obj: StoredObject) -> TableRow:
        return table_row(self._resource, self._tree(b"".join(self._plain.item(obj))))

    def _tree(self, document: bytes) -> dict[str, Any]:
        if not self._resource.custom:
            try:
                members = _members.decode(document)
                return {
                    name: (_metadata if name == "metadata" else _any).decode(text)
                    for name, text in members.items()
                }
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
        # The standard library's decoder keeps integers of any size exact.
        tree: dict[str, Any] = json.loads(document)
        return tree

    def _document_row(self, document: bytes) -> bytes:
        row = table_row(self._resource, self._tree(document)).at(time.time())
        if self._include == "None" and _INITIAL_END not in document:
            return row + b"null}"
        shown = document if self._include == "Object" else self._partial.of_document(document)
        return b"%b%b}" % (row, shown)

    def _object(self, obj: StoredObject) -> Sequence[bytes]:
        if self._include == "None":
            return (_NULL,)
        return (self._plain.whole(obj),) if self._include == "Object" else self._partial.item(obj)
