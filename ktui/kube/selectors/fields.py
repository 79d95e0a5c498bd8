"""Field selectors: `status.phase!=Running,spec.nodeName=node-05`, with backslash escapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ktui.kube.resources import Resource
from ktui.kube.selectors.fieldlabels import convert_field_label
from ktui.kube.status import bad_request
from ktui.kube.text_cache import cached_by_text

Fields = Mapping[str, str]
FieldTest = Callable[[Fields], bool]

_ESCAPABLE = frozenset("\\,=")


class FieldTerm(NamedTuple):
    """`field = value`, or `!=` when `negated`. A field that an object lacks has the value ""."""

    field: str
    value: str
    negated: bool = False

    def test(self) -> FieldTest:
        """Return a function that tests whether fields match this term."""
        field, value, negated = self
        if negated:
            return lambda fields: fields.get(field, "") != value
        return lambda fields: fields.get(field, "") == value

    def __str__(self) -> str:
        escaped = "".join("\\" + c if c in _ESCAPABLE else c for c in self.value)
        return f"{self.field}{'!=' if self.negated else '='}{escaped}"


class FieldSelector:
    """A field selector: all terms must hold. `matches` is a plain function: bind it before a long loop."""

    __slots__ = ("matches", "terms")

    matches: FieldTest
    terms: tuple[FieldTerm, ...]

    def __init__(self, terms: Iterable[FieldTerm] = ()) -> None:
        self.terms = tuple(terms)
        self.matches = _all_of([term.test() for term in self.terms])

    @staticmethod
    def parse(text: str, resource: Resource | None = None) -> FieldSelector:
        """Parse a selector, with a resource check its fields; raise StatusError 400 with upstream's text."""
        selector = _parse(text)
        return selector if resource is None else selector.for_resource(resource)

    def for_resource(self, resource: Resource) -> FieldSelector:
        """Return the selector with the resource's own field names (pods: `spec.host` is spec.nodeName).

        Raises StatusError 400 when the resource does not know a field.
        """
        return FieldSelector(t._replace(field=convert_field_label(resource, t.field)) for t in self.terms)

    @property
    def empty(self) -> bool:
        """True if every object matches."""
        return not self.terms

    def requires(self, field: str) -> str | None:
        """The value that `field` must have; None if other values match too."""
        return next((t.value for t in self.terms if t.field == field and not t.negated), None)

    def without(self, *fields: str) -> FieldSelector:
        """Return a selector with only the terms over other fields."""
        return FieldSelector(t for t in self.terms if t.field not in fields)

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))

    def __repr__(self) -> str:
        return f"FieldSelector({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSelector) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)


@cached_by_text(maxsize=512)
def _parse(text: str) -> FieldSelector:
    # Sorted by text as upstream does: of two terms over one field the first decides `requires`.
    terms = sorted(_split(text), key=lambda term: term.encode("utf-8", "surrogatepass"))
    read = [_term(text, part) for part in terms if part]
    return FieldSelector(term for term in read if term.field or term.value)  # "=" selects everything


def _split(text: str) -> list[str]:
    """Split at commas that are not escaped with a backslash."""
    parts, start, escaped = [], 0, False
    for i, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == ",":
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _term(selector: str, part: str) -> FieldTerm:
    for i in range(len(part)):
        for operator in ("!=", "==", "="):
            if part.startswith(operator, i):
                value = _unescape(part[i + len(operator) :])
                return FieldTerm(part[:i], value, negated=operator == "!=")
    raise bad_request(f"invalid selector: '{selector}'; can't understand '{part}'")


def _unescape(text: str) -> str:
    value, escaped = [], False
    for char in text:
        if escaped:
            if char not in _ESCAPABLE:
                raise bad_request(f"invalid field selector: invalid escape sequence: \\{char}")
            escaped = False
            value.append(char)
        elif char == "\\":
            escaped = True
        elif char in ",=":
            # Upstream prints the character's code point.
            raise bad_request(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            value.append(char)
    if escaped:
        raise bad_request("invalid field selector: invalid escape sequence: \\")
    return "".join(value)


def _all_of(tests: list[FieldTest]) -> FieldTest:
    if not tests:
        return lambda fields: True
    if len(tests) == 1:
        return tests[0]

    def every(fields: Fields) -> bool:
        for test in tests:  # noqa: SIM110 - a generator costs more than the tests
            if not test(fields):
                return False
        return True

    return every
