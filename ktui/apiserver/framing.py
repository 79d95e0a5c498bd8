"""A List's JSON, made of ready pieces and cut into chunks that can be sent at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec.json

# The first chunk is small, so that the first byte is early.
FIRST_CHUNK_BYTES = 16 * 1024
CHUNK_BYTES = 256 * 1024
# Encoding items must not keep other requests waiting for longer.
SLICE_SECONDS = 0.004


def list_metadata(
    rv: str, continue_: str = "", remaining: int | None = None, *, always_continue: bool = False
) -> dict[str, Any]:
    """ListMeta in upstream's member order. Lists of custom resources always name `continue`."""
    metadata: dict[str, Any] = {"resourceVersion": rv}
    if continue_ or always_continue:
        metadata["continue"] = continue_
    if remaining is not None and continue_:
        metadata["remainingItemCount"] = remaining
    return metadata


def list_head(kind: str, api_version: str, metadata: dict[str, Any]) -> bytes:
    """Everything before the first item."""
    head = msgspec.json.encode({"kind": kind, "apiVersion": api_version, "metadata": metadata})
    return head[:-1] + b',"items":['


LIST_TAIL = b"]}\n"
INDENTED_TAIL = b"\n  ]\n}\n"
_ITEM_BEGINS = b"\n    "


def indented(head: bytes, items: Iterable[Sequence[bytes]]) -> tuple[bytes, Iterator[Sequence[bytes]]]:
    """Head and items of a List as `?pretty=true` shows them, before INDENTED_TAIL; for at least one item.

    Item by item: to indent a whole List at once stops everybody else for seconds.
    """
    empty = msgspec.json.format(head + LIST_TAIL, indent=2)
    return empty[: empty.rindex(b"]")], (_indented_item(b"".join(item)) for item in items)


def _indented_item(item: bytes) -> Sequence[bytes]:
    # A line break is never part of a JSON string: it is written as \n there.
    return _ITEM_BEGINS, msgspec.json.format(item, indent=2).replace(b"\n", _ITEM_BEGINS)


def chunked(head: bytes, items: Iterable[Sequence[bytes]], tail: bytes = LIST_TAIL) -> Iterator[bytes]:
    """Head, items (each in pieces) joined by commas and tail, in chunks.

    A chunk ends when it is big enough or when gathering it has taken SLICE_SECONDS:
    the caller gives way to others between chunks.
    """
    pieces = [head]
    size = len(head)
    full = FIRST_CHUNK_BYTES
    deadline = time.perf_counter() + SLICE_SECONDS
    comma = b""
    for item in items:
        pieces.append(comma)
        pieces += item
        comma = b","
        size += sum(map(len, item)) + 1
        if size >= full or time.perf_counter() >= deadline:
            yield b"".join(pieces)
            pieces, size, full = [], 0, CHUNK_BYTES
            deadline = time.perf_counter() + SLICE_SECONDS
    pieces.append(tail)
    yield b"".join(pieces)
