"""Read etcd's log: detect when etcd is ready, and find the line that explains a failure."""

from __future__ import annotations

import re
from collections import deque

import msgspec

READY = "ready to serve client requests"
_GRAVE = ("error", "fatal", "panic", "dpanic")
_UNKNOWN_FLAG = re.compile(r"flag provided but not defined: -+([\w-]+)")
# Go's runtime on a crash prints the cause, then the stacks with source paths.
_CRASHES = ("panic: ", "fatal error: ", "unexpected fault address ", "runtime error: ")
_STACK = re.compile(r"goroutine \d+ \[|\[signal SIG|runtime stack:")
# etcdutl's format: time, level, source file, message, fields.
_CONSOLE = re.compile(r"\S+\t(\w+)\t\S+\.go:\d+\t([^\t]*)(?:\t(\{.*\}))?")
_KEPT = 200


class _Line(msgspec.Struct):
    """A line of zap's JSON: a message, usually with an error."""

    level: str = ""
    msg: str = ""
    error: str = ""
    err: str = ""

    @property
    def text(self) -> str:
        error = self.error or self.err
        return f"{self.msg}: {error}" if error else self.msg


_decoder = msgspec.json.Decoder(_Line)


class EtcdLog:
    """Keeps the newest lines, and finds the one that explains a failure."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._grave: list[str] = []
        self.unknown_flag = ""
        self.ready = False
        self._in_stack = False
        self.no_space = False
        self.port_in_use = False

    def add(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").strip()
        if not text:
            return
        level, text = _parse(text)
        self._in_stack = not level and (self._in_stack or bool(_STACK.match(text)))
        if self._in_stack:
            return
        self._lines.append(text)
        if level in _GRAVE and len(self._grave) < _KEPT:
            self._grave.append(text)
        self.ready = self.ready or text == READY
        self.no_space = self.no_space or "no space left on device" in text
        self.port_in_use = self.port_in_use or "address already in use" in text
        if unknown := _UNKNOWN_FLAG.search(text):
            self.unknown_flag = unknown[1]

    @property
    def crash(self) -> str:
        """The cause of a crash of etcd, "" if it did not crash."""
        grave = next((text for text in self._grave if text.startswith(_CRASHES)), "")
        return grave.partition(": ")[2] or grave

    @property
    def cause(self) -> str:
        """The first severe line with a cause; else the last line; "" if etcd logged nothing.

        Never a line of a stack, whose source paths are of the machine that built etcd.
        """
        named = [text for text in self._grave if ": " in text]
        for candidates in (named[:1], self._grave[:1], list(self._lines)[-1:]):
            if candidates:
                return candidates[0][:400]
        return ""


def _parse(text: str) -> tuple[str, str]:
    """Return the level ("" if the line has none) and the message."""
    if console := _CONSOLE.fullmatch(text):
        level, message, fields = console.groups()
        try:
            return level, msgspec.structs.replace(_decoder.decode(fields or "{}"), msg=message).text
        except msgspec.MsgspecError:
            return level, message
    if not text.startswith("{"):
        return ("panic" if text.startswith(_CRASHES) else ""), text
    try:
        line = _decoder.decode(text)
    except msgspec.MsgspecError:
        return "", text
    return line.level, line.text
