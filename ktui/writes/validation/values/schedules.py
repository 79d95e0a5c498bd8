"""Schedules and time zones of CronJobs, as the cron library of kube-controller-manager parses them."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.times import parse_duration

_MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9}
_MONTHS |= {"oct": 10, "nov": 11, "dec": 12}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
# Least and most of each field, and the names of its values.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}), (0, 23, {}), (1, 31, {}), (1, 12, _MONTHS), (0, 6, _DAYS),
)  # fmt: skip
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = "@every "
_ZONE = re.compile(r"[A-Za-z0-9_+\-/]+")
_LONGEST = 1000


def schedule(text: str) -> Iterator[FieldError]:
    """Check a schedule that is not empty."""
    if not text:
        return
    if fault := schedule_fault(text):
        yield invalid("", text, fault)
    if "TZ" in text:
        yield invalid("", text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def time_zone(name: str) -> Iterator[FieldError]:
    if not name:
        yield invalid("", "", "timeZone must be nil or non-empty string")
    elif name.lower() == "local":
        yield invalid(
            "", name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    elif not _known(name):
        yield invalid("", name, f"unknown time zone {name}")


def _known(name: str) -> bool:
    return bool(_ZONE.fullmatch(name)) and len(name) <= 100 and (_loads(name) or not _loads("UTC"))


def _loads(name: str) -> bool:
    """Whether this machine has the time zone; one without any cannot tell."""
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True


def schedule_fault(text: str) -> str:
    """Return why a schedule cannot be parsed, "" if it can."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        text = text.partition(" ")[2].strip()
    if text.startswith("@"):
        return _descriptor_fault(text)
    if len(text) > _LONGEST:
        return f"expected a schedule of at most {_LONGEST} characters"
    parts = text.split()
    if len(parts) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]"
    for part, (least, most, names) in zip(parts, _FIELDS, strict=True):
        for piece in part.split(","):
            if piece and (fault := _piece_fault(piece, least, most, names)):
                return fault
    return ""


def _descriptor_fault(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if not text.startswith(_EVERY):
        return f"unrecognized descriptor: {text}"
    try:
        parse_duration(text.removeprefix(_EVERY))
    except ValueError as error:
        return f"failed to parse duration {text}: {error}"
    return ""


def _piece_fault(piece: str, least: int, most: int, names: dict[str, int]) -> str:
    """Check `*`, `5`, `5-9` or one of them with a step: `*/5`."""
    span, *steps = piece.split("/")
    low, *highs = span.split("-")
    start, end, step = least, most, 1
    try:
        if low not in ("*", "?"):
            start = end = _number(low, names)
            if len(highs) > 1:
                return f"too many hyphens: {piece}"
            end = _number(highs[0], names) if highs else start
        if len(steps) > 1:
            return f"too many slashes: {piece}"
        if steps:
            step, end = _number(steps[0], {}), end if highs else most
    except ValueError as error:
        return str(error)
    if start < least:
        return f"beginning of range ({start}) below minimum ({least}): {piece}"
    if end > most:
        return f"end of range ({end}) above maximum ({most}): {piece}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {piece}"
    return "" if step else f"step of range should be a positive number: {piece}"


def _number(text: str, names: dict[str, int]) -> int:
    """Return the number, or the value of a name; ValueError says in the library's words why there is none."""
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise ValueError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax"
        )
    if (number := int(text)) < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
