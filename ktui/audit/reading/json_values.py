"""Split JSON that spans lines (pretty-printed, concatenated, or an array) into values, in bounded memory."""

from __future__ import annotations

import re

import msgspec

from ktui.audit.reading.streams import LONGEST, TAIL, LongLine

LARGEST = 8 << 20
"""Most bytes of a value that is returned whole; from a larger one, the values inside it are returned."""
_OPENED = 4  # most levels of a value that are split
_TOKEN = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'(?:[^"\\\n]++|\\[^\n])*+')
# The end of an object: another value follows, or the array ends.
_END = re.compile(rb"\}(?=\s*+,?\s*+[{\]])")
_GUESSES = 4
_DEEPEST = 2000  # beyond what a decoder reads
_decode = msgspec.json.Decoder(msgspec.Raw).decode
_EVENT = re.compile(rb'\{\s*"kind"\s*:\s*"Event"|\{[^{}]{0,2000}"auditID"')


class Documents:
    """Splits a stream, pushed in chunks, into complete values.

    The elements of an array that is not inside an object are values. Text between values is returned
    too, because it says what is wrong with the file.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0  # scanned up to here
        self._start = -1  # of the current value, or of a string that is not inside a value; -1: none
        self._depth = 0
        self._string = False
        self._opened = 0
        self._long = b""  # first bytes of an Event that is too large to be kept
        self._lost = False  # True until the next line: the value could not be read

    def push(self, chunk: bytes) -> list[bytes | LongLine]:
        """Return the values that this chunk completes."""
        self._buffer += chunk
        found: list[bytes | LongLine] = []
        while True:
            self._scan(found)
            if not self._overflows(found):
                break
        self._trim()
        return found

    def finish(self) -> list[bytes | LongLine]:
        """Return the rest at the end of the stream: a truncated value, and the values in it."""
        rest = bytes(self._buffer[max(0, self._start) :]).strip(b" \t\r\n,:]}\0")
        if self._long:
            return [LongLine(self._long, rest[-TAIL:])]
        if not rest or self._lost or (self._opened and not self._depth):
            return []
        found: list[bytes | LongLine] = [rest[:LONGEST]]
        for _ in range(_OPENED):
            if self._start < 0:
                break
            self._open()
            self._scan(found)
        return found

    def _scan(self, found: list[bytes | LongLine]) -> None:
        buffer = self._buffer
        while self._at < len(buffer):
            if self._lost:
                newline = buffer.find(b"\n", self._at)
                self._at = newline + 1 if newline >= 0 else len(buffer)
                self._lost = newline < 0
            elif self._string:
                if not self._finish_string(found):
                    return
            elif (token := _TOKEN.search(buffer, self._at)) is None:
                self._between(found, len(buffer), last=True)
                self._at = len(buffer)
            else:
                at = token.start()
                self._between(found, at)
                if not self._depth and buffer[at] == 0x7B and (value := self._guessed(at)):
                    found.append(value)
                    self._at = at + len(value)
                else:
                    self._at = at + 1
                    self._handle_token(buffer[at], at, found)

    def _guessed(self, start: int) -> bytes:
        """Return the object at `start`; b"" if its end is not one of the likely ones.

        Much faster than tokens. No proper prefix of a JSON object is a JSON object, so a part that can be
        decoded is the whole object.
        """
        end = start
        for _ in range(_GUESSES):
            brace = _END.search(self._buffer, end, start + LARGEST)
            if brace is None:
                break
            end = brace.end()
            value = bytes(self._buffer[start:end])
            try:
                _decode(value)
            except (msgspec.DecodeError, RecursionError):
                continue
            return value
        return b""

    def _handle_token(self, token: int, at: int, found: list[bytes | LongLine]) -> None:
        if token == 0x22:  # "
            self._string = True
            if not self._depth:
                self._start = at
        elif token in b"{[":
            if token == 0x7B or self._depth:
                self._start = self._start if self._depth else at
                self._depth += 1
                if self._depth > _DEEPEST:
                    self._give_up(found)
        elif self._depth:
            self._depth -= 1
            if not self._depth:
                self._emit(bytes(self._buffer[self._start : at + 1]), found)
        elif token == 0x7D and self._opened:  # }
            self._opened -= 1

    def _emit(self, value: bytes, found: list[bytes | LongLine]) -> None:
        if self._long:
            found.append(LongLine(self._long, value[-TAIL:]))
            self._long = b""
        else:
            found.append(value)
        self._start = -1

    def _finish_string(self, found: list[bytes | LongLine]) -> bool:
        """Scan to the end of the string; False if it is not in the buffer yet."""
        buffer = self._buffer
        if part := _IN_STRING.match(buffer, self._at):
            self._at = part.end()
        rest = buffer[self._at : self._at + 2]
        if rest[:1] == b'"':
            self._at += 1
            self._string = False
            if not self._depth:
                text = bytes(buffer[self._start : self._at])
                self._start = -1
                if text.startswith(b'"{'):
                    found.append(text)
            return True
        if not rest or rest == b"\\":
            return False
        # A line ends inside a string: the value is damaged.
        self._at += rest.index(b"\n")
        found.append(bytes(buffer[max(self._start, 0) : self._at])[:LONGEST])
        self._reset()
        return True

    def _between(self, found: list[bytes | LongLine], end: int, *, last: bool = False) -> None:
        """Return text between values, in whole lines."""
        if self._depth or self._opened:
            return
        text = bytes(self._buffer[self._at : end])
        if last and b"\n" not in text and len(text) < LONGEST:
            return
        found += [line[:LONGEST] for line in text.split(b"\n") if line.strip(b" \t\r,:]}")]

    def _overflows(self, found: list[bytes | LongLine]) -> bool:
        """Make room if the value is too large; return True if the buffer has to be scanned again."""
        if self._start < 0 or len(self._buffer) - self._start <= LARGEST:
            return False
        if self._long:
            return False
        head = bytes(self._buffer[self._start : self._start + LONGEST])
        if self._depth and _EVENT.match(head):
            self._long = head
            return False
        if self._depth and self._opened < _OPENED:
            self._open()
            return True
        self._give_up(found)
        self._at = len(self._buffer)
        return False

    def _give_up(self, found: list[bytes | LongLine]) -> None:
        """Skip the value, and return its first bytes as an invalid record."""
        found.append(self._long or bytes(self._buffer[self._start : self._start + LONGEST]))
        self._reset()
        self._lost = True

    def _open(self) -> None:
        """Continue with the values inside the current value, instead of the value."""
        self._opened += 1
        self._at = self._start + 1
        self._depth, self._string, self._start = 0, False, -1

    def _reset(self) -> None:
        self._depth, self._string, self._start, self._opened = 0, False, -1, 0
        self._long = b""

    def _trim(self) -> None:
        """Drop what was returned, and the middle of a long Event, from the buffer."""
        keep = self._start if self._start >= 0 else self._at
        if self._long:
            keep = max(keep, self._at - 2 * TAIL)
        if not keep:
            return
        del self._buffer[:keep]
        self._at -= keep
        self._start = 0 if self._start >= 0 else -1


def is_container(line: bytes) -> bool:
    """True if a long line is a document of many values, not one Event with a large object."""
    start = line[:4096].lstrip()
    return start.startswith((b"{", b"[")) and not _EVENT.match(start)
