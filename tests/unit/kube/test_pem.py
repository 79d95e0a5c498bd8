"""Which blocks Go's `pem.Decode` finds in a text."""

from __future__ import annotations

import pytest

from ktui.kube.golang.pem import pem_blocks

BLOCK = b"-----BEGIN A-----\neA==\n-----END A-----\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", []),
        (b"x", []),
        (BLOCK, [("A", b"x")]),
        (BLOCK.rstrip(), [("A", b"x")]),
        (b"before\n" + BLOCK + b"between\n" + BLOCK + b"after", [("A", b"x")] * 2),
        (b"before" + BLOCK, []),
        (BLOCK.replace(b"\n", b" \r\n"), [("A", b"x")]),
        (b"-----BEGIN A-----\n-----END A-----", [("A", b"")]),
        (b"-----BEGIN A-----\neA==\n-----END B-----\n" + BLOCK, [("A", b"x")]),
        (b"-----BEGIN A-----\ne!==\n-----END A-----\n" + BLOCK, [("A", b"x")]),
        (b"-----BEGIN A----\neA==\n-----END A-----\n", []),
        (b"-----BEGIN A-----\neA==\n-----END A----- x\n", []),
        (b"-----BEGIN A-----\n" + BLOCK, [("A", b"x")]),
        (BLOCK + b"-----BEGIN A-----\nzz", [("A", b"x")]),
    ],
)
def test_the_blocks_of_a_text(text: bytes, found: list[tuple[str, bytes]]) -> None:
    assert [(block.kind, block.data) for block in pem_blocks(text)] == found


def test_headers() -> None:
    (block,) = pem_blocks(b"-----BEGIN A-----\nB: c\n\neA==\n-----END A-----")
    assert (block.has_headers, block.data) == (True, b"x")
    assert not [*pem_blocks(b"-----BEGIN A-----\nB: c\n-----END A-----")]


def test_many_lines_take_linear_time() -> None:
    assert not [*pem_blocks(b"-----BEGIN A-----\n" * 50_000 + b"\n-----END B-----" * 50_000)]
