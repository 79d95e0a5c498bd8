"""Split a JSON tree into pieces of bounded size, so that no single step takes long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ktui.documents.limits import MAX_CONTAINERS, too_many_containers

PIECE_BYTES = 32 * 1024

Path = tuple[str | int, ...]


class Piece(msgspec.Struct, array_like=True):
    """Members or items for the object or list at `path`; a tree that is neither is one piece."""

    path: Path
    part: Any


def check_containers(tree: Any) -> None:
    """Raise TooLarge if the tree has more objects and lists than a document may have."""
    waiting, count = [tree], 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            count += 1
            if count > MAX_CONTAINERS:
                raise too_many_containers()
            waiting.extend(value.values() if isinstance(value, dict) else value)


def pieces(tree: Any, most: int = PIECE_BYTES) -> Iterator[Piece]:
    """Yield the pieces of a tree, of about `most` bytes of JSON each; a single long text is one piece."""
    sizes: dict[int, int] = {}
    _measure(tree, sizes)
    return _pieces(tree, (), sizes, most)


def joined(parts: Iterable[Piece]) -> Iterator[Any]:
    """Rebuild a tree from its pieces; yields the tree so far after each piece."""
    tree: Any = None
    for piece in parts:
        if not piece.path:
            tree = _extended(tree, piece.part)
        else:
            holder = tree
            for step in piece.path[:-1]:
                holder = holder[step]
            holder[piece.path[-1]] = _extended(holder[piece.path[-1]], piece.part)
        yield tree


def _extended(value: Any, part: Any) -> Any:
    if isinstance(value, dict):
        value.update(part)
    elif isinstance(value, list):
        value.extend(part)
    else:
        return part
    return value


def _measure(value: Any, sizes: dict[int, int]) -> int:
    """Return the approximate JSON size of a value; `sizes` collects those of objects and lists by id()."""
    if isinstance(value, str):
        return len(value) + 3
    if isinstance(value, dict):
        size = 2 + sum(len(name) + 4 + _measure(member, sizes) for name, member in value.items())
    elif isinstance(value, list):
        size = 2 + sum(_measure(item, sizes) for item in value)
    else:
        return 8
    sizes[id(value)] = size
    return size


def _pieces(value: Any, path: Path, sizes: dict[int, int], most: int) -> Iterator[Piece]:
    if sizes.get(id(value), 0) <= most:
        yield Piece(path, value)
        return
    large: list[str | int] = []
    part: list[tuple[str | int, Any]] = []
    held = 0
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        size = sizes.get(id(inner), 0) if isinstance(inner, dict | list) else _measure(inner, sizes)
        if size > most and isinstance(inner, dict | list):
            large.append(key)
            inner, size = type(inner)(), 2
        if held + size > most and part:
            yield Piece(path, _made_like(value, part))
            part, held = [], 0
        part.append((key, inner))
        held += size + 4 + (len(key) if isinstance(key, str) else 0)
    yield Piece(path, _made_like(value, part))
    for key in large:
        yield from _pieces(value[key], (*path, key), sizes, most)


def _made_like(value: Any, part: list[tuple[Any, Any]]) -> Any:
    return dict(part) if isinstance(value, dict) else [inner for _, inner in part]
