"""Split a stream into records: lines, parts of lines, JSON documents or CSV, judged by its first bytes.

In bounded memory whatever the length of a line.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from ktui.audit.reading.json_values import Documents, is_container
from ktui.audit.reading.streams import (
    CHUNK,
    LONGEST,
    TAIL,
    BrokenStream,
    BufferedStream,
    ByteStream,
    ChunkStream,
    LongLine,
)
from ktui.traces.otlp import is_protobuf, messages
from ktui.traces.spans import NotSpans

Block = list[bytes] | LongLine


def blocks(stream: ByteStream) -> Iterator[Block]:
    """Yield lines without their newlines, in lists, and each long line as a LongLine, in order.

    A long line that is a JSON document of many values (an EventList, an Event Hub batch) yields these values.
    Raises BrokenStream where the stream breaks off, after all lines before.
    """
    rest, head = b"", b""  # `head` is not empty while the current line is too long
    inside: Documents | None = None  # set while the current long line is a JSON document
    for chunk in chunks(stream):
        if not head and inside is None:
            lines = chunk.split(b"\n")
            if len(lines) > 1 and len(rest) + len(lines[0]) <= LONGEST:
                lines[0] = rest + lines[0]
                rest = lines.pop()
                yield lines
                continue
        first, newline, others = chunk.partition(b"\n")
        if inside is not None:
            yield from _each(inside.push(first))
        else:
            rest += first
        if not newline:
            if inside is None and len(rest) > LONGEST:
                if not head and is_container(rest):
                    inside = Documents()
                    yield from _each(inside.push(rest))
                    rest = b""
                else:
                    head, rest = head or rest[:LONGEST], rest[-TAIL:]
            continue
        if inside is not None:
            yield from _each(inside.finish())
            inside = None
        else:
            yield from _line(head, rest)
        *lines, rest = others.split(b"\n")
        head = b""
        if lines:
            yield lines
    if inside is not None:
        yield from _each(inside.finish())
    elif rest:
        yield from _line(head, rest)


def _line(head: bytes, rest: bytes) -> Iterator[Block]:
    if head:
        yield LongLine(head, rest[-TAIL:])
    elif len(rest) <= LONGEST:
        yield [rest]
    elif is_container(rest):
        inside = Documents()
        yield from _each([*inside.push(rest), *inside.finish()])
    else:
        yield LongLine(rest[:LONGEST], rest[-TAIL:])


def _each(found: list[bytes | LongLine]) -> Iterator[Block]:
    """Yield values in their order: lists of values, and LongLines."""
    for _, group in groupby(found, type):
        values = list(group)
        yield from (value for value in values if isinstance(value, LongLine))
        if short := [value for value in values if isinstance(value, bytes)]:
            yield short


def documents(stream: ByteStream) -> Iterator[Block]:
    """Yield the values of a JSON stream that spans lines. Raises BrokenStream."""
    inside = Documents()
    for chunk in chunks(stream):
        yield from _each(inside.push(chunk))
    yield from _each(inside.finish())


def chunks(stream: ByteStream) -> Iterator[bytes]:
    return iter(lambda: stream.read1(CHUNK), b"")


_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+ (stdout|stderr) )([FP])(?::\S+)? ")
_DOCKER = re.compile(rb'(\{"log":")(.*)(","stream":"(stdout|stderr)".*)', re.DOTALL)
_DOCKER_START = b'{"log":"'
_DOCKER_PART = 16 << 10
_text_of = msgspec.json.Decoder(str).decode


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
    """Join lines that a container runtime has cut at 16 KiB. Of a line that is too long both ends are kept.

    containerd and CRI-O mark the parts of a line `P` and its last one `F` (CRI's logging format). Docker's
    json-file writes parts of exactly 16 KiB, without the end of the line.
    """
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
        return len(_text_of(b'"' + content + b'"').encode("utf-8", "replace")) == _DOCKER_PART
    except msgspec.DecodeError:
        return False


_NAME = re.compile(r"[@\w][\w .$\[\]()-]*")
_ADDED = re.compile(r" \[[^\]]{1,40}\]$")
# Columns with a record, in the known exports.
_RECORDS = {
    "@message", "message", "msg", "log", "log_s", "line", "_raw", "requesturi", "properties_log_s",
    "textpayload", "example",
}  # fmt: skip
_WIDEST = 4 << 20  # characters of a field
_ROWS = 256


def is_header(line: bytes) -> bool:
    """True if a file's first line names the columns of a CSV export."""
    if len(line) > 8192 or b"{" in line:
        return False
    try:
        names = _names(next(csv.reader([line.decode("utf-8", "replace")]), []))
    except csv.Error:  # a carriage return in it
        return False
    named = all(_NAME.fullmatch(name) for name in names)
    return named and any(name.lower() in _RECORDS for name in names) and (len(names) > 1 or b"@" in line)


def _names(header: list[str]) -> list[str]:
    """Return the columns' names without what the portal of Log Analytics adds: `TimeGenerated [UTC]`."""
    return [_ADDED.sub("", name.removeprefix("\ufeff")) for name in header]


def rows(stream: ByteStream) -> Iterator[Block]:
    """Yield the rows of a CSV export after its header, as JSON objects, in lists. Raises BrokenStream."""
    csv.field_size_limit(_WIDEST)
    reader = csv.reader(_lines(stream))
    header = _names(next(reader))
    found: list[bytes] = []
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            found.append(f"CSV: {error}".encode())
            continue
        found.append(msgspec.json.encode(dict(zip(header, row, strict=False))) if row else b"")
        if len(found) >= _ROWS:
            yield found
            found = []
    yield found


def _lines(stream: ByteStream) -> Iterator[str]:
    """Yield lines with their newlines; only the start of a line that is too long."""
    for block in blocks(stream):
        for line in [block.head] if isinstance(block, LongLine) else block:
            yield line.decode("utf-8", "replace").replace("\0", "") + "\n"


_LOOKED_AT = 1 << 20
_LINES = 20
_decode = msgspec.json.Decoder(msgspec.Raw).decode


def records(source: BufferedStream) -> Iterator[Block]:
    """Yield the records of a log in blocks. Raises BrokenStream where the stream breaks off."""
    source = _utf8(source)
    how = framing(source)
    if how == "table":
        return rows(source)
    if how == "parts":
        return join_parts(blocks(source))
    if how == "messages":
        return _messages(source)
    return documents(source) if how == "documents" else blocks(source)


def framing(source: BufferedStream) -> str:
    """Return `lines`, `parts` (cut by a container runtime), `documents`, `table` or `messages` (OTLP)."""
    head = source.head(4096)
    if is_protobuf(head):
        return "messages"
    if is_split(head):
        return "parts"
    start = head.lstrip()
    if start.startswith(b"["):
        array = start[1:].lstrip()[:1] in (b"{", b"[", b"]", b'"', b"")
        return "documents" if array else "lines"  # which begin with `[pod/kube-apiserver-1] `
    if not start.startswith(b"{"):
        return "table" if is_header(head.partition(b"\n")[0].rstrip(b"\r")) else "lines"
    if not any(map(_is_value, source.head(4096).split(b"\n")[:_LINES])):
        head = source.head(_LOOKED_AT)
        lines = head.split(b"\n")
        if len(lines) > 1 and not any(map(_is_value, lines[:_LINES])):
            return "documents"
        if len(lines) == 1 and not _is_value(head):
            return "documents" if b"}{" in head or b"} {" in head else "lines"
    return "lines"


def _messages(source: BufferedStream) -> Iterator[Block]:
    try:
        for message in messages(chunks(source)):
            yield [message]
    except NotSpans as why:
        raise BrokenStream(f"{why}: what came before is counted") from None


def _is_value(line: bytes) -> bool:
    line = line.strip()
    if len(line) < 3 or line[:1] != b"{":
        return False
    try:
        _decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _utf8(source: BufferedStream) -> BufferedStream:
    """Return the stream without a byte order mark, and UTF-16 (PowerShell's files) as UTF-8."""
    head = source.head(3)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        texts = (decode(chunk).encode("utf-8", "replace") for chunk in chunks(source))
        return BufferedStream(ChunkStream(filter(None, texts)))
    if head.startswith(codecs.BOM_UTF8):
        source.read1(3)
    return source
