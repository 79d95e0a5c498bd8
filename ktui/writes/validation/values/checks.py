"""Checks of single values, and how several members of an object may go together; upstream's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
)
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import (
    config_key_faults,
    dns_label_faults,
    label_key_faults,
    path_segment_faults,
    subdomain_faults,
)
from ktui.kube.quantity import amount
from ktui.writes.validation.selectors import label_errors, label_selector_errors

Check = Callable[[Any], Iterable[FieldError]]
"""A value that is there → errors whose fields are relative to it: "", `.name`, `[0].key`."""

Row = tuple[str, Check]
"""A check and its path, such as `spec.ports[].port`.

`[]` stands for each item of a list, `{}` for each value of a map; a path of "" is the object itself.
"""

Rows = tuple[Row, ...]
"""The rules of a part. KINDS of each module here has those of whole objects, by the resource's id."""

_STEPS = re.compile(r"\[\]|\{\}|[^.\[{]+")


@dataclass(slots=True)
class RuleTree:
    """A table of checks by path: those of a value, and the tables of its members, items and entries.

    One walk over an object applies the whole table. It visits only what the table names, each value once: its
    time grows with the object. Errors come in the order of the rows, as upstream's in that of its validation
    functions; a part is visited where the first row names it.
    """

    steps: list[Check | tuple[str, RuleTree]] = field(default_factory=list)
    members: dict[str, RuleTree] = field(default_factory=dict)

    def at(self, path: str) -> RuleTree:
        """Return the table at a path, made if it is missing."""
        table = self
        for step in _STEPS.findall(path):
            if step not in table.members:
                table.members[step] = RuleTree()
                table.steps.append((step, table.members[step]))
            table = table.members[step]
        return table

    @limited
    def errors(self, value: Any) -> Iterator[FieldError]:
        """Yield the errors of an object and of all that it holds."""
        for error in self.relative(value):
            yield replace(error, field=error.field.removeprefix("."))

    def relative(self, value: Any) -> Iterator[FieldError]:
        """Yield the errors of a part, whose fields begin with `.name` or `[0]`."""
        yield from self._walk(value, None)

    def _walk(self, value: Any, path: Path | None) -> Iterator[FieldError]:
        for step in self.steps:
            if not isinstance(step, tuple):
                for error in step(value):
                    yield replace(error, field=f"{joined(path)}{error.field}")
                continue
            name, table = step
            for part, member in _parts(value, name):
                yield from table._walk(member, (path, part))


def _parts(value: Any, step: str) -> Iterator[tuple[str, Any]]:
    """Yield what a step of a path leads to, each with its path: a member, each item, each value."""
    if isinstance(value, list):
        if step == "[]":
            yield from ((f"[{at}]", item) for at, item in enumerate(value) if item is not None)
    elif isinstance(value, dict):
        if step == "{}":
            yield from ((f"[{name}]", member) for name, member in value.items())
        elif (member := value.get(step)) is not None:
            yield f".{step}", member


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


_PORT_NAME = re.compile("[a-z0-9-]+")
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)


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

    def check(value: str) -> Iterable[FieldError]:
        if value in values:
            return ()
        return [not_supported("", value, values)] if value else [required("")]

    return check


def one_of_or_none(*values: str) -> Check:
    """Demand one of these texts, or an empty one."""
    return lambda value: () if not value or value in values else [not_supported("", value, values)]


def listed(*values: str) -> Check:
    """Demand one of these texts; an empty one is another (upstream: a set, not the cases of a switch)."""
    return lambda value: () if value in values else [not_supported("", value, values)]


def conforms(faults: Callable[[str], Iterable[str]]) -> Check:
    """Apply a rule of names to a text."""
    return lambda value: [invalid("", value, why) for why in faults(value)]


def named(faults: Callable[[str], Iterable[str]]) -> Check:
    """Apply a rule of names to a text that is not empty."""
    return lambda value: [invalid("", value, why) for why in faults(value)] if value else ()


dns_label, subdomain, qualified, config_key = (
    named(rule) for rule in (dns_label_faults, subdomain_faults, label_key_faults, config_key_faults)
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


def needs(good: Callable[[Any], object], field: str, why: str) -> Check:
    """Demand a member of each value that fails a test."""
    return lambda value: () if good(value) else [required(field, why)]


def refuse(bad: Callable[[Any], object], field: str, why: str) -> Check:
    """Forbid a member of each value for which a test holds."""
    return lambda value: [forbidden(field, why)] if bad(value) else ()


def at_most_bytes(most: int) -> Check:
    return lambda value: [too_long("", most)] if len(value.encode()) > most else ()


def text_of(name: str, check: Check) -> Check:
    """Apply a check to a text that counts as empty if it is missing."""
    return lambda value: inside(f".{name}", check(str(value.get(name) or "")))


def duplicate(field: str, value: Any) -> FieldError:
    shown = quote(value) if isinstance(value, str) else to_json(value).decode()
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {shown}")


def exactly_one(known: Mapping[str, RuleTree], what: str, shown: Mapping[str, str] | None = None) -> Check:
    """Demand one of several members: the first is checked, others are too many, some of them `shown` so."""

    def check(part: Obj) -> Iterator[FieldError]:
        there = [name for name in known if part.get(name) is not None]
        for name in there[:1]:
            yield from inside(f".{name}", known[name].relative(part[name]))
        for name in there[1:]:
            yield forbidden(f".{(shown or {}).get(name, name)}", f"may not specify more than 1 {what} type")
        if not there:
            yield required("", f"must specify a {what} type")

    return check


def numbered(items: Iterable[Obj], member: str) -> Iterator[tuple[str, Obj, str, bool]]:
    """Yield each item with its path, its name (or another member), and whether an item before it has that."""
    seen = set()
    for index, item in enumerate(items):
        name = str(item.get(member) or "")
        yield f"[{index}]", item, name, name in seen
        seen.add(name)


port_number, user_id = between(1, 65535), between(0, 2**31 - 1)
not_negative = demand(lambda quantity: amount(quantity) >= 0, "must be greater than or equal to 0")
more_than_nothing = demand(lambda quantity: amount(quantity) > 0, "must be greater than zero")
without_parents = demand(lambda path: ".." not in path.split("/"), "must not contain '..'")
absolute_path = demand(lambda path: path.startswith("/"), "must be an absolute path")
file_mode = demand(
    lambda mode: 0 <= mode <= 0o777, "must be a number between 0 and 0777 (octal), both inclusive"
)
header_name = demand(
    re.compile("[-A-Za-z0-9]+").fullmatch,
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')",
)
variable_name = demand(
    re.compile("[ -<>-~]*").fullmatch,
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
)


def relative_path(value: str) -> Iterator[FieldError]:
    if value.startswith("/"):
        yield invalid("", value, "must be a relative path")
    yield from without_parents(value)


def port_name_faults(name: str) -> Iterator[str]:
    """Yield why a port's name is invalid (upstream: IsValidPortName)."""
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name[:1] == "-" or name[-1:] == "-":
        yield "must not begin or end with a hyphen"


def port_or_name(value: Any) -> Iterable[FieldError]:
    """A port's number, or the name of one."""
    if isinstance(value, str):
        return [invalid("", value, why) for why in port_name_faults(value)]
    return port_number(value)


def whole_or_percent(value: Any) -> Iterable[FieldError]:
    """A number from 0 on, or a percentage."""
    if not isinstance(value, str):
        return natural(value)
    return () if re.fullmatch("[0-9]+%", value) else [invalid("", value, _PERCENT)]


def not_above_all(value: Any) -> Iterable[FieldError]:
    """A number, or a percentage up to 100%."""
    digits = value[:-1].lstrip("0") if isinstance(value, str) and re.fullmatch("[0-9]+%", value) else ""
    if len(digits) > 2 and digits != "100":
        return [invalid("", value, "must not be greater than 100%")]
    return ()


def count_or_percent(value: Any) -> Iterator[FieldError]:
    """A number from 0 on, or a percentage up to 100%."""
    yield from whole_or_percent(value)
    yield from not_above_all(value)


def path_segment(value: str) -> Iterator[FieldError]:
    """A name of a kind, or of an object of any kind."""
    if not value:
        yield required("")
    yield from (invalid("", value, why) for why in path_segment_faults(value))


def reference_to(reference: Obj) -> Iterator[FieldError]:
    """A reference to an object of another kind."""
    for name in ("kind", "name"):
        yield from text_of(name, path_segment)(reference)
