"""What each form can do."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.storage.objects import StoredObject


class ObjectForm(Protocol):
    """Renders objects of one resource. All results are JSON."""

    def whole(self, obj: StoredObject) -> bytes:
        """One object by itself (GET)."""
        ...

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        """A List up to its first item."""
        ...

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        """One item of a List, in pieces to be joined."""
        ...

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        """One line of a WATCH; encoded once for all watchers that want the same form."""
        ...


def event_line(event_type: str, document: bytes) -> bytes:
    """`{"type":…,"object":…}` and a newline."""
    return b'{"type":"%b","object":%b}\n' % (event_type.encode(), document)


def form_key(*parts: Hashable) -> Hashable:
    """Names a form among the shared encodings of an event."""
    return parts
