"""encoding/json's syntax check, with the error texts of its scanner.

Python's json reports other errors at other positions; clients of kube-apiserver see Go's. Works on bytes, as
Go's scanner does: an error names one byte, not one character.
"""

from __future__ import annotations

from ktui.kube.golang.formatting import quote

_SPACE = frozenset(b" \t\r\n")
_DIGITS = b"0123456789"
_HEX = _DIGITS + b"abcdefABCDEF"
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
        """Return the error of the next byte; raise that of an early end if there is none."""
        return JSONSyntaxError(f"invalid character {quote_char(self._peek())} {context}")

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
        closing = b"}" if is_object else b"]"
        self._at += 1
        self._skip_space()
        if self._takes(closing):
            return
        while True:
            if is_object:
                self._key()
            self._value(depth)
            self._skip_space()
            if self._takes(closing):
                return
            if not self._takes(b","):
                raise self._bad("after object key:value pair" if is_object else "after array element")
            self._skip_space()

    def _key(self) -> None:
        if self._peek() != ord('"'):
            raise self._bad("looking for beginning of object key string")
        self._string()
        self._skip_space()
        if not self._takes(b":"):
            raise self._bad("after object key")
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
        if not self._takes(b'bfnrt\\/"u'):
            raise self._bad("in string escape code")
        for _ in range(4 if char == ord("u") else 0):
            if not self._takes(_HEX):
                raise self._bad("in \\u hexadecimal character escape")

    def _number(self) -> None:
        self._takes(b"-")
        if not self._takes(b"0"):
            self._digits("in numeric literal")
        if self._takes(b"."):
            self._digits("after decimal point in numeric literal")
        if self._takes(b"eE"):
            self._takes(b"+-")
            self._digits("in exponent of numeric literal")

    def _takes(self, chars: bytes) -> bool:
        """Skip the next byte if it is one of these; return whether it was."""
        found = self._at < len(self._data) and self._data[self._at] in chars
        self._at += found
        return found

    def _digits(self, context: str) -> None:
        if not self._takes(_DIGITS):
            raise self._bad(context)
        while self._takes(_DIGITS):
            pass

    def _literal(self, word: bytes) -> None:
        self._at += 1
        for expected in word[1:]:
            if self._peek() != expected:
                raise self._bad(f"in literal {word.decode()} (expecting '{chr(expected)}')")
            self._at += 1
