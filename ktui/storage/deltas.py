"""Store values as differences from similar values, so that old versions of an object take little memory."""

from __future__ import annotations

import zlib

import msgspec

LEVEL = 3
_RAW_DEFLATE = -15
_WINDOW_BYTES = 1 << 15
# In larger values, equal beginnings and ends are omitted in blocks of this size.
_SMALL_BYTES = 1 << 14
_BLOCK_BYTES = 2048
# Deflating more than this would block the event loop for too long.
MOST_DEFLATED_BYTES = 1 << 16
# A saving of less than a quarter does not justify decoding.
_MOST_SHARE = 0.75


class Delta(msgspec.Struct, frozen=True, gc=False):
    """A value: the base's first `head` bytes, `middle`, and the base's last `tail` bytes."""

    middle: bytes
    deflated: bool  # `middle` is, with the base's own middle as its dictionary, unless that saves little
    head: int = 0
    tail: int = 0

    @property
    def needs_base(self) -> bool:
        return self.deflated or self.head > 0 or self.tail > 0


def difference(value: bytes, base: bytes) -> Delta:
    """Return `value` as its difference from `base` (b"": no base)."""
    head = tail = 0
    if len(value) > _SMALL_BYTES:
        head = _equal(value, base, tail=False)
        tail = _equal(value[head:], base[head:], tail=True)
    middle = value[head : len(value) - tail]
    deflated = len(middle) <= MOST_DEFLATED_BYTES
    if deflated:
        middle = _deflate(middle, _dictionary(base, head, tail))
    if len(middle) > len(value) * _MOST_SHARE:
        return Delta(value, deflated=False)
    return Delta(middle, deflated, head, tail)


def restored(delta: Delta, base: bytes) -> bytes:
    """Return the value that `difference` encoded with this base."""
    middle = delta.middle
    if delta.deflated:
        dictionary = _dictionary(base, delta.head, delta.tail)
        middle = zlib.decompressobj(_RAW_DEFLATE, zdict=dictionary).decompress(middle)
    return b"".join((base[: delta.head], middle, base[len(base) - delta.tail :]))


def _dictionary(base: bytes, head: int, tail: int) -> bytes:
    return base[head : len(base) - tail][-_WINDOW_BYTES:]


def _deflate(data: bytes, dictionary: bytes) -> bytes:
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW_DEFLATE, zdict=dictionary)
    return deflater.compress(data) + deflater.flush()


def _equal(value: bytes, base: bytes, *, tail: bool) -> int:
    """Return the length, in whole blocks, of the common beginning or end."""
    at, most = 0, min(len(value), len(base)) - _BLOCK_BYTES
    while at <= most:
        own, other = (len(value) - at - _BLOCK_BYTES, len(base) - at - _BLOCK_BYTES) if tail else (at, at)
        if value[own : own + _BLOCK_BYTES] != base[other : other + _BLOCK_BYTES]:
            break
        at += _BLOCK_BYTES
    return at
