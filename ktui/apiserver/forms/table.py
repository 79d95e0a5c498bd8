"""Tables: the columns and cells of `kubectl get`, made by the server."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.base import ObjectForm, event_line
from ktui.apiserver.forms.partial import partial
from ktui.apiserver.framing import LIST_TAIL
from ktui.kube.golang.jsonencode import to_json
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request
from ktui.kube.tables import table_columns, table_row_cells, table_row_conditions

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.storage.objects import StoredObject

INCLUDES = ("Metadata", "Object", "None")


def check_include(include: str) -> str:
    """`includeObject` of a Table request; StatusError 400."""
    if include and include not in INCLUDES:
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return include or "Metadata"


class Table:
    """One row per object. `include` says what each row holds of the object besides the cells."""

    def __init__(
        self,
        plain: ObjectForm,
        resource: Resource,
        api_version: str,
        include: str,
        now: Callable[[], datetime.datetime] | None = None,
    ) -> None:
        self._plain = plain
        self._resource = resource
        self._api_version = api_version
        self._include = include
        self._now = now or (lambda: datetime.datetime.now(datetime.UTC))

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        return self._head(metadata, table_columns(self._resource))

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        return LIST_TAIL

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        return (self._row(self._plain.whole(obj)),)

    def whole(self, obj: StoredObject) -> bytes:
        return self._one(self._plain.whole(obj), str(obj.rv))

    def of_document(self, document: bytes) -> bytes:
        metadata = json.loads(document).get("metadata") or {}
        return self._one(document, metadata.get("resourceVersion", ""))

    def _one(self, document: bytes, rv: str) -> bytes:
        return b"%b%b]}" % (self.list_head({"resourceVersion": rv} if rv else {}), self._row(document))

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        if event.type == "ERROR":
            return event.line()
        key = ("Table", self._api_version, self._resource.version, self._include, first)
        return event.encoding(key, lambda e: self._line(e, first))

    def _line(self, event: OutEvent, first: bool) -> bytes:
        document = event.document if event.object is None else self._plain.whole(event.object)
        # Only the first event of a watch has the column definitions.
        columns = table_columns(self._resource) if first else None
        head = self._head({"resourceVersion": str(event.rv)}, columns)
        return event_line(event.type, b"%b%b]}" % (head, self._row(document)))

    def _head(self, metadata: dict[str, Any], columns: list[dict[str, Any]] | None) -> bytes:
        head = {
            "kind": "Table",
            "apiVersion": self._api_version,
            "metadata": metadata,
            "columnDefinitions": columns,
        }
        return to_json(head)[:-1] + b',"rows":['

    def _row(self, document: bytes) -> bytes:
        # The standard library's decoder: integers of any size keep their value.
        obj = json.loads(document)
        cells = to_json(table_row_cells(self._resource, obj, self._now()))
        conditions = table_row_conditions(self._resource, obj)
        extra = b',"conditions":%b' % to_json(conditions) if conditions else b""
        return b'{"cells":%b%b,"object":%b}' % (cells, extra, self._object(document))

    def _object(self, document: bytes) -> bytes:
        if self._include == "Object":
            return document
        return b"null" if self._include == "None" else partial(document, self._api_version, self._resource)
