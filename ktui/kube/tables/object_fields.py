"""Read an object's JSON: members that may be missing, lists as text, selectors as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ktui.kube.selectors.labels import LabelSelector
from ktui.kube.selectors.requirements import is_valid, requirements_of

Obj = Mapping[str, Any]

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"


def dig(obj: Any, path: str, default: Any = None) -> Any:
    """Return the member at a dotted path; `default` if it or a parent is missing or null."""
    for key in path.split("."):
        if not isinstance(obj, dict):
            return default
        obj = obj.get(key)
    return default if obj is None else obj


def items(obj: Any, path: str) -> list[Any]:
    """Return the list at a dotted path; [] if it is missing."""
    found = dig(obj, path)
    return found if isinstance(found, list) else []


def size(obj: Any, path: str) -> int:
    """Return the number of members of the map or list at a dotted path; 0 if it is missing."""
    found = dig(obj, path)
    return len(found) if isinstance(found, list | dict) else 0


def joined(values: Iterable[Any], key: str) -> str:
    """Return the member `key` of each value, comma separated."""
    return ",".join(str(value.get(key, "")) for value in values)


def selector_text(selector: Obj | None, *, empty: str = NONE, invalid: str = "<error>") -> str:
    """Format a LabelSelector object as `a=b,c in (d,e),!f`."""
    try:
        requirements = requirements_of(selector or {})
    except ValueError:
        return invalid
    if not all(map(is_valid, requirements)):
        return invalid
    return str(LabelSelector(requirements)) or empty


def first_few(values: list[str], limit: int = 3, comma: str = ",") -> str:
    """Return the first `limit` values, comma separated, then ` + N more...`."""
    shown = comma.join(values[:limit])
    return f"{shown} + {len(values) - limit} more..." if len(values) > limit else shown


def condition(obj: Obj, kind: str) -> Obj:
    """Return the condition of type `kind` in status.conditions; {} if it is absent."""
    return next((c for c in items(obj, "status.conditions") if c.get("type") == kind), {})


def holds(obj: Obj, kind: str) -> bool:
    """True if the condition of type `kind` is "True"."""
    return condition(obj, kind).get("status") == "True"


def deleting(obj: Obj) -> bool:
    """True if the object waits for its finalizers or grace period."""
    return bool(dig(obj, "metadata.deletionTimestamp"))


_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 86400 * 365
_SIZES = {"s": 1, "m": _MINUTE, "h": _HOUR, "d": _DAY, "y": _YEAR}
# Below how many seconds an age is shown in these units.
_SHOWN = (
    (2 * _MINUTE, "s", ""), (10 * _MINUTE, "m", "s"), (3 * _HOUR, "m", ""), (8 * _HOUR, "h", "m"),
    (48 * _HOUR, "h", ""), (8 * _DAY, "d", "h"), (2 * _YEAR, "d", ""), (8 * _YEAR, "y", "d"),
)  # fmt: skip
# (upper bound of the age, seconds of its last shown unit)
_STEPS = ((10 * _MINUTE, 1), (8 * _HOUR, _MINUTE), (8 * _DAY, _HOUR))


def human_duration(seconds: float) -> str:
    """Format a duration in at most two units; `<invalid>` from -2 s down."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    unit, small = next(((unit, small) for below, unit, small in _SHOWN if whole < below), ("y", ""))
    count, rest = divmod(max(whole, 0), _SIZES[unit])
    rest = rest // _SIZES[small] if small else 0
    return f"{count}{unit}{rest}{small}" if rest else f"{count}{unit}"


def steady_until(since: float, now: float) -> float:
    """Return the time (Unix seconds) until which `human_duration` of the age at `now` stays the same."""
    whole = int(now - since)
    step = next((step for below, step in _STEPS if whole < below), _DAY)
    return since + (whole // step + 1) * step if now >= since else now


def unix_time(timestamp: str) -> float:
    """Return Unix seconds of an RFC 3339 time; raise ValueError."""
    parsed = datetime.fromisoformat(timestamp)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


class Age(NamedTuple):
    """A cell with the time since `since` (Unix seconds) between the texts `before` and `after`."""

    since: float
    before: str = ""
    after: str = ""

    def text(self, now: float) -> str:
        return f"{self.before}{human_duration(now - self.since)}{self.after}"


def age(timestamp: object, before: str = "", after: str = "") -> Age | str:
    """The cell with the time since `timestamp` (RFC 3339, as in JSON); `<unknown>` without a timestamp."""
    if not isinstance(timestamp, str) or not timestamp:
        return f"{before}<unknown>{after}"
    try:
        return Age(unix_time(timestamp), before, after)
    except ValueError:
        return f"{before}<invalid>{after}"


def born(obj: Obj) -> Age | str:
    """The Age column."""
    return age(dig(obj, "metadata.creationTimestamp"))


Cell = str | tuple[str, Any] | Callable[[Obj], Any]
"""A path, "" for a missing member; a path and the value for a missing or empty one; or a function."""


def row(*cells: Cell) -> Callable[[Obj], list[Any]]:
    """Return a printer, which makes the cells of an object."""
    makers = [
        cell if callable(cell) else _member(*((cell, "") if isinstance(cell, str) else cell))
        for cell in cells
    ]
    return lambda obj: [make(obj) for make in makers]


def _member(path: str, missing: Any) -> Callable[[Obj], Any]:
    def cell(obj: Obj) -> Any:
        found = dig(obj, path)
        return missing if found is None or found == "" else found

    return cell


def count(path: str) -> Callable[[Obj], int]:
    """The number of members of a map or list."""
    return lambda obj: size(obj, path)


def text(path: str, missing: str) -> Callable[[Obj], str]:
    """A member as text."""
    return lambda obj: str(dig(obj, path, missing))


def each(path: str, key: str) -> Callable[[Obj], str]:
    """A member of each item of a list, comma separated."""
    return lambda obj: joined(items(obj, path), key)


def pair(path: str, first: str, second: str, missing: str) -> Callable[[Obj], str]:
    """Two members of an object, as `first/second`."""

    def cell(obj: Obj) -> str:
        found = dig(obj, path)
        return f"{found.get(first, '')}/{found.get(second, '')}" if found is not None else missing

    return cell


def labels(path: str) -> Callable[[Obj], str]:
    """Labels as `k=v,…`, sorted by key."""
    return lambda obj: ",".join(f"{k}={v}" for k, v in sorted(dig(obj, path, {}).items())) or NONE


def selector(path: str) -> Callable[[Obj], str]:
    return lambda obj: selector_text(dig(obj, path))


def containers(template: str) -> tuple[Cell, Cell]:
    """The names and the images of a pod template's containers."""
    return each(f"{template}.spec.containers", "name"), each(f"{template}.spec.containers", "image")
