"""Split a byte stream into lines, in bounded memory whatever the length of a line."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.audit.reading.documents import Documents, is_container
from ktui.audit.reading.longlines import LONGEST, TAIL, LongLine
from ktui.audit.reading.streams import CHUNK, ByteStream

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
    values: list[bytes] = []
    for value in found:
        if isinstance(value, LongLine):
            if values:
                yield values
                values = []
            yield value
        else:
            values.append(value)
    if values:
        yield values


def documents(stream: ByteStream) -> Iterator[Block]:
    """Yield the values of a JSON stream that spans lines. Raises BrokenStream."""
    inside = Documents()
    for chunk in chunks(stream):
        yield from _each(inside.push(chunk))
    yield from _each(inside.finish())


def chunks(stream: ByteStream) -> Iterator[bytes]:
    """Yield all bytes of a stream in chunks."""
    while chunk := stream.read1(CHUNK):
        yield chunk
