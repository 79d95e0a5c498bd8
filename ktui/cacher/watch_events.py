"""Watch events, as the cache stores them and as watchers receive them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ktui.kube.golang.formatting import to_json
from ktui.storage.objects import StoredObject

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"


class OutEvent:
    """One watch event, encoded at most once for each form that watchers use."""

    __slots__ = ("_encodings", "_line", "document", "encoded", "object", "rv", "type")

    def __init__(
        self, event_type: str, rv: int, obj: StoredObject | None = None, document: bytes = b""
    ) -> None:
        self.type = event_type
        self.rv = rv
        self.object = obj
        # of BOOKMARK and ERROR, which have no object: the JSON of the event's `object`
        self.document = document
        self.encoded = 0  # encodings made so far
        self._line: bytes | None = None
        self._encodings: dict[Hashable, tuple[int, bytes]] | None = None

    def line(self) -> bytes:
        """Return the event as a line of JSON: `{"type":…,"object":…}` and a newline."""
        if self._line is None:
            body = self.document if self.object is None else self.object.full_json()
            self._line = b'{"type":"%b","object":%b}\n' % (self.type.encode(), body)
            self.encoded += 1
        return self._line

    def encoding(self, target: Hashable, encode: Callable[[OutEvent], bytes], second: int = 0) -> bytes:
        """Return the event in another form (a Table …), shared by all watchers with this `target`.

        A form with ages gives the `second` for which they are.
        """
        if self._encodings is None:
            self._encodings = {}
        found = self._encodings.get(target)
        if found is None or found[0] != second:
            found = self._encodings[target] = second, encode(self)
            self.encoded += 1
        return found[1]


class CacheEvent:
    """One change of a resource in the event buffer.

    For DELETED, `object` is the last state at the resourceVersion of the deletion, and `previous` that state
    as it was stored. `at` is the time of receipt (seconds of the buffer's monotonic clock).
    """

    __slots__ = ("_added", "_deleted", "_modified", "_shrunk", "at", "object", "previous", "rv", "type")

    def __init__(
        self, event_type: str, obj: StoredObject, previous: StoredObject | None, rv: int, at: float
    ) -> None:
        self.type = event_type
        self.object = obj
        self.previous = previous
        self.rv = rv
        self.at = at
        self._shrunk = False
        self._added: OutEvent | None = None
        self._modified: OutEvent | None = None
        self._deleted: OutEvent | None = None

    def out(self, current: bool, old: bool) -> OutEvent | None:
        """Return the event for watchers whose filter matches the object now (`current`) or matched it before
        (`old`).

        An object that leaves the filter is DELETED at the resourceVersion of the update, with its previous
        content. All watchers share the returned event.
        """
        if current:
            return self._modified or self._made(MODIFIED) if old else self._added or self._made(ADDED)
        return self._deleted or self._made(DELETED) if old else None

    def shrink(self) -> None:
        """Reduce the memory of an old event. From then on it is encoded for each watcher."""
        self._shrunk = True
        self._added = self._modified = self._deleted = None
        if self.previous is not None:
            self.previous.shrink(self.object)
        if self.type == DELETED:
            self.object.shrink(None)

    def _made(self, event_type: str) -> OutEvent:
        obj = self.object
        if event_type == DELETED:
            gone = obj if self.type == DELETED or self.previous is None else self.previous
            obj = gone.with_rv(self.rv)
        out = OutEvent(event_type, self.rv, obj)
        if not self._shrunk:
            setattr(self, f"_{event_type.lower()}", out)
        return out


def error(status: object) -> OutEvent:
    """Return the ERROR that ends a stream; `status` is the body of a Status."""
    return OutEvent(ERROR, 0, document=to_json(status))
