"""The interfaces of the forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.storage.objects import StoredObject
    from ktui.wire.pieces import Piece


class EventForm(Protocol):
    """Renders the events of a WATCH."""

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        """Return one line of a WATCH, encoded once for all watchers with the same form.

        Raises UnfitEventError if the form cannot represent the event: the stream ends there.
        """
        ...


class UnfitEventError(Exception):
    """The negotiated form cannot represent an event."""


class ObjectForm(EventForm, Protocol):
    """Renders objects of one resource, as JSON or as protobuf messages."""

    def whole(self, obj: StoredObject) -> bytes:
        """Render one object (GET)."""
        ...

    def of_document(self, document: bytes) -> bytes:
        """Render an object given as JSON: the result of a dry run, or the final state of a deleted object."""
        ...

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        """Render a List up to its first item."""
        ...

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        """Render a List's end, after the last item."""
        ...

    def item(self, obj: StoredObject) -> Sequence[Piece]:
        """Render one item of a List, in pieces to be joined."""
        ...

    def kept(self, obj: StoredObject) -> Sequence[Piece] | None:
        """Return the pieces of `item` if that is fast however large the object is, else None."""
        ...


def event_line(event_type: str, document: bytes) -> bytes:
    """Return an event as a line of JSON: `{"type":…,"object":…}` and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), document)
