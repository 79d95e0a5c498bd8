"""How values read on a screen: numbers with their units, and text that cannot bite."""

from __future__ import annotations

import time
import unicodedata

# Categories that steer a terminal or reorder a line: controls, formats (bidi, zero width),
# surrogates, private use, line and paragraph separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SUFFIXES = ("", "k", "M", "G", "T", "P")


def safe(text: str) -> str:
    """Untrusted text with every steering character shown as a visible placeholder.

    C0 controls become their Unicode pictures (ESC → ␛), everything else that
    could steer `⟨U+XXXX⟩`.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(char) in _UNSAFE:
        return f"⟨U+{code:04X}⟩"
    return char


def integer(value: int) -> str:
    """48213 → `48,213`."""
    return f"{value:,}"


def many(count: int, noun: str) -> str:
    """`1 object`, `2,000 objects`: for nouns that take an s."""
    return f"{integer(count)} {noun}" + ("" if count == 1 else "s")


def short_count(value: float) -> str:
    """At most five cells: 812, 3.0k, 48k, 1.2M."""
    return _scaled(value, 1000.0)


def short_bytes(value: float) -> str:
    """Bytes by 1000s, as `ls -h --si` does: 812, 4.1k, 17.9M. `B` only where no suffix stands."""
    text = _scaled(value, 1000.0)
    return f"{text}B" if text[-1:].isdigit() else text


def long_bytes(value: float) -> str:
    """Bytes with a spelt unit: `4.1 MB`."""
    text = _scaled(value, 1000.0)
    return f"{text[:-1]} {text[-1]}B" if text[-1:].isalpha() else f"{text} B"


def _scaled(value: float, step: float) -> str:
    for suffix in _SUFFIXES:
        if abs(value) < step * 0.9995 or suffix == _SUFFIXES[-1]:
            break
        value /= step
    if not suffix:
        return f"{value:.0f}"
    return f"{value:.1f}{suffix}" if abs(value) < 99.95 else f"{value:.0f}{suffix}"


def milliseconds(value: float) -> str:
    """A duration in ms without its unit, three telling digits: 0.04, 0.4, 6.1, 38, 1,204."""
    if value < 0.095:
        return f"{value:.2f}"
    if value < 9.95:
        return f"{value:.1f}"
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    """A span with its unit, for people: `0.4s`, `38s`, `12m`, `3h05m`, `2d04h`."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02d}h"


def rate(per_second: float) -> str:
    """`+37/s`, `+0.4/s`, `0/s`."""
    if per_second <= 0.005:
        return "0/s"
    return f"+{short_count(per_second)}/s" if per_second >= 9.95 else f"+{per_second:.1f}/s"


def clock_time(at: float) -> str:
    """Local time of day, `07:44:01`."""
    return time.strftime("%H:%M:%S", time.localtime(at)) if at else ""


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
