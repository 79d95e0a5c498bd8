"""The protobuf wire format: varints, tags, and putting fields in their canonical order."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.wire.schema import BYTES, FIXED32, FIXED64, VARINT, SchemaField

_LONGEST = 400


class CodecError(Exception):
    """Bytes cannot be decoded, or an object cannot be encoded.

    `reason` is one sentence. Names in it come from the value, so unprintable characters are replaced.
    """

    def __init__(self, reason: str) -> None:
        text = reason[:_LONGEST]
        self.reason = (
            text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
        )
        super().__init__(self.reason)


def unknown_kind(api_version: str, kind: str) -> CodecError:
    """Return the error for a kind that no Kubernetes release from 1.24 to 1.37 has."""
    return CodecError(f"no built-in kind {kind} of {api_version}: its fields are not known")


TRUNCATED = "the value is truncated: a length points past its end"

_U64 = (1 << 64) - 1
_ONE_BYTE = [bytes([value]) for value in range(128)]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned varint at `at` and the next index; raise IndexError past the end."""
    value = data[at]
    if value < 128:
        return value, at + 1
    if data[at + 1] < 128:
        return value + (data[at + 1] - 1) * 128, at + 2
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _U64, at
        shift += 7
        if shift > 63:
            raise CodecError("a number is longer than 10 bytes: this is not protobuf")


def signed64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def put_varint(value: int) -> bytes:
    """Return the varint of a number; negative ones take 10 bytes, as two's complement."""
    if 0 <= value < 128:
        return _ONE_BYTE[value]
    value &= _U64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def put_bytes(number: int, payload: bytes) -> bytes:
    """Return a length-delimited field."""
    return put_varint(number << 3 | BYTES) + put_varint(len(payload)) + payload


def put_number(number: int, value: int) -> bytes:
    """Return a varint field."""
    return put_varint(number << 3) + put_varint(value)


def walk(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield every field of a message, in the order of the wire: (number, wire type, value).

    Varints are unsigned numbers, all other values bytes. Raises CodecError for bytes that are not a protobuf
    message.
    """
    at, end = 0, len(data)
    try:
        while at < end:
            tag, at = varint(data, at)
            number, wire = tag >> 3, tag & 7
            if number == 0:
                raise CodecError("field number 0: this is not protobuf")
            if wire == VARINT:
                value, at = varint(data, at)
                yield number, wire, value
                continue
            if wire == BYTES:
                size, at = varint(data, at)
            elif wire in (FIXED64, FIXED32):
                size = 8 if wire == FIXED64 else 4
            else:
                raise CodecError(f"wire type {wire} occurs in no Kubernetes value")
            if at + size > end:
                raise CodecError(TRUNCATED)
            yield number, wire, data[at : at + size]
            at += size
    except IndexError:
        raise CodecError(TRUNCATED) from None


def spans(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the positions of a message's fields: (number, start of the tag, start and end of the value).

    Raises CodecError for bytes that are not a protobuf message, IndexError if they are truncated.
    """
    while at < end:
        began = at
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == VARINT:
            start = at
            _, at = varint(data, at)
        elif wire in (BYTES, FIXED64, FIXED32):
            size, start = varint(data, at) if wire == BYTES else (8 if wire == FIXED64 else 4, at)
            at = start + size
            if at > end:
                raise CodecError(TRUNCATED)
        else:
            raise CodecError(f"wire type {wire} occurs in no Kubernetes value")
        yield tag >> 3, began, start, at


def canonical(data: bytes, fields: tuple[SchemaField, ...]) -> bytes:
    """Return the same message with its known fields only, ascending, each singular field once.

    Rules of protobuf: a later scalar replaces an earlier one, messages merge (the concatenation of their
    encodings), packed numbers count as repeated.
    """
    known = {field.number: field for field in fields}
    found: dict[int, list[int | bytes]] = {}
    for number, wire, value in walk(data):
        field = known.get(number)
        if field is None:
            continue
        if wire == field.wire_type:
            found.setdefault(number, []).append(value)
        elif field.repeated and wire == BYTES and isinstance(value, bytes) and field.wire_type == VARINT:
            found.setdefault(number, []).extend(_unpack(value))
        else:
            raise CodecError(f"field {field.name or number} has wire type {wire}, not {field.wire_type}")
    return b"".join(_put(known[number], found[number]) for number in sorted(found))


def _unpack(packed: bytes) -> Iterator[int]:
    at = 0
    try:
        while at < len(packed):
            value, at = varint(packed, at)
            yield value
    except IndexError:
        raise CodecError(TRUNCATED) from None


def _put(field: SchemaField, values: list[int | bytes]) -> bytes:
    number = field.number
    if not field.repeated and field.kind in ("message", "time", "microtime", "intstr"):
        values = [b"".join(value for value in values if isinstance(value, bytes))]
    elif not field.repeated:
        values = values[-1:]
    if field.wire_type == FIXED64:
        return b"".join(put_varint(number << 3 | FIXED64) + v for v in values if isinstance(v, bytes))
    return b"".join(put_number(number, v) if isinstance(v, int) else put_bytes(number, v) for v in values)
