"""Fingerprints of requests seen, in 8 to 16 bytes each."""

from __future__ import annotations

from array import array

_FREE, _TAKEN = 0, 1
_SMALLEST = 1 << 12
_FULL = 0.7  # share of the slots; beyond it, searching for a free one takes long


class Fingerprints:
    """A multiset of 64-bit numbers by open addressing, with at most `most` slots (a power of two).

    Numbers that do not fit are not kept, and counted in `lost`. Numbers are put into their
    slots only when one is looked up: never in a log of one format.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._room = int(_FULL * most)
        self._waiting = array("q")
        self._places = _free(min(_SMALLEST, most))
        self._used = 0  # slots that are not free
        self._kept = 0  # numbers in their slots
        self.lost = 0

    def __len__(self) -> int:
        return self._kept + len(self._waiting)

    def add(self, number: int) -> None:
        """`number`: as returned by hash()."""
        if self._kept + len(self._waiting) < self._room:
            self._waiting.append(number)
        else:
            self.lost += 1

    def take(self, number: int) -> bool:
        """Remove it once; False if it is not there."""
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
        """Put the waiting numbers into their slots."""
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
        """Free the slots of removed numbers; grow if that is not enough."""
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
    """Unsigned, and neither of the two reserved values."""
    return (number & 0x7FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
