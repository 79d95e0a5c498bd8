"""JSON text of small wrapper messages: map entries, string lists, schema-or-something.

Each function returns a function from encoded bytes to JSON text.
"""

from collections.abc import Callable

from ktui.wire.pb import walk

Text = Callable[[bytes], bytes]


def map_entry_text(key_text: Text, value_text: Text) -> Text:
    """Map entry {1 key, 2 value} → `"key":value`. A missing value is decoded from no bytes."""

    def text(encoded: bytes) -> bytes:
        # The usual form: both present and in order, a short key, a value of less than 16 KB.
        if encoded[:1] == b"\n" and encoded[1] < 128:
            split = encoded[1] + 2
            if encoded[split : split + 1] == b"\x12" and (size := encoded[split + 1]):
                start = split + 2
                if size > 127:
                    size += (encoded[start] - 1) * 128
                    start += 1
                if start + size == len(encoded):
                    return key_text(encoded[2:split]) + b":" + value_text(encoded[start:])
        key, value = _last(encoded, 1), _last(encoded, 2)
        return key_text(key) + b":" + value_text(value)

    return text


def list_text(item_text: Text) -> Text:
    """{1 repeated} → array; Kubernetes does not distinguish an empty array from null."""

    def text(encoded: bytes) -> bytes:
        items = [
            item_text(value) for number, _, value in walk(encoded) if number == 1 and isinstance(value, bytes)
        ]
        return b"[" + b",".join(items) + b"]" if items else b"null"

    return text


def schema_or_text(kind: str, schema_text: Text, string_text: Text) -> Text:
    """Return the text of {1 allows, 2 schema} (schemaOrBool), or {1 schema, 2 repeated schema or string}."""
    item_text = string_text if kind == "schemaOrStrings" else schema_text

    def or_bool(encoded: bytes) -> bytes:
        allows, schema = b"false", None
        for number, _, value in walk(encoded):
            if number == 1 and isinstance(value, int):
                allows = b"true" if value else b"false"
            elif number == 2 and isinstance(value, bytes):
                schema = value
        return allows if schema is None else schema_text(schema)

    def or_several(encoded: bytes) -> bytes:
        one, several = None, []
        for number, _, value in walk(encoded):
            if number == 1 and isinstance(value, bytes):
                one = value
            elif number == 2 and isinstance(value, bytes):
                several.append(item_text(value))
        if several:
            return b"[" + b",".join(several) + b"]"
        return b"null" if one is None else schema_text(one)

    return or_bool if kind == "schemaOrBool" else or_several


def _last(encoded: bytes, number: int) -> bytes:
    found = b""
    for field, _, value in walk(encoded):
        if field == number and isinstance(value, bytes):
            found = value
    return found
