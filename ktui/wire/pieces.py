"""An object's JSON as a few pieces, the long ones shared with other objects.

Transcoding yields some sixty texts per object, most of them short. Long ones from
a cache are shared by many objects and stay separate;
the others in between are joined. A pod that has a dozen siblings
then takes a tuple and about one kilobyte of its own, not nine kilobytes.
"""

from collections.abc import Iterable

Pieces = tuple[bytes, ...]
"""Joined they are the JSON."""

Piece = bytes | memoryview
"""A piece to be joined. A long part of a stored value is not copied before."""

_WORTH_SHARING = 128
"""Bytes from which on a text is worth a place of its own: a place takes some 50."""

_OFTEN_EQUAL = 64
"""Runs up to this size are mostly punctuation between shared texts, and the same in all objects."""

_MOST_RUNS = 10_000


class Assembler:
    """Joins texts into pieces. Caches short runs, so that equal ones are shared."""

    def __init__(self) -> None:
        self._runs: dict[bytes, bytes] = {}

    def pieces(self, texts: Iterable[bytes]) -> Pieces:
        """The same text in fewer pieces."""
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
