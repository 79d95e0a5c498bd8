"""encoding/json's syntax check, with the error texts of its scanner.

Python's json reports other errors at other positions; clients of kube-apiserver see Go's. Works on bytes, as
Go's scanner does: an error names one byte, not one character.
"""

from __future__ import annotations

from ktui.kube.golang.formatting import quote

_SPACE = frozenset(b" \t\r\n")
_DIGITS = frozenset(b"0123456789")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_ESCAPES = frozenset(b'bfnrt\\/"')
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_MAX_DEPTH = 200  # Go allows 10,000, for which Python's stack is too small


class JSONSyntaxError(ValueError):
    """str() is the text of Go's *json.SyntaxError."""


def check(data: bytes) -> None:
    """Return when `data` is one JSON value; raise JSONSyntaxError otherwise."""
    _Scan(data).document()


def quote_char(code: int) -> str:
    """Return one byte as the scanner shows it: `'o'`, outside of ASCII `'\\x89'`."""
    if code == ord("'"):
        return r"'\''"
    if code == ord('"'):
        return "'\"'"
    return f"'\\x{code:02x}'" if code >= 0x80 else f"'{quote(chr(code))[1:-1]}'"


class _Scan:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def document(self) -> None:
        self._skip_space()
        self._value(0)
        self._skip_space()
        if self._at < len(self._data):
            raise self._bad("after top-level value")

    def _peek(self) -> int:
        if self._at >= len(self._data):
            raise JSONSyntaxError("unexpected end of JSON input")
        return self._data[self._at]

    def _bad(self, context: str) -> JSONSyntaxError:
        return JSONSyntaxError(f"invalid character {quote_char(self._data[self._at])} {context}")

    def _skip_space(self) -> None:
        while self._at < len(self._data) and self._data[self._at] in _SPACE:
            self._at += 1

    def _value(self, depth: int) -> None:
        first = self._peek()
        if depth > _MAX_DEPTH:
            raise JSONSyntaxError("exceeded max depth")
        if first in b"{[":
            self._container(first == ord("{"), depth + 1)
        elif first == ord('"'):
            self._string()
        elif first == ord("-") or first in _DIGITS:
            self._number()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        else:
            raise self._bad("looking for beginning of value")

    def _container(self, is_object: bool, depth: int) -> None:
        closing = ord("}") if is_object else ord("]")
        self._at += 1
        self._skip_space()
        if self._peek() == closing:
            self._at += 1
            return
        while True:
            if is_object:
                self._key()
            self._value(depth)
            self._skip_space()
            char = self._peek()
            if char not in (closing, ord(",")):
                raise self._bad("after object key:value pair" if is_object else "after array element")
            self._at += 1
            if char == closing:
                return
            self._skip_space()

    def _key(self) -> None:
        if self._peek() != ord('"'):
            raise self._bad("looking for beginning of object key string")
        self._string()
        self._skip_space()
        if self._peek() != ord(":"):
            raise self._bad("after object key")
        self._at += 1
        self._skip_space()

    def _string(self) -> None:
        self._at += 1
        while (char := self._peek()) != ord('"'):
            if char < 0x20:
                raise self._bad("in string literal")
            self._at += 1
            if char == ord("\\"):
                self._escape()
        self._at += 1

    def _escape(self) -> None:
        char = self._peek()
        if char != ord("u") and char not in _ESCAPES:
            raise self._bad("in string escape code")
        self._at += 1
        for _ in range(4 if char == ord("u") else 0):
            if self._peek() not in _HEX:
                raise self._bad("in \\u hexadecimal character escape")
            self._at += 1

    def _number(self) -> None:
        if self._data[self._at] == ord("-"):
            self._at += 1
            if self._peek() not in _DIGITS:
                raise self._bad("in numeric literal")
        if self._data[self._at] == ord("0"):
            self._at += 1
        else:
            self._digits()
        if self._next_is(b"."):
            self._at += 1
            if self._peek() not in _DIGITS:
                raise self._bad("after decimal point in numeric literal")
            self._digits()
        if self._next_is(b"eE"):
            self._at += 1
            if self._peek() in b"+-":
                self._at += 1
            if self._peek() not in _DIGITS:
                raise self._bad("in exponent of numeric literal")
            self._digits()

    def _next_is(self, chars: bytes) -> bool:
        return self._at < len(self._data) and self._data[self._at] in chars

    def _digits(self) -> None:
        while self._at < len(self._data) and self._data[self._at] in _DIGITS:
            self._at += 1

    def _literal(self, word: bytes) -> None:
        self._at += 1
        for expected in word[1:]:
            if self._peek() != expected:
                raise self._bad(f"in literal {word.decode()} (expecting '{chr(expected)}')")
            self._at += 1
