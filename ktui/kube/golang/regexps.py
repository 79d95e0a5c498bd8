"""Regular expressions of clusters and users, in linear time: RE2, whose syntax Go's regexp has.

Python's `re` backtracks: `^(a+)+$` takes 2^n steps. RE2 (google-re2, the C++ library) takes steps in
proportion to the text and to the pattern's program, which are both bounded here.

Where RE2 differs from Go: it accepts `\\C` and letters other than ASCII in names of groups, which are refused
here as in Go; it lacks Unicode's long names of categories (Go 1.25); and it refuses programs larger than
LARGE_MEMORY, which Go would run. Its errors are translated to Go's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import re2

# Of one pattern: its program, and its automaton, which grows as texts are matched.
SMALL_MEMORY, LARGE_MEMORY = 512 << 10, 8 << 20
CACHED, LARGE_CACHED = 256, 8
# Instructions of the program times bytes of the text: a second if the automaton does not fit into memory.
MOST_STEPS = 200_000_000
_GO_CODES = {
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
_TOO_LARGE = "pattern too large"
# What RE2 accepts and Go does not; a quoted part (`\Q…\E`) is skipped as a whole.
_ONLY_RE2 = re.compile(r"\\Q.*?(?:\\E|$)|(?P<escape>\\C)|\\.|(?P<name>\(\?P?<[^>!=()\\]*>)", re.DOTALL)
# Patterns with a program of more than some hundred instructions.
_LONG = 100
_COUNTED = re.compile(r"\{[0-9]*,?[0-9]{2}|\\[pP]")


class InvalidPattern(ValueError):
    """The pattern is invalid; the message is that of Go's regexp.Compile, `reason` without its beginning."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"error parsing regexp: {reason}")
        self.reason = reason


class TextTooLong(Exception):
    """Matching the text could take too long."""


Matcher = Callable[[str], bool]
"""Returns whether the pattern matches anywhere in the text; raises TextTooLong."""


def matcher(pattern: str, *, ignore_case: bool = False) -> Matcher:
    """Return the test of a pattern; raise InvalidPattern."""
    try:
        return _small(pattern, ignore_case)
    except _Large:
        return _large(pattern, ignore_case)


def may_be_slow(pattern: str) -> bool:
    """Return True for a pattern that may take milliseconds for a short text."""
    return len(pattern) > _LONG or _COUNTED.search(pattern) is not None


class _Large(Exception):
    """The program does not fit into SMALL_MEMORY."""


@functools.lru_cache(maxsize=CACHED)
def _small(pattern: str, ignore_case: bool) -> Matcher:
    return _compiled(pattern, ignore_case, SMALL_MEMORY)


@functools.lru_cache(maxsize=LARGE_CACHED)
def _large(pattern: str, ignore_case: bool) -> Matcher:
    return _compiled(pattern, ignore_case, LARGE_MEMORY)


def _compiled(pattern: str, ignore_case: bool, memory: int) -> Matcher:
    _check_go(pattern)
    options = re2.Options()
    options.max_mem, options.case_sensitive = memory, not ignore_case
    options.log_errors, options.never_capture = False, True
    try:
        # Not re2.compile, which keeps patterns in a cache of its own.
        found = re2._Regexp(_utf8(pattern), options)
    except re2.error as error:
        raise _translated(pattern, error, memory) from None
    search, most_bytes = found.search, MOST_STEPS // max(found.programsize, 1)

    def matches(text: str) -> bool:
        data = _utf8(text)
        if len(data) > most_bytes:
            raise TextTooLong
        return search(data) is not None

    return matches


def _check_go(pattern: str) -> None:
    """Raise InvalidPattern for what only RE2 accepts."""
    for found in _ONLY_RE2.finditer(pattern):
        if found["escape"]:
            raise InvalidPattern(_reason("invalid escape sequence", "\\C"))
        if found["name"] and not found["name"].isascii():
            raise InvalidPattern(_reason("invalid named capture", found["name"]))


def _translated(pattern: str, error: Exception, memory: int) -> Exception:
    code, _, part = _text(error).partition(": ")
    if code.startswith(_TOO_LARGE):
        return _Large() if memory < LARGE_MEMORY else InvalidPattern(_reason("expression too large", pattern))
    return InvalidPattern(_reason(_GO_CODES.get(code, code), part))


def _reason(code: str, part: str) -> str:
    return f"{code}: `{part}`"


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which Go decodes as U+FFFD
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
