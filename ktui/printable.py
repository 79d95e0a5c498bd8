"""Make untrusted text safe for a terminal: nothing in it moves the cursor, hides, or reorders.

Three ways to write the same characters: `safe` for screens, `escaped` for lines of text, `json_escaped`
for JSON. All output passes through `ktui.tui.compat` or `ktui.cli.output`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Controls, formats (bidi, zero width), surrogates, private use, unassigned, line and paragraph separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MARKS = {"Mn", "Me", "Mc"}
# Letters that are invisible, and those that join the one before them.
_JOINING = "[\u115f-\u11ff\u3164\ud7b0-\ud7ff\uffa0\U0001f3fb-\U0001f3ff]"  # compiled with the first mark
_MOST_LEARNT = 4096
MOST_MARKS = 4  # on one character: no script needs more
# Runs of what may be marks; most text has none, and is not examined further.
_MAYBE_MARKS = re.compile(
    "[\u0300-\u1fff\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\u3164\ua66f-\uabff\ud7b0-\ud7ff"
    f"\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\uffa0\U00010000-\U000effff]{{{MOST_MARKS + 1}}}"
)


def safe(text: str) -> str:
    """Every unsafe character as a visible placeholder: C0 controls as ␛, all others as `⟨U+XXXX⟩`."""
    if text.isascii() and text.isprintable():
        return text
    return with_few_marks(text).translate(_VISIBLE)


def escaped(text: str, keep: str = "") -> str:
    r"""Every unsafe character as `\x1b` or `\u202e`, except for those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return with_few_marks(text).translate(_escapes(keep))


def json_escaped(text: str) -> str:
    r"""A JSON text with every unsafe character as `\u009b`: the same document."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_JSON)


def is_safe(text: str) -> bool:
    """True if the text can be printed unchanged."""
    return text.isprintable() and not _MAYBE_MARKS.search(text) if not text.isascii() else text.isprintable()


def with_few_marks(text: str, instead: str = "⟨{:,} marks⟩") -> str:
    """At most MOST_MARKS combining marks in a row; `instead` gets the number of those left out."""
    if not _MAYBE_MARKS.search(text):
        return text
    parts, start, run = [], 0, 0
    for index, char in enumerate(text):
        if is_mark(char):
            run += 1
            continue
        if run > MOST_MARKS:
            parts.append(text[start : index - run + MOST_MARKS] + instead.format(run - MOST_MARKS))
            start = index
        run = 0
    left_out = max(0, run - MOST_MARKS)
    parts.append(text[start : len(text) - left_out] + (instead.format(left_out) if left_out else ""))
    return "".join(parts)


def is_mark(char: str) -> bool:
    """True if it has no width although it is printable."""
    return unicodedata.category(char) in _MARKS or re.match(_JOINING, char) is not None


class _Table(dict[int, str]):
    """For str.translate: computes how each character is written at its first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        written = self.write(char) if unicodedata.category(char) in _UNSAFE else char
        if len(self) < _MOST_LEARNT:
            self[code] = written
        return written

    def write(self, char: str) -> str:
        raise NotImplementedError


class _Visible(_Table):
    def write(self, char: str) -> str:
        code = ord(char)
        if code < 0x20:
            return chr(0x2400 + code)
        return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


class _Escapes(_Table):
    def __init__(self, keep: str) -> None:
        super().__init__()
        self._keep = keep

    def write(self, char: str) -> str:
        return char if char in self._keep else char.encode("unicode_escape").decode("ascii")


class _Json(_Table):
    def write(self, char: str) -> str:
        if char in "\t\r\n":  # between the tokens; within texts they are escaped already
            return char
        units = char.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


_VISIBLE, _JSON = _Visible(), _Json()
_escapes = cache(_Escapes)
