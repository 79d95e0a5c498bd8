"""Formatting for screens, terminal and reports: numbers with units, safe text.

`short_…` fits a table cell whose heading has the unit, `long_…` includes the unit.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from itertools import takewhile

from ktui.printable import escaped
from ktui.printable import safe as safe

_SUFFIXES = ("", "k", "M", "G", "T", "P")


def integer(value: int) -> str:
    """48213 → `48,213`."""
    return f"{value:,}"


def many(count: int, noun: str) -> str:
    """`1 object`, `2,000 objects`: for nouns that take an s."""
    return f"{integer(count)} {noun}" + ("" if count == 1 else "s")


def short_count(value: float) -> str:
    """At most five cells: 812, 3.0k, 48k, 1.2M."""
    for suffix in _SUFFIXES:
        if abs(value) < 999.5 or suffix == _SUFFIXES[-1]:
            break
        value /= 1000
    if not suffix:
        return f"{value:.0f}"
    return f"{value:.1f}{suffix}" if abs(value) < 99.95 else f"{value:.0f}{suffix}"


def within(value: int, width: int) -> str:
    """Format a number for `width` cells: exact if it fits (48,213), else 12.3M. Never truncated."""
    text = integer(value)
    return text if len(text) <= width else short_count(value)


def revision_within(value: int, width: int) -> str:
    """Format a revision in full: `9,876,543,210`, or without commas if `width` is too small for them."""
    text = integer(value)
    return text if len(text) <= width else str(value)


short_bytes = short_count
"""Bytes for a table column of bytes: 812, 4.1k, 879k, 9.6M; k = 1000. Sentences use `long_bytes`."""


def interval(low: float, high: float) -> str:
    """Format a range of bytes in six cells, rounded outwards: `.7–2M`, `12–46M`; "" if it is empty."""
    if low >= high:
        return ""
    suffix = next((suffix for suffix in _SUFFIXES if _upwards(high, suffix) < 100), _SUFFIXES[-1])
    scale = 1000 ** _SUFFIXES.index(suffix)
    least, most = low / scale, _upwards(high, suffix)
    down = int(least) if least >= 1 else int(least * 10) / 10
    return f"{_bare(down)}–{_bare(most)}{suffix}"


def _upwards(value: float, suffix: str) -> float:
    """Return a value in a unit, rounded up to a whole number, below 1 to a decimal."""
    scaled = value / float(1000 ** _SUFFIXES.index(suffix))
    return math.ceil(scaled) if scaled > 0.9 else math.ceil(scaled * 10) / 10


def _bare(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"


def long_bytes(value: float) -> str:
    """Bytes with their unit, for texts: `28 B`, `879 kB`, `4.1 MB`."""
    text = short_count(value)
    return f"{text[:-1]} {text[-1]}B" if text[-1:].isalpha() else f"{text} B"


def processed_text(size: float, imputed: float) -> str:
    """Bytes processed; with `≈` if part of them is imputed: what ktui's own index skipped."""
    return f"{'≈' if imputed else ''}{long_bytes(size)}"


def milliseconds(value: float) -> str:
    """A duration in ms without its unit, three significant digits: 0.04, 0.4, 6.1, 38, 1,204."""
    if value < 0.095:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def short_milliseconds(value: float) -> str:
    """A duration in at most five cells: ms without unit, from ten seconds on with one: 9,999, 12.3s, 20m."""
    if value < 9_999.5:
        return milliseconds(value)
    seconds = value / 1000
    if seconds < 99.95:
        return f"{seconds:.1f}s"
    return f"{seconds:.0f}s" if seconds < 999.5 else duration(seconds)


def long_milliseconds(value: float) -> str:
    """A duration given in ms, with its unit: `0.4 ms`, `38 ms`, `12.3 s`, `33.0 min`."""
    if value < 9_999.5:
        return f"{milliseconds(value)} ms"
    return f"{value / 1000:,.1f} s" if value < 599_950 else f"{value / 60_000:,.1f} min"


def figure(value: float) -> str:
    """A factor or an average in three significant digits: 0.004, 1.02, 12.3, 180, 1,204."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def times(factor: float) -> str:
    """A factor: `1.5×`, `12×`, `1.2k×`."""
    return f"{factor:.1f}×" if factor < 9.95 else f"{short_count(factor)}×"


def duration(seconds: float) -> str:
    """A duration with its unit: `0.4s`, `38s`, `1m59s`, `12m`, `3h05m`, `2d04h`."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s" if rest and minutes < 10 else f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02d}h"


def rate(per_second: float) -> str:
    """A growth per second: `+37/s`, `+0.4/s`, `0/s`."""
    if per_second <= 0.005:
        return "0/s"
    return f"+{short_count(per_second)}/s" if per_second >= 9.95 else f"+{per_second:.1f}/s"


def frequency(per_second: float) -> str:
    """A frequency in the first unit that gives at least one: `12/s`, `3.0/min`, `0.5/h`."""
    for seconds, unit in ((1, "s"), (60, "min"), (3600, "h")):
        if per_second * seconds >= 0.95 or unit == "h":
            break
    value = per_second * seconds
    return f"{value:,.0f}/{unit}" if value >= 9.95 else f"{value:.1f}/{unit}"


def percent(share: float) -> str:
    """A share (0–1) in at most four cells: `58%`, `<1%`, `>99%`; 0% and 100% only if exact."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 < share < 1 else f"{share:.0%}"


def elapsed(seconds: float) -> str:
    """A position in a recording: `04:05`, `1:04:05`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def clock_time(at: float) -> str:
    """Local time of day, `07:44:01`; "" for 0."""
    return time.strftime("%H:%M:%S", time.localtime(at)) if at else ""


def local_time(at: float, now: float) -> str:
    """Local time of day; with the date if that differs from the date of `now`: `12 Aug 07:44`."""
    there, here = time.localtime(at), time.localtime(now)
    if there[:3] == here[:3] or not at:
        return clock_time(at)
    return f"{there.tm_mday} {time.strftime('%b %H:%M', there)}"


def told_apart(text: str, others: Iterable[str], width: int) -> str:
    """Return `text` for `width` cells: `…` and its difference from another that would be cut to the same."""
    if len(text) <= width:
        return text
    alike = [other for other in others if other != text and other[: width - 1] == text[: width - 1]]
    if not alike:
        return text
    same = min(
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))
        for other in alike
    )
    start = max(text.rfind(mark, 0, same) + 1 for mark in " ,/?&=")
    return f"…{text[start:]}"


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters, with an ellipsis if it was cut."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


# Characters with a meaning in some Markdown dialect (markup, links, mentions); all are escaped.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~@&$]")


def markdown_text(untrusted: str) -> str:
    """Return untrusted text on one line, escaped so that it is never markup."""
    return _SPECIAL.sub(r"\\\g<0>", escaped(untrusted))


def markdown_code(untrusted: str) -> str:
    """Return untrusted text as code in a cell of a table; backticks would end it."""
    return f"`{escaped(untrusted).replace('|', '%7C').replace('`', '%60')}`"


def markdown_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
