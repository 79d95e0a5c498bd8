"""Read CSV exports (CloudWatch Logs Insights, Log Analytics, Splunk): each row as a JSON object."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import msgspec

from ktui.audit.reading.log_lines import Block, blocks
from ktui.audit.reading.longlines import LongLine
from ktui.audit.reading.streams import ByteStream

_NAME = re.compile(r"[@\w][\w .$\[\]()-]*")
_ADDED = re.compile(r" \[[^\]]{1,40}\]$")
# Columns with a record, in the known exports.
_RECORDS = {
    "@message", "message", "msg", "log", "log_s", "line", "_raw", "requesturi", "properties_log_s",
    "textpayload", "example",
}  # fmt: skip
_WIDEST = 4 << 20  # characters of a field
_ROWS = 256
encode = msgspec.json.encode


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
    """Yield the rows after the header as JSON objects, in lists. Raises BrokenStream."""
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
        found.append(encode(dict(zip(header, row, strict=False))) if row else b"")
        if len(found) >= _ROWS:
            yield found
            found = []
    yield found


def _lines(stream: ByteStream) -> Iterator[str]:
    """Yield lines with their newlines; only the start of a line that is too long."""
    for block in blocks(stream):
        for line in [block.head] if isinstance(block, LongLine) else block:
            yield line.decode("utf-8", "replace").replace("\0", "") + "\n"
