"""Checks of single values, and how several members of an object may go together; upstream's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ktui.kube.fielderrors import (
    FieldError,
    Path,
    forbidden,
    invalid,
    joined,
    limited,
    not_supported,
    required,
    too_long,
    too_many,
)
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import (
    LABEL_1035,
    LABEL_1035_FAULT,
    config_key_faults,
    dns_label_faults,
    label_key_faults,
    path_segment_faults,
    subdomain_faults,
)
from ktui.kube.quantity import amount
from ktui.writes.field_paths import parts, steps_of
from ktui.writes.validation.selectors import label_errors, label_selector_errors

Check = Callable[[Any], Iterable[FieldError]]
"""A value that is there → errors whose fields are relative to it: "", `.name`, `[0].key`."""

Row = tuple[str, Check]
"""A check and its path (`field_paths`); a path of "" is the object itself."""

Rows = tuple[Row, ...]
"""The rules of a part. KINDS of each module here has those of whole objects, by the resource's id."""


@dataclass(slots=True)
class RuleTree:
    """A table of checks by path, itself a check: those of a value, and the tables of its parts.

    It visits only what the table names: its time grows with the object. Errors come in the order of the rows,
    as upstream's in that of its validation functions; rows in sequence that lead through one list, or through
    one map, share a walk over it.
    """

    steps: list[Check | tuple[str, RuleTree]] = field(default_factory=list)

    def at(self, path: str) -> RuleTree:
        """Return the table at a path after the rows before it."""
        table = self
        for step in steps_of(path):
            last = table.steps[-1] if table.steps else None
            if not isinstance(last, tuple) or last[0] != step:
                table.steps.append(last := (step, RuleTree()))
            table = last[1]
        return table

    @limited
    def errors(self, value: Any) -> Iterator[FieldError]:
        """Yield the errors of an object and of all that it holds."""
        for error in self(value):
            yield replace(error, field=error.field.removeprefix("."))

    def __call__(self, value: Any) -> Iterator[FieldError]:
        """Yield the errors of a part, whose fields begin with `.name` or `[0]`."""
        return self._walk(value, None)

    def _walk(self, value: Any, path: Path | None) -> Iterator[FieldError]:
        for step in self.steps:
            if not isinstance(step, tuple):
                for error in step(value):
                    yield replace(error, field=f"{joined(path)}{error.field}")
                continue
            name, table = step
            for part, member in parts(value, name):
                yield from table._walk(member, (path, part))


def table_of(*rows: Row) -> RuleTree:
    table = RuleTree()
    for path, check in rows:
        table.at(path).steps.append(check)
    return table


def inside(path: str, errors: Iterable[FieldError]) -> Iterator[FieldError]:
    """Yield the errors of a part at a path like `.spec` or `[0]`."""
    return (replace(error, field=f"{path}{error.field}") for error in errors)


def below(path: str, rows: Iterable[Row]) -> Rows:
    """Return the rows of a part at the path where a kind has that part."""
    return tuple((f"{path}.{inner}" if inner else path, check) for inner, check in rows)


def nothing(_: Any) -> Iterable[FieldError]:
    return ()


def needed(check: Check = nothing, why: str = "") -> Check:
    """Demand a text, and apply a check to it; an empty one is missing."""
    return lambda value: check(value) if value else [required("", why)]


def optional(check: Check) -> Check:
    """Apply a check to a text that is not empty."""
    return lambda value: check(value) if value else ()


def demand(good: Callable[[Any], object], why: str) -> Check:
    """Demand that a value passes a test."""
    return lambda value: () if good(value) else [invalid("", value, why)]


natural = demand(lambda value: value >= 0, "must be greater than or equal to 0")


def counts(*paths: str) -> Rows:
    """Return the rows of numbers from 0 on."""
    return tuple((path, natural) for path in paths)


def between(least: int, most: int) -> Check:
    return demand(lambda value: least <= value <= most, f"must be between {least} and {most}, inclusive")


def positive(why: str = "must be greater than zero") -> Check:
    return demand(lambda value: value > 0, why)


def one_of(*values: str) -> Check:
    """Demand one of these texts; an empty one is missing."""
    return needed(listed(*values))


def one_of_or_none(*values: str) -> Check:
    """Demand one of these texts, or an empty one."""
    return optional(listed(*values))


def listed(*values: str) -> Check:
    """Demand one of these texts; an empty one is another (upstream: a set, not the cases of a switch)."""
    return lambda value: () if value in values else [not_supported("", value, values)]


def conforms(faults: Callable[[str], Iterable[str]]) -> Check:
    """Apply a rule of names to a text."""
    return lambda value: [invalid("", value, why) for why in faults(value)]


dns_label, subdomain, qualified, config_key = (
    optional(conforms(rule))
    for rule in (dns_label_faults, subdomain_faults, label_key_faults, config_key_faults)
)
any_dns_label, any_subdomain, label_key = (
    conforms(rule) for rule in (dns_label_faults, subdomain_faults, label_key_faults)
)


def labels(value: Obj) -> Iterator[FieldError]:
    return label_errors(value, "")


def selector(value: Obj) -> Iterable[FieldError]:
    return label_selector_errors(value, "")


def has(*names: str, why: str = "") -> Check:
    """Demand members that are neither missing nor empty."""
    return lambda value: [required(f".{name}", why) for name in names if not value.get(name)]


def there(*names: str, why: str = "") -> Check:
    """Demand members that are not missing, be they empty."""
    return lambda value: [required(f".{name}", why) for name in names if value.get(name) is None]


def absent(*names: str, why: str) -> Check:
    """Forbid members, be they empty."""
    return lambda value: [forbidden(f".{name}", why) for name in names if value.get(name) is not None]


def needs(good: Callable[[Any], object], field: str, why: str) -> Check:
    """Demand a member of each value that fails a test."""
    return lambda value: () if good(value) else [required(field, why)]


def refuse(bad: Callable[[Any], object], field: str, why: str) -> Check:
    """Forbid a member of each value for which a test holds."""
    return lambda value: [forbidden(field, why)] if bad(value) else ()


def at_most_bytes(most: int) -> Check:
    return lambda value: [too_long("", most)] if len(value.encode()) > most else ()


def duplicate(field: str, value: Any) -> FieldError:
    shown = quote(value) if isinstance(value, str) else to_json(value).decode()
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {shown}")


def exactly_one(known: Mapping[str, RuleTree], what: str, shown: Mapping[str, str] | None = None) -> Check:
    """Demand one of several members: the first is checked, others are too many, some of them `shown` so."""

    def check(part: Obj) -> Iterator[FieldError]:
        there = [name for name in known if part.get(name) is not None]
        for name in there[:1]:
            yield from inside(f".{name}", known[name](part[name]))
        for name in there[1:]:
            yield forbidden(f".{(shown or {}).get(name, name)}", f"may not specify more than 1 {what} type")
        if not there:
            yield required("", f"must specify a {what} type")

    return check


def alone(what: str) -> Check:
    """Demand that `*` stands alone in a list."""
    why = f"if '*' is present, must not specify other {what}"
    return demand(lambda values: len(values) < 2 or "*" not in values, why)


def written(why: str = "") -> Check:
    """Demand a text of more than spaces."""
    return needs(str.strip, "", why)


def at_most(most: int) -> Check:
    return lambda items: [too_many("", len(items), most)] if len(items) > most else ()


def every(*checks: Check) -> Check:
    return lambda value: chain.from_iterable(check(value) for check in checks)


def up_to(most: int, check: Check) -> Check:
    """Check a list, or say only that it has too many items."""
    size = at_most(most)
    return lambda values: size(values) or check(values)


def items(most: int, check: Check) -> Check:
    """Check each item of a list, or say only that they are too many (upstream: validateSlice)."""
    return up_to(most, table_of(("[]", check)))


def different(most: int, check: Check, key: Callable[[Any], Any] = str) -> Check:
    """Check each item as `items`, then that all differ in their key (upstream: validateSet)."""
    return up_to(most, every(table_of(("[]", check)), lambda values: repeated(map(key, values))))


def repeated(values: Iterable[Any]) -> Iterator[FieldError]:
    """Yield an error for each value of a list that was there before."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            yield duplicate(f"[{index}]", value)
        seen.add(value)


def named_by(member: str) -> Callable[[Obj], str]:
    """Return the function of an object's key: the text of this member."""
    return lambda item: str(item.get(member) or "")


def distinct(
    member: str,
    first: Check = nothing,
    then: Check = nothing,
    *,
    field: str | None = None,
    named: bool = False,
) -> Check:
    """Check the items of a list, each of which differs from those before it in a member, or else itself.

    The error of that is at the member unless `field` says otherwise, between those of the checks `first` and
    `then` of the item. `named`: empty names may repeat.
    """
    where = field if field is not None else member and f".{member}"

    def of_list(values: list[Any]) -> Iterator[FieldError]:
        for at, item, name, again in numbered(values, member):
            yield from inside(at, first(item))
            if again and (name or not named):
                yield duplicate(f"{at}{where}", name)
            yield from inside(at, then(item))

    return of_list


def numbered(items: Iterable[Any], member: str) -> Iterator[tuple[str, Any, str, bool]]:
    """Yield each item with its path, its name (or another member), and whether an item before it has that.

    Without a member the item itself is a name.
    """
    seen = set()
    for index, item in enumerate(items):
        name = str((item.get(member) if member else item) or "")
        yield f"[{index}]", item, name, name in seen
        seen.add(name)


port_number, user_id = between(1, 65535), between(0, 2**31 - 1)
valid_port = demand(
    lambda port: 0 < port < 65536, "port is not valid: must be between 1 and 65535, inclusive"
)
not_negative = demand(lambda quantity: amount(quantity) >= 0, "must be greater than or equal to 0")
more_than_nothing = demand(lambda quantity: amount(quantity) > 0, "must be greater than zero")
without_parents = demand(lambda path: ".." not in path.split("/"), "must not contain '..'")


def relative_path(value: str) -> Iterator[FieldError]:
    if value.startswith("/"):
        yield invalid("", value, "must be a relative path")
    yield from without_parents(value)


def dns_1035_faults(name: str) -> list[str]:
    """Return what is wrong with a DNS label (RFC 1035) that is a version or a kind; [] if it is valid."""
    faults = ["must be no more than 63 characters"] if len(name.encode()) > 63 else []
    return faults if LABEL_1035.fullmatch(name) else [*faults, LABEL_1035_FAULT]


def path_segment(value: str) -> Iterator[FieldError]:
    """A name of a kind, or of an object of any kind."""
    if not value:
        yield required("")
    yield from (invalid("", value, why) for why in path_segment_faults(value))


REFERENCE: Rows = (("kind:text", path_segment), ("name:text", path_segment))
"""The rules of a reference to an object of another kind."""
