"""A LIST in protobuf: its size comes before its items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.forms.message import Message
from ktui.apiserver.framing import CHUNK_BYTES
from ktui.telemetry.meter import yield_to_loop

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# This many items are encoded at once; those of a longer List are encoded twice rather than kept.
PIECE = 500


async def message_chunks(
    renderer: Message, metadata: dict[str, Any], objects: Sequence[StoredObject]
) -> Iterator[bytes]:
    """The List in chunks. Measuring it yields to other tasks between pieces."""
    if len(objects) <= PIECE:
        items = [renderer.item(obj)[0] for obj in objects]
        head = renderer.whole_head(metadata, sum(map(len, items)))
        return iter((head + b"".join(items) + renderer.list_tail(metadata),))
    size = 0
    for low in range(0, len(objects), PIECE):
        size += sum(len(renderer.item(obj)[0]) for obj in objects[low : low + PIECE])
        await yield_to_loop()
    again = (renderer.item(obj)[0] for obj in objects)
    return _chunks(renderer.whole_head(metadata, size), again, renderer.list_tail(metadata))


def _chunks(head: bytes, items: Iterable[bytes], tail: bytes) -> Iterator[bytes]:
    pieces, size = [head], len(head)
    for item in items:
        pieces.append(item)
        size += len(item)
        if size >= CHUNK_BYTES:
            yield b"".join(pieces)
            pieces, size = [], 0
    pieces.append(tail)
    yield b"".join(pieces)
