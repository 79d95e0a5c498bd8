"""One requirement of a label selector: key, operator, values, and the function that tests it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from ktui.kube.fielderrors import FieldError, invalid
from ktui.kube.golang.formatting import NumError, parse_int
from ktui.kube.names import label_key_faults, label_value_faults

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]


class Operator(StrEnum):
    """Operators; `=` and `==` are both EQUALS."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    NOT_EQUALS = "!="
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """`values` are sorted and distinct: one for comparisons, none for existence.

    Watches may keep 200,000, which the garbage collector need not visit.
    """

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def test(self) -> Test:
        """Return a function that tests whether labels match this requirement.

        It is the operator's own, because a LIST calls it for each of 100,000 objects.
        """
        key, operator, values = self.key, self.operator, self.values
        if operator in (Operator.GREATER_THAN, Operator.LESS_THAN):
            return _compare(key, values, 1 if operator is Operator.GREATER_THAN else -1)
        if operator is Operator.EXISTS:
            return lambda labels: key in labels
        if operator is Operator.DOES_NOT_EXIST:
            return lambda labels: key not in labels
        several = frozenset(values)
        if operator is Operator.NOT_IN:
            return lambda labels: labels.get(key) not in several
        if operator is Operator.IN and len(values) != 1:
            return lambda labels: labels.get(key) in several
        value = values[0]
        if operator is Operator.NOT_EQUALS:
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(self.values)})"
            case Operator.GREATER_THAN:
                return f"{self.key}>{self.values[0]}"
            case Operator.LESS_THAN:
                return f"{self.key}<{self.values[0]}"
            case _:
                return f"{self.key}{self.operator}{self.values[0]}"


def all_of(requirements: Sequence[Requirement]) -> Test:
    """Return a function that tests whether labels match all requirements.

    Its steps are in proportion to the requirements if they are few, else to the labels: a selector has room
    for thousands, and a LIST tests each of 100,000 objects.
    """
    if len(requirements) > _FEW:
        return _of_many(requirements)
    return passing([requirement.test() for requirement in requirements])


def passing(tests: Sequence[Test]) -> Test:
    """Return a function that tests whether labels, or fields, pass all of a few tests."""
    if not tests:
        return lambda labels: True
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda labels: first(labels) and second(labels)

    def every(labels: Labels) -> bool:
        for test in tests:  # noqa: SIM110 - a generator costs more than the tests
            if not test(labels):
                return False
        return True

    return every


_FEW = 16
_NO_TESTS: list[Test] = []
# Requirements that an object without the label meets.
_WITHOUT_LABEL = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS, Operator.DOES_NOT_EXIST})


def _of_many(requirements: Sequence[Requirement]) -> Test:
    groups: dict[str, list[Requirement]] = {}
    alone: dict[str, Requirement] = {}  # no function for each of thousands: labels have few of the keys
    for requirement in requirements:
        if requirement.key in groups:
            groups[requirement.key].append(requirement)
        elif (first := alone.pop(requirement.key, None)) is not None:
            groups[requirement.key] = [first, requirement]
        else:
            alone[requirement.key] = requirement
    tests = {key: [r.test() for r in _merged(key, group)] for key, group in groups.items()}

    def tests_of(key: str) -> list[Test]:
        if key in alone and key not in tests:
            tests[key] = [alone[key].test()]
        return tests.get(key, _NO_TESTS)

    needed = {r.key for r in requirements if r.operator not in _WITHOUT_LABEL}

    def every(labels: Labels) -> bool:
        if len(needed) > len(labels) or any(key not in labels for key in needed):
            return False
        return all(test(labels) for key in labels for test in tests_of(key))

    return every


def _merged(key: str, group: list[Requirement]) -> Iterator[Requirement]:
    """Yield at most one requirement for each operator, which together say the same about one key."""
    wanted: set[str] | None = None
    unwanted: set[str] = set()
    bounds: dict[Operator, list[int]] = {Operator.GREATER_THAN: [], Operator.LESS_THAN: []}
    for requirement in group:
        operator, values = requirement.operator, requirement.values
        if operator in (Operator.IN, Operator.EQUALS):
            wanted = set(values) if wanted is None else wanted & set(values)
        elif operator in (Operator.NOT_IN, Operator.NOT_EQUALS):
            unwanted |= set(values)
        elif operator in bounds:
            bounds[operator].append(parse_int(values[0]))
        else:
            yield Requirement(key, operator)
    if wanted is not None:
        yield Requirement(key, Operator.IN, tuple(wanted))
    if unwanted:
        yield Requirement(key, Operator.NOT_IN, tuple(unwanted))
    for operator, tightest in ((Operator.GREATER_THAN, max), (Operator.LESS_THAN, min)):
        if bounds[operator]:
            yield Requirement(key, operator, (str(tightest(bounds[operator])),))


def key_errors(key: str) -> list[FieldError]:
    """Return the errors of a label key. In upstream's parser the field is nil, and the message says so."""
    faults = label_key_faults(key)
    return [invalid("<nil>", key, "; ".join(faults))] if faults else []


def requirement_errors(requirement: Requirement) -> list[FieldError]:
    """Return what is wrong with the values; the key was checked while parsing."""
    errors = []
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if operator in (Operator.GREATER_THAN, Operator.LESS_THAN) and _number(values[0]) is None:
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        errors.append(invalid("values[0]", values[0], detail))
    for i, value in enumerate(values):
        if faults := label_value_faults(value):
            errors.append(invalid(f"values[{i}][{key}]", value, "; ".join(faults)))
    return errors


def is_valid(requirement: Requirement) -> bool:
    """Return True if upstream takes the requirement of a LabelSelector object (labels.NewRequirement)."""
    takes_values = requirement.operator in (Operator.IN, Operator.NOT_IN, Operator.EQUALS)
    if takes_values is not bool(requirement.values):
        return False
    return not key_errors(requirement.key) and not requirement_errors(requirement)


def _number(text: str) -> int | None:
    try:
        return parse_int(text)
    except NumError:
        return None


def _compare(key: str, values: tuple[str, ...], sign: int) -> Test:
    bound = parse_int(values[0])

    def test(labels: Labels) -> bool:
        number = _number(labels.get(key, ""))
        return number is not None and (number - bound) * sign > 0

    return test


_OPERATORS = {
    "In": Operator.IN, "NotIn": Operator.NOT_IN, "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}  # fmt: skip


def requirements_of(selector: Mapping[str, Any]) -> list[Requirement]:
    """Return the requirements of a LabelSelector object; raise ValueError for an unknown operator."""
    labels = selector.get("matchLabels") or {}
    requirements = [Requirement(key, Operator.EQUALS, (value,)) for key, value in labels.items()]
    for expression in selector.get("matchExpressions") or []:
        operator = expression.get("operator", "")
        if operator not in _OPERATORS:
            raise ValueError(f'"{operator}" is not a valid label selector operator')
        values = tuple(sorted(expression.get("values") or []))
        requirements.append(Requirement(expression.get("key", ""), _OPERATORS[operator], values))
    return requirements
