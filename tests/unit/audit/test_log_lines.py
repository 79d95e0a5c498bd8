"""Byte streams taken apart into lines."""

import gzip
import io
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ktui.audit.reading import record_framing as module
from ktui.audit.reading import streams
from ktui.audit.reading.record_framing import blocks
from ktui.audit.reading.streams import (
    LONGEST,
    BrokenStream,
    BufferedStream,
    LongLine,
    UnpackLimit,
    archive_kind,
    leaves,
)


class Dripping(io.RawIOBase):
    """Gives what it holds in pieces of these sizes, again and again."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes, self._turn = data, sizes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = min(self._sizes[self._turn % len(self._sizes)], len(buffer), len(self._data))
        self._turn += 1
        buffer[:size], self._data = self._data[:size], self._data[size:]
        return size


def read_all(stream: io.BufferedReader) -> list[bytes | LongLine]:
    found: list[bytes | LongLine] = []
    for leaf in leaves("log", BufferedStream(stream), UnpackLimit(lambda: 1 << 30)):
        for block in blocks(leaf.source):
            found += [block] if isinstance(block, LongLine) else block
    return found


def stream_of(data: bytes, sizes: list[int] | None = None) -> io.BufferedReader:
    return io.BufferedReader(Dripping(data, sizes or [1 << 20]))


small = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b".")), max_size=30)


@given(small, st.lists(st.integers(1, 50), min_size=1, max_size=5), st.booleans())
def test_lines_come_out_however_the_bytes_come_in(lines: list[bytes], sizes: list[int], ended: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    assume(not streams.packing(data) and not streams.unsupported(data) and not archive_kind(data))
    expected = data.split(b"\n")
    assert read_all(stream_of(data, sizes)) == (expected[:-1] if expected[-1] == b"" else expected)


@given(
    st.lists(st.integers(0, 200), max_size=12),
    st.lists(st.integers(1, 300), min_size=1, max_size=4),
)
def test_long_lines_keep_their_ends_and_their_place(lengths: list[int], sizes: list[int]) -> None:
    longest, tail = 100, 10
    lines = [bytes((65 + i % 26,)) * n for i, n in enumerate(lengths)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONGEST", longest)
        patch.setattr(module, "TAIL", tail)
        found = read_all(stream_of(b"".join(line + b"\n" for line in lines), sizes))
    assert len(found) == len(lines)
    for got, line in zip(found, lines, strict=True):
        if isinstance(got, LongLine):
            assert len(line) > longest
            assert (got.head, got.tail) == (line[:longest], line[-tail:])
        else:
            assert got == line


def test_an_endless_line_is_held_in_little_memory() -> None:
    data = b"x" * (8 << 20)
    (line,) = read_all(stream_of(data + b"\n", [1 << 16]))
    assert isinstance(line, LongLine)
    assert len(line.head) + len(line.tail) < 2 * LONGEST


def test_gzip_is_known_by_its_bytes_and_members_may_follow_each_other() -> None:
    data = gzip.compress(b"one\ntwo\n") + gzip.compress(b"three\n")
    assert read_all(stream_of(data)) == [b"one", b"two", b"three"]


def noise(lines: int, size: int) -> list[bytes]:
    """What gzip cannot make much smaller, the same each time."""
    chance = random.Random(1)
    return [chance.randbytes(size).hex().encode() for _ in range(lines)]


def test_a_truncated_gzip_gives_what_came_before() -> None:
    lines = noise(20_000, 30)
    packed = gzip.compress(b"\n".join(lines))
    found: list[bytes] = []
    with pytest.raises(BrokenStream, match="breaks off"):
        for leaf in leaves(
            "log", BufferedStream(stream_of(packed[: len(packed) // 2])), UnpackLimit(lambda: 1 << 30)
        ):
            for block in blocks(leaf.source):
                assert isinstance(block, list)
                found += block
    assert found == lines[: len(found)]
    assert len(found) > 9_000


@pytest.mark.parametrize("spoil", [12, 600])
def test_a_damaged_gzip_says_so(spoil: int) -> None:
    packed = bytearray(gzip.compress(b"\n".join(noise(500, 20))))
    packed[spoil : spoil + 40] = b"\xff" * 40
    with pytest.raises(BrokenStream, match="cannot be read further"):
        read_all(stream_of(bytes(packed)))


def test_an_empty_stream_has_no_lines() -> None:
    assert read_all(stream_of(b"")) == []
