"""Tables of (path, check), and one walk over an object that applies a whole table.

A path is `spec.ports[].port`: `[]` stands for each item of a list, `{}` for each value of a map; a path of ""
is the object itself. A check gets a value that is there and returns errors whose fields are relative to it:
"", `.name`, `[0].key`. The walk visits only what a table names, each value once: its time grows with the
object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, joined, limited

Check = Callable[[Any], Iterable[FieldError]]
Row = tuple[str, Check]

_STEPS = re.compile(r"\[\]|\{\}|[^.\[{]+")


@dataclass(slots=True)
class RuleTree:
    """The checks of a value, and the tables of its members, items and entries."""

    checks: list[Check] = field(default_factory=list)
    members: dict[str, RuleTree] = field(default_factory=dict)

    def at(self, path: str) -> RuleTree:
        """Return the table at a path, made if it is missing."""
        table = self
        for step in _STEPS.findall(path):
            table = table.members.setdefault(step, RuleTree())
        return table

    @limited
    def errors(self, value: Any) -> Iterator[FieldError]:
        """Yield the errors of a value and of all that it holds."""
        yield from self._walk(value, None)

    def _walk(self, value: Any, path: Path | None) -> Iterator[FieldError]:
        for check in self.checks:
            for error in check(value):
                yield replace(error, field=f"{joined(path)}{error.field}".removeprefix("."))
        if isinstance(value, dict):
            yield from self._in_object(value, path)
        elif isinstance(value, list) and (each := self.members.get("[]")):
            for index, item in enumerate(value):
                if item is not None:
                    yield from each._walk(item, (path, f"[{index}]"))

    def _in_object(self, value: dict[str, Any], path: Path | None) -> Iterator[FieldError]:
        if each := self.members.get("{}"):
            for name, member in value.items():
                yield from each._walk(member, (path, f"[{name}]"))
            return
        for name, table in self.members.items():
            if (member := value.get(name)) is not None:
                yield from table._walk(member, (path, f".{name}"))


def table_of(*rows: Row) -> RuleTree:
    """Return the table of these rows; rows of one path are checked in their order."""
    table = RuleTree()
    for path, check in rows:
        table.at(path).checks.append(check)
    return table


def below(path: str, rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows of a part at the path where a kind has that part."""
    return tuple((f"{path}.{inner}" if inner else path, check) for inner, check in rows)
