"""An object's JSON as a few pieces, the long ones shared with other objects.

Transcoding yields about sixty texts per object, most of them short. Long texts from a cache are shared by
many objects and stay separate; the texts between them are joined. A pod with a dozen siblings then takes a
tuple and about one kilobyte of its own instead of nine.
"""

from collections.abc import Iterable

Pieces = tuple[bytes, ...]
"""Joined, the pieces are the JSON."""

Piece = bytes | memoryview
"""A piece to be joined; a memoryview avoids a copy of a long part of a stored value."""

_WORTH_SHARING = 128
"""Texts of at least this many bytes stay separate; a place in the tuple takes about 50 bytes."""

_OFTEN_EQUAL = 64
"""Runs up to this size are mostly punctuation between shared texts, and equal in all objects."""

_MOST_RUNS = 10_000


class Assembler:
    """Joins texts into pieces. Caches short runs, so that equal ones are shared."""

    def __init__(self) -> None:
        self._runs: dict[bytes, bytes] = {}

    def pieces(self, texts: Iterable[bytes]) -> Pieces:
        """Return the same text in fewer pieces."""
        pieces: list[bytes] = []
        run: list[bytes] = []
        for text in texts:
            if len(text) < _WORTH_SHARING:
                run.append(text)
            else:
                if run:
                    pieces.append(self._joined(run))
                    run = []
                pieces.append(text)
        if run:
            pieces.append(self._joined(run))
        return tuple(pieces)

    def _joined(self, run: list[bytes]) -> bytes:
        text = b"".join(run)
        if len(text) > _OFTEN_EQUAL:
            return text
        if len(self._runs) > _MOST_RUNS:
            self._runs.clear()
        return self._runs.setdefault(text, text)
