"""Work on large JSON trees in short steps, for a thread beside an event loop.

A single call into C keeps the interpreter until it returns: `msgspec.json.decode` of a megabyte, `sorted`
of 100,000 names and the like stop the event loop for tens of milliseconds, whichever thread calls them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import merge
from typing import Any

import msgspec

STEP_BYTES = 32 * 1024
STEP_NAMES = 2000

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rb"(?:%b|[-+.\w]++)" % _STRING


def _nested(levels: int) -> bytes:
    """The pattern of a value with at most `levels` levels of objects and lists; it never backtracks."""
    value = _SCALAR
    for _ in range(levels):
        value = rb"(?:%b|\{(?:%b:%b,?+)*+\}|\[(?:%b,?+)*+\])" % (_SCALAR, _STRING, value, value)
    return value


# Members or items that are complete: a comma or the end of what holds them follows.
_MEMBERS = re.compile(rb"(?:%b:%b(?:,|(?=\})))*+" % (_STRING, _nested(4)))
_ITEMS = re.compile(rb"(?:%b(?:,|(?=\])))*+" % _nested(4))
_NAME = re.compile(rb"(%b):" % _STRING)
_VALUE = re.compile(_SCALAR)


def decoded(text: bytes) -> Any:
    """What `msgspec.json.decode` returns; of a large text in steps of about STEP_BYTES."""
    if len(text) <= STEP_BYTES:
        return msgspec.json.decode(text)
    body = text.strip()
    try:
        tree, end = _value(body, 0)
    except (_UnexpectedError, IndexError, RecursionError):  # white space between tokens, or not JSON
        return msgspec.json.decode(text)
    return tree if end == len(body) else msgspec.json.decode(text)


def _value(text: bytes, at: int) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends; _UnexpectedError, IndexError."""
    opening = text[at : at + 1]
    if opening == b"{":
        return _members(text, at + 1)
    if opening == b"[":
        return _items(text, at + 1)
    end = _end(_VALUE.match(text, at))
    return msgspec.json.decode(text[at:end]), end


def _members(text: bytes, at: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    while True:
        end = _end(_MEMBERS.match(text, at, at + STEP_BYTES))
        if end > at:
            members.update(msgspec.json.decode(b"{%b}" % text[at:end].removesuffix(b",")))
        elif text[at] != ord("}"):  # a long member, or one with many levels
            end = _end(_NAME.match(text, at))
            name = msgspec.json.decode(text[at : end - 1])
            members[name], end = _value(text, end)
            end += text[end] == ord(",")
        else:
            return members, _closed(text, at)
        at = end


def _items(text: bytes, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while True:
        end = _end(_ITEMS.match(text, at, at + STEP_BYTES))
        if end > at:
            items += msgspec.json.decode(b"[%b]" % text[at:end].removesuffix(b","))
        elif text[at] != ord("]"):
            item, end = _value(text, at)
            items.append(item)
            end += text[end] == ord(",")
        else:
            return items, _closed(text, at)
        at = end


def _closed(text: bytes, at: int) -> int:
    """Where an object or a list ends whose bracket is at `at`."""
    if text[at - 1] == ord(","):
        raise _UnexpectedError
    return at + 1


def _end(match: re.Match[bytes] | None) -> int:
    if match is None:
        raise _UnexpectedError
    return match.end()


class _UnexpectedError(Exception):
    """The text is not JSON without white space."""


def in_order(names: Iterable[str]) -> Iterable[str]:
    """The names sorted; many of them in short runs that are merged."""
    found = list(names)
    if len(found) <= STEP_NAMES:
        return sorted(found)
    runs = (sorted(found[low : low + STEP_NAMES]) for low in range(0, len(found), STEP_NAMES))
    return merge(*runs)
