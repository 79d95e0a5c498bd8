"""Split a stream into records: lines, parts of lines, JSON documents or CSV, judged by its first bytes."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator

import msgspec

from ktui.audit.reading.log_lines import Block, blocks, chunks, documents, is_split, join_parts
from ktui.audit.reading.streams import BrokenStream, BufferedStream, ByteStream, LongLine
from ktui.traces.otlp_protobuf import is_protobuf, messages
from ktui.traces.spans import NotSpans

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
    names = _names(next(csv.reader([line.decode("utf-8", "replace")]), []))
    named = all(_NAME.fullmatch(name) for name in names)
    return named and any(name.lower() in _RECORDS for name in names) and (len(names) > 1 or b"@" in line)


def _names(header: list[str]) -> list[str]:
    """Return the columns' names without what the portal of Log Analytics adds: `TimeGenerated [UTC]`."""
    return [_ADDED.sub("", name.removeprefix("\ufeff")) for name in header]


def rows(stream: ByteStream) -> Iterator[Block]:
    """Yield the rows of a CSV export (CloudWatch Logs Insights, Log Analytics, Splunk), in lists.

    Each row after the header is a JSON object. Raises BrokenStream.
    """
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
    """Return `lines`, `parts` (lines that a container runtime may have cut), `documents`, `table`, or
    `messages` (OTLP protobuf).
    """
    head = source.head(4096)
    if is_protobuf(head):
        return "messages"
    if is_split(head):
        return "parts"
    start = head.lstrip()
    if start.startswith(b"["):
        return "documents" if _is_array(start) else "lines"
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


def _is_array(start: bytes) -> bool:
    """True for a JSON array, False for a line that begins with `[pod/kube-apiserver-1] `."""
    return start[1:].lstrip()[:1] in (b"{", b"[", b"]", b'"', b"")


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
        return BufferedStream(_FromUtf16(source))
    if head.startswith(codecs.BOM_UTF8):
        source.read1(3)
    return source


class _FromUtf16:
    def __init__(self, source: BufferedStream) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read1(self, size: int = -1, /) -> bytes:
        while chunk := self._source.read1():
            if text := self._decoder.decode(chunk):
                return text.encode("utf-8", "replace")
        return b""
