"""The size of a stored value by field: encoded bytes, two levels deep."""

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from ktui.wire.envelope import open_value
from ktui.wire.jsonvalue import members_of
from ktui.wire.pb import CodecError, put_bytes, put_number, walk
from ktui.wire.schema import fields, message_of

ENVELOPE = "(envelope)"


class EncodedField(msgspec.Struct, frozen=True):
    """A field ("metadata.managedFields"), the bytes of its encoding, and their share of the value's."""

    path: str
    size: int
    share: float


def field_sizes(raw: bytes) -> list[EncodedField]:
    """Return the fields of two levels, the largest first; unknown ones are "spec.#99". Raises CodecError."""
    envelope, sizes = open_value(raw), defaultdict[str, int](int)
    if envelope.encoding == "json":
        sizes.update(_json_sizes(envelope.body))
    elif envelope.encoding == "protobuf":
        message = message_of(envelope.api_version, envelope.kind)
        for path, size in _message_sizes(message, envelope.body):
            sizes[path] += size
        sizes[ENVELOPE] = len(raw) - len(envelope.body)
    else:
        raise CodecError(envelope.reason)
    found = [EncodedField(path, size, size / len(raw)) for path, size in sizes.items() if size]
    return sorted(found, key=lambda field: (-field.size, field.path))


def _message_sizes(message: str | None, body: bytes, above: str = "") -> Iterator[tuple[str, int]]:
    known = {field.number: field for field in fields(message)} if message else {}
    for number, _, value in walk(body):
        field = known.get(number)
        name = field.name if field else f"#{number}"
        is_message = field is not None and field.kind == "message" and not field.repeated
        if field is not None and field.has("i") and isinstance(value, bytes):
            yield from _message_sizes(field.type, value, above)
            continue
        encoded = put_number(number, value) if isinstance(value, int) else put_bytes(number, value)
        yield above + name, len(encoded)
        if not above and field is not None and is_message and isinstance(value, bytes):
            yield from _message_sizes(field.type, value, f"{name}.")


def _json_sizes(body: bytes) -> Iterator[tuple[str, int]]:
    for name, text in members_of(body, "the object").items():
        yield name, len(name) + 3 + len(bytes(text))
        if bytes(text)[:1] == b"{":
            for inner, inner_text in members_of(text, name).items():
                yield f"{name}.{inner}", len(inner) + 3 + len(bytes(inner_text))
