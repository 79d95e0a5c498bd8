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
        """One line of a WATCH, encoded once for all watchers with the same form.

        Raises UnfitEventError if the form cannot represent it: the stream ends there.
        """
        ...


class UnfitEventError(Exception):
    """An event that the negotiated form cannot represent."""


class ObjectForm(EventForm, Protocol):
    """Renders objects of one resource: as JSON, or as protobuf messages."""

    def whole(self, obj: StoredObject) -> bytes:
        """One object (GET)."""
        ...

    def of_document(self, document: bytes) -> bytes:
        """One object given as JSON: from a dry run, or the final state of a deleted one."""
        ...

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        """A List up to its first item."""
        ...

    def list_tail(self, metadata: dict[str, Any]) -> bytes:
        """The rest after the last item."""
        ...

    def item(self, obj: StoredObject) -> Sequence[Piece]:
        """One item of a List, in pieces to be joined."""
        ...

    def kept(self, obj: StoredObject) -> Sequence[Piece] | None:
        """The pieces of `item` if they take no time however large the object is, else None."""
        ...


def event_line(event_type: str, document: bytes) -> bytes:
    """`{"type":…,"object":…}` and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), document)
