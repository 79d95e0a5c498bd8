"""etcd's log, read line by line: when it is ready, and which line says why it is not."""

from __future__ import annotations

import re
from collections import deque

import msgspec

READY = "ready to serve client requests"
_GRAVE = ("error", "fatal", "panic", "dpanic")
_UNKNOWN_FLAG = re.compile(r"flag provided but not defined: -+([\w-]+)")
_KEPT = 200


class _Line(msgspec.Struct):
    """zap's JSON: a message, mostly with an error."""

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
    """The newest lines, and the telling one among them."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._grave: list[str] = []
        self.unknown_flag = ""
        self.ready = False
        self.no_space = False
        self.port_in_use = False

    def add(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").strip()
        if not text:
            return
        level, text = _parse(text)
        self._lines.append(text)
        if level in _GRAVE and len(self._grave) < _KEPT:
            self._grave.append(text)
        self.ready = self.ready or text == READY
        self.no_space = self.no_space or "no space left on device" in text
        self.port_in_use = self.port_in_use or "address already in use" in text
        if unknown := _UNKNOWN_FLAG.search(text):
            self.unknown_flag = unknown[1]

    @property
    def telling(self) -> str:
        """The first grave line that names a cause; else the last line; "" when etcd said nothing."""
        named = [text for text in self._grave if ": " in text]
        for candidates in (named[:1], self._grave[:1], list(self._lines)[-1:]):
            if candidates:
                return candidates[0][:400]
        return ""


def _parse(text: str) -> tuple[str, str]:
    if not text.startswith("{"):
        return ("panic" if text.startswith("panic:") else ""), text
    try:
        line = _decoder.decode(text)
    except msgspec.MsgspecError:
        return "", text
    return line.level, line.text
