"""Parse a body into a tree: small JSON on the event loop, everything else in a parser process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from ktui.apiserver.parsing.frames import DUPLICATES, INVALID, JSON, PIECE, TOO_LARGE, YAML
from ktui.apiserver.parsing.pool import Frames, ParserPool
from ktui.documents.jsonreader import duplicate_fields, parse_json, read_json
from ktui.documents.limits import DocumentError, TooLarge
from ktui.documents.pieces import Piece, joined
from ktui.telemetry.off_loop import compute

SMALL_BYTES = 16 * 1024
SMALL_CONTAINERS = 500
TINY_BYTES = 1024  # even the errors of a body this short are found at once
_pieces = msgspec.json.Decoder(Piece)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document and its duplicate fields, as strict decoding reports them."""

    tree: Any
    duplicates: list[str]


class BodyParser:
    """Parses bodies without blocking the event loop for longer than a few milliseconds."""

    def __init__(self, pool: ParserPool) -> None:
        self._pool = pool

    async def json(self, body: bytes) -> Parsed:
        """Parse JSON. Raises DocumentError with Go's message, or TooLarge."""
        if is_small(body):
            try:
                tree = read_json(body) if len(body) <= TINY_BYTES else parse_json(body)
                return Parsed(tree, _duplicate_texts(duplicate_fields(body)))
            except DocumentError:
                raise
            except ValueError:
                pass  # finding the error takes long
        return await self._in_process(JSON, body)

    async def yaml(self, body: bytes) -> Parsed:
        """Parse YAML; a small JSON document is parsed as JSON. Raises like `json`."""
        if body.lstrip()[:1] == b"{" and is_small(body):
            try:
                tree = parse_json(body)
            except ValueError:
                pass  # flow style, or not valid
            else:
                if not duplicate_fields(body):
                    return Parsed(tree, [])
        return await self._in_process(YAML, body)

    async def _in_process(self, kind: bytes, body: bytes) -> Parsed:
        frames = await self._pool.parse(kind, body)
        for answer, content in frames:
            if answer == TOO_LARGE:
                raise TooLarge(content.decode())
            if answer == INVALID:
                raise DocumentError(content.decode())
        duplicates: list[str] = msgspec.json.decode(_of_kind(frames, DUPLICATES)[0])
        if duplicates:
            duplicates = _duplicate_texts(duplicates) if kind == JSON else [_strict_yaml(duplicates)]
        parts = _of_kind(frames, PIECE)
        return Parsed(await compute(_tree, parts), duplicates)

    async def close(self) -> None:
        """End the parser processes."""
        await self._pool.close()


def is_small(body: bytes) -> bool:
    """Return True if decoding the body and the work after it take a few milliseconds at most."""
    return len(body) <= SMALL_BYTES and body.count(b"{") + body.count(b"[") <= SMALL_CONTAINERS


def _of_kind(frames: Frames, kind: bytes) -> list[bytes]:
    return [content for found, content in frames if found == kind]


def _tree(parts: Iterable[bytes]) -> Any:
    """Build the tree in many short steps, between which the event loop runs."""
    *_, tree = joined(map(_pieces.decode, parts))
    return tree


def _duplicate_texts(paths: list[str]) -> list[str]:
    return [f'duplicate field "{path}"' for path in paths]


def _strict_yaml(texts: list[str]) -> str:
    return "\n  ".join(["yaml: unmarshal errors:", *texts])
