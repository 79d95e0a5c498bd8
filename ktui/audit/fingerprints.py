"""Fingerprints of requests that were seen, in 8 to 16 bytes each."""

from __future__ import annotations

from array import array

_FREE, _TAKEN = 0, 1
_SMALLEST = 1 << 12
_FULL = 0.7  # of the places; beyond, looking for a free one takes long


class Fingerprints:
    """A bag of 64-bit numbers by open addressing, of at most `most` places (a power of two).

    What does not fit any more is not kept, and counted in `lost`. Numbers are put into their
    places only when one is looked up: never in a log of one format.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._room = int(_FULL * most)
        self._waiting = array("q")
        self._places = _free(min(_SMALLEST, most))
        self._used = 0  # places that are not free
        self._kept = 0  # numbers in their places
        self.lost = 0

    def __len__(self) -> int:
        return self._kept + len(self._waiting)

    def add(self, number: int) -> None:
        """`number`: as hash() gives it."""
        if self._kept + len(self._waiting) < self._room:
            self._waiting.append(number)
        else:
            self.lost += 1

    def take(self, number: int) -> bool:
        """Take it out once; False when it is not in."""
        if self._waiting:
            self._settle()
        if not self._kept:
            return False
        places, mask = self._places, len(self._places) - 1
        number = _usable(number)
        place = number & mask
        while (found := places[place]) != _FREE:
            if found == number:
                places[place] = _TAKEN
                self._kept -= 1
                return True
            place = (place + 1) & mask
        return False

    def _settle(self) -> None:
        """Put into their places those that wait."""
        waiting, self._waiting = self._waiting, array("q")
        if self._used + len(waiting) > _FULL * len(self._places):
            self._make_room(self._kept + len(waiting))
        for number in waiting:
            self._put(_usable(number))

    def _put(self, number: int) -> None:
        places, mask = self._places, len(self._places) - 1
        place = number & mask
        while places[place] > _TAKEN:
            place = (place + 1) & mask
        self._used += places[place] == _FREE
        self._kept += 1
        places[place] = number

    def _make_room(self, wanted: int) -> None:
        """Forget the places that were taken; grow if that is not enough."""
        size = len(self._places)
        while size < self._most and wanted > size * _FULL / 2:
            size *= 2
        before, self._places = self._places, _free(size)
        self._used = self._kept = 0
        for number in before:
            if number > _TAKEN:
                self._put(number)


def _free(size: int) -> array[int]:
    return array("Q", [_FREE]) * size


def _usable(number: int) -> int:
    """Unsigned, and none of the two that mean something else."""
    return (number & 0x7FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
