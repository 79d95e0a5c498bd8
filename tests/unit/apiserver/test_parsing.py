"""Bodies parsed in processes of their own: the same trees, and no body ends more than its parser."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ktui.apiserver.parsing.pool import SMALL_BYTES, BodyParser, ParserPool, is_small
from ktui.apiserver.parsing.worker import END, JSON, TOO_LARGE, YAML, frame
from ktui.documents.limits import DocumentError, TooLarge

pytestmark = pytest.mark.anyio

LARGE: dict[str, Any] = {"items": [{"name": f"n{i}", "at": [i, i / 7, None, True, "ü"]} for i in range(2000)]}


class CountedPool(ParserPool):
    """Counts the bodies that go to a process."""

    asked = 0

    async def parse(self, kind: bytes, body: bytes) -> list[tuple[bytes, bytes]]:
        self.asked += 1
        return await super().parse(kind, body)


@pytest.fixture
async def pool() -> AsyncIterator[CountedPool]:
    pool = CountedPool()
    yield pool
    await pool.close()
    assert pool.pids == []


@pytest.fixture
def parser(pool: CountedPool) -> BodyParser:
    return BodyParser(pool)


async def test_small_json_needs_no_process(parser: BodyParser, pool: CountedPool) -> None:
    parsed = await parser.json(b'{"a": 1, "a": 2}')
    assert (parsed.tree, parsed.duplicates) == ({"a": 2}, ['duplicate field "a"'])
    assert (await parser.yaml(b' {"kind": "Pod"}')).tree == {"kind": "Pod"}
    assert pool.asked == 0
    assert pool.pids == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (YAML, b"a: 1\n"),
        (YAML, b'{"a": 1, "a": 2}'),
        (JSON, b"[" + b"[]," * 2000 + b"[]]"),
        (JSON, b"[" * 4000),
        (JSON, b'"%s"' % (b"x" * SMALL_BYTES)),
        (JSON, b'{"a": "%s"' % (b"x" * 2000)),
    ],
    ids=["yaml", "duplicates", "many lists", "deep", "large", "invalid"],
)
async def test_what_goes_to_a_process(
    parser: BodyParser, pool: CountedPool, kind: bytes, body: bytes
) -> None:
    with contextlib.suppress(DocumentError):
        await (parser.yaml(body) if kind == YAML else parser.json(body))
    assert pool.asked == 1


async def test_large_documents_are_the_same_trees(parser: BodyParser) -> None:
    body = json.dumps(LARGE).encode()
    assert not is_small(body)
    assert json.dumps((await parser.json(body)).tree) == json.dumps(LARGE)
    assert (await parser.yaml(body)).tree == LARGE
    big = b'[%d, "%s"]' % (10**25, b"x" * SMALL_BYTES)
    assert (await parser.json(big)).tree[0] == 10**25


async def test_errors_have_gos_words(parser: BodyParser) -> None:
    with pytest.raises(DocumentError, match="invalid character '}' looking for beginning of value"):
        await parser.json(b"[%s}" % (b"0," * SMALL_BYTES))
    with pytest.raises(DocumentError, match="yaml: line 1: did not find expected node content"):
        await parser.yaml(b"a: [")
    with pytest.raises(DocumentError, match="exceeded max depth"):
        await parser.yaml(b"- " * 25_000)
    with pytest.raises(TooLarge, match="objects and lists"):
        await parser.json(b"[" + b"[]," * 200_000 + b"1]")


async def test_duplicate_keys_of_yaml_are_one_strict_error(parser: BodyParser) -> None:
    parsed = await parser.yaml(b"a: 1\na: 2\nb: 1\nb: 2\n")
    assert parsed.tree == {"a": 2, "b": 2}
    assert parsed.duplicates == [
        'yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 4: key "b" already set in map'
    ]


async def test_a_process_that_has_ended_is_replaced(parser: BodyParser, pool: ParserPool) -> None:
    await parser.yaml(b"a: 1")
    (first,) = pool.pids
    assert (await parser.yaml(b"a: 2")).tree == {"a": 2}
    assert pool.pids == [first]
    os.kill(first, signal.SIGKILL)
    with pytest.raises(DocumentError, match="its parser ended unexpectedly"):
        await parser.yaml(b"a: 3")
    assert (await parser.yaml(b"a: 4")).tree == {"a": 4}
    assert len(pool.pids) == 1
    assert first not in pool.pids


@pytest.mark.parametrize(
    ("limit", "kind", "body", "status", "answer"),
    [
        ("CPU_SECONDS = 0.2", YAML, b"- 1\n" * 700_000, -signal.SIGPROF, b""),
        (
            "MEMORY_BYTES = 64 << 20",
            JSON,
            b"[%s1]" % (b"[]," * 1_000_000),
            0,
            frame(TOO_LARGE, b"it takes more than 64 MiB to read") + frame(END),
        ),
    ],
    ids=["time", "memory"],
)
def test_the_kernel_enforces_the_limits_of_a_process(
    limit: str, kind: bytes, body: bytes, status: int, answer: bytes
) -> None:
    program = f"from ktui.apiserver.parsing import worker; worker.{limit}; worker.main()"
    run = subprocess.run(
        [sys.executable, "-c", program], input=frame(kind, body), capture_output=True, check=False
    )
    assert (run.returncode, run.stdout) == (status, answer)
