"""Join lines that a container runtime has cut at 16 KiB.

containerd and CRI-O mark the parts of a line `P` and its last one `F` (CRI's logging format). Docker's
json-file writes parts of exactly 16 KiB, without the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from ktui.audit.reading.log_lines import Block
from ktui.audit.reading.longlines import LONGEST, TAIL, LongLine

_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+ (stdout|stderr) )([FP])(?::\S+)? ")
_DOCKER = re.compile(rb'(\{"log":")(.*)(","stream":"(stdout|stderr)".*)', re.DOTALL)
_DOCKER_START = b'{"log":"'
_DOCKER_PART = 16 << 10
_decode = msgspec.json.Decoder(str).decode


class _Part(NamedTuple):
    """A line, or a part of one, of standard output or standard error."""

    stream: bytes
    before: bytes
    content: bytes
    after: bytes
    last: bool


def is_split(head: bytes) -> bool:
    """True if a container runtime may have written a file that begins like this, and so cut its lines."""
    return head.startswith(_DOCKER_START) or _CRI.match(head) is not None


def join_parts(found: Iterable[Block]) -> Iterator[Block]:
    """Yield lines as they were written. Only the two ends of a line that is too long are kept."""
    open_lines: dict[bytes, _OpenLine] = {}
    for block in found:
        if isinstance(block, LongLine):
            yield block
            continue
        lines: list[bytes] = []
        for line in block:
            part = _part(line)
            if part is None or (part.last and part.stream not in open_lines):
                lines.append(line)
                continue
            joined = open_lines.setdefault(part.stream, _OpenLine(part.before))
            joined.add(part.content)
            if part.last:
                del open_lines[part.stream]
                record = joined.close(part.after)
                if isinstance(record, LongLine):
                    yield lines
                    yield record
                    lines = []
                else:
                    lines.append(record)
        if lines:
            yield lines
    for joined in open_lines.values():
        record = joined.close(b"")
        yield record if isinstance(record, LongLine) else [record]


class _OpenLine:
    def __init__(self, before: bytes) -> None:
        self._content = bytearray(before)
        self._head = b""

    def add(self, content: bytes) -> None:
        self._content += content
        if len(self._content) > LONGEST + TAIL:
            self._head = self._head or bytes(self._content[:LONGEST])
            del self._content[:-TAIL]

    def close(self, after: bytes) -> bytes | LongLine:
        line = bytes(self._content + after)
        if self._head:
            return LongLine(self._head, line[-TAIL:])
        return line if len(line) <= LONGEST else LongLine(line[:LONGEST], line[-TAIL:])


def _part(line: bytes) -> _Part | None:
    """Parse a container runtime's line; None if it is not from a runtime."""
    if line[:1].isdigit():
        cri = _CRI.match(line)
        return cri and _Part(cri[2], cri[1] + b"F ", line[cri.end() :], b"", cri[3] == b"F")
    docker = _DOCKER.match(line) if line.startswith(_DOCKER_START) else None
    if docker is None:
        return None
    before, content, after, stream = docker.groups()
    return _Part(stream, before, content, after, not _is_cut(content))


def _is_cut(content: bytes) -> bool:
    """True if Docker cut the line: the part has the length of its buffer, and no newline."""
    if len(content) < _DOCKER_PART or content.endswith(b"\\n"):
        return False
    try:
        return len(_decode(b'"' + content + b'"').encode("utf-8", "replace")) == _DOCKER_PART
    except msgspec.DecodeError:
        return False
