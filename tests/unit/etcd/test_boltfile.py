"""Database files of others: whole, or one sentence says what is wrong; never an endless walk."""

from __future__ import annotations

import os
import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.etcd import snapshot
from ktui.etcd.errors import SnapshotError
from ktui.etcd.snapshot import _fnv, inspect

PAGE = 512
ROOT, BRANCH, LEAF, FREE = 3, 4, 5, 2  # pages
PAGES = 7


def page(number: int, flags: int, elements: list[bytes], rest: bytes = b"") -> bytes:
    header = struct.pack("<QHHI", number, flags, len(elements), 0)
    return (header + b"".join(elements) + rest).ljust(PAGE, b"\0")


def meta(number: int, transaction: int, pages: int = PAGES, root: int = ROOT) -> bytes:
    fields = struct.pack("<IIIIQQQQQ", 0xED0CDAED, 2, PAGE, 0, root, 0, FREE, pages, transaction)
    content = struct.pack("<QHHI", number, 4, 0, 0) + fields + struct.pack("<Q", _fnv(fields))
    return content.ljust(PAGE, b"\0")


def database(**changed: int) -> bytes:
    """Buckets `cluster` (within its page) and `key` (a branch with two leaves), as bbolt writes them."""
    version = b"clusterVersion3.5.1"
    inline = struct.pack("<QQ", 0, 0) + struct.pack("<QHHI", 0, 2, 1, 0) + version
    buckets = struct.pack("<IIII", 1, 32, 7, len(inline))
    buckets += struct.pack("<IIII", 1, 16 + 7 + len(inline), 3, 16)
    content = b"cluster" + inline + b"key" + struct.pack("<QQ", BRANCH, 0)
    children = [struct.pack("<IIQ", 32, 1, LEAF), struct.pack("<IIQ", 17, 1, LEAF + 1)]
    return b"".join(
        [
            meta(0, 8),
            meta(1, 9, **changed),
            page(FREE, 0x10, []),
            page(ROOT, 2, [buckets[:16], buckets[16:]], content),
            page(BRANCH, 1, children, b"ab"),
            page(LEAF, 2, [struct.pack("<IIII", 0, 16, 1, 1)], b"ax"),
            page(LEAF + 1, 2, [struct.pack("<IIII", 0, 16, 1, 1)], b"by"),
        ]
    )


def what_is_wrong(content: bytes) -> str:
    """ "" for a database that is whole."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "snapshot.db"
        file.write_bytes(content)
        try:
            inspect(file, file)
        except SnapshotError as error:
            said = str(error)
            assert said.startswith(f"snapshot {file}: ") and "\n" not in said and len(said) < 400
            return said
    return ""


def with_child(where: int, child: int) -> bytes:
    content = bytearray(database())
    struct.pack_into("<Q", content, where, child)
    return bytes(content)


FIRST_CHILD = BRANCH * PAGE + 16 + 8


def test_a_whole_database(tmp_path: Path) -> None:
    file = tmp_path / "db"
    file.write_bytes(database() + bytes(32))
    assert inspect(file, file) == (True, (3, 5))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (bytes(1 << 16), "not a bbolt database"),
        (b"", "not a bbolt database"),
        (with_child(FIRST_CHILD, BRANCH), "page 4 is referenced twice"),
        (with_child(FIRST_CHILD, LEAF + 1), "page 6 is referenced twice"),
        (with_child(FIRST_CHILD, ROOT), "page 3 is referenced twice"),
        (with_child(FIRST_CHILD, 1 << 40), "page 1099511627776 does not exist"),
        (with_child(FIRST_CHILD, 0), "page 0 does not exist"),
        (with_child(FIRST_CHILD, FREE), "page 2 is not what it is referenced as"),
        (with_child(FREE * PAGE + 8, 0x10 | 0xFFFE << 16), "longer than its pages"),
        (with_child(LEAF * PAGE + 8, 2 | 1 << 16 | 0xFFFF << 32), "page 5 is not what it is referenced as"),
        (with_child(BRANCH * PAGE + 8, 1 | 0xFFFF << 16), "page 4 has more elements than room"),
        (database(pages=1 << 50), "truncated"),
        (database(root=LEAF + 20), "page 25 does not exist"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, says: str) -> None:
    assert says in what_is_wrong(content)


@pytest.mark.parametrize("pages", range(PAGES))
def test_a_file_cut_at_a_page(pages: int) -> None:
    assert what_is_wrong(database()[: pages * PAGE])


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, PAGES * PAGE - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_mutated_database_is_taken_or_named(changes: list[tuple[int, int]]) -> None:
    content = bytearray(database())
    for place, value in changes:
        content[place] = value
    what_is_wrong(bytes(content))


def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, says in {"": "a directory", "fifo": "not a file", "gone": "no such file"}.items():
        with pytest.raises(SnapshotError, match=says):
            snapshot.check(tmp_path / name)
