"""A LIST in protobuf, where the size of the List comes before its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.message import Message
from ktui.apiserver.framing import chunked
from ktui.telemetry.off_loop import sliced

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.wire.pieces import Piece

# Items that have to be encoded are kept until the size of the List is known if there are at most this many
# objects; with more objects they are encoded again when they are sent.
_FEW = 500
_AT_ONCE = 16


async def message_chunks(
    renderer: Message, metadata: dict[str, Any], objects: Sequence[StoredObject]
) -> Iterator[bytes]:
    """Yield the List in chunks. Measuring its size yields to other tasks."""
    keep = len(objects) <= _FEW and not all(map(renderer.ready, objects))
    items: list[Sequence[Piece]] = []
    size = 0
    async for part in sliced(objects, _AT_ONCE):
        if keep:
            items += map(renderer.item, part)
        else:
            size += sum(map(renderer.item_size, part))
    size += sum(len(piece) for item in items for piece in item)
    head, tail = renderer.whole_head(metadata, size), renderer.list_tail(metadata)
    return chunked(head, items if keep else map(renderer.item, objects), tail, joint=b"")
