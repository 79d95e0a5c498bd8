"""A LIST in protobuf: its size comes before its items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.message import Message
from ktui.apiserver.framing import chunked
from ktui.storage.slices import sliced

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# Items of a List of at most this many objects are kept until its size is known. Those of longer ones
# that have to be encoded are encoded again when they are sent.
_FEW = 500
_AT_ONCE = 16


async def message_chunks(
    renderer: Message, metadata: dict[str, Any], objects: Sequence[StoredObject]
) -> Iterator[bytes]:
    """The List in chunks. Measuring it yields to other tasks."""
    few = len(objects) <= _FEW
    items: list[Sequence[bytes]] = []
    size = 0
    async for part in sliced(objects, _AT_ONCE):
        if few:
            items += map(renderer.item, part)
        else:
            size += sum(map(renderer.item_size, part))
    size += sum(len(piece) for item in items for piece in item)
    head, tail = renderer.whole_head(metadata, size), renderer.list_tail(metadata)
    return chunked(head, items if few else map(renderer.item, objects), tail, joint=b"")
