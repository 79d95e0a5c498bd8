"""strconv.Quote: how `%q` shows a string in an error text."""

from __future__ import annotations

_NAMED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def quote(text: str) -> str:
    """Quote `text` as Go's `%q` does: in double quotes, printable characters unchanged."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'


class _Escapes(dict[int, str]):
    """Escapes by code point, for `str.translate`; those of the first 16,384 are kept (a body has 3 MB)."""

    def __missing__(self, code: int) -> str:
        text = _escape(chr(code))
        if code < 0x4000:
            self[code] = text
        return text


_ESCAPES = _Escapes()


def _escape(char: str) -> str:
    if named := _NAMED.get(char):
        return named
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
