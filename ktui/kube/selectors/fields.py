"""Field selectors: `status.phase!=Running,spec.nodeName=node-05`, with backslash escapes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ktui.kube.golang.formatting import quote
from ktui.kube.resources import Resource
from ktui.kube.selectors.requirements import Test, passing
from ktui.kube.status import bad_request
from ktui.kube.text_cache import cached_by_text

META_FIELDS = ("metadata.name", "metadata.namespace")

# Clients of the first API versions still send spec.host.
_ALIASES = {("", "pods", "spec.host"): "spec.nodeName"}


def convert_field_label(resource: Resource, field: str) -> str:
    """Return the resource's own name of `field`; raise StatusError 400 if the field is not supported."""
    plain = _has_default_conversion(resource)
    if field in resource.field_selectors or (plain and field in META_FIELDS):
        return _ALIASES.get((resource.group, resource.resource, field), field)
    if plain:
        known = ", ".join(map(quote, META_FIELDS))
        raise bad_request(f"{quote(field)} is not a known field selector: only {known}")
    match (resource.group, resource.resource):
        case ("batch", "jobs"):
            raise bad_request(f"field label {quote(field)} not supported for Job")
        case ("resource.k8s.io", "resourceslices"):
            kind = f"{resource.api_version}, Kind={resource.kind}"
            raise bad_request(f"field label not supported for {kind}: {field}")
    raise bad_request(f"field label not supported: {field}")


def _has_default_conversion(resource: Resource) -> bool:
    """Whether a kind has no own field labels; then metadata.namespace is valid in any scope."""
    return not resource.custom and all(field in META_FIELDS for field in resource.field_selectors)


_ESCAPABLE = frozenset("\\,=")


class FieldTerm(NamedTuple):
    """`field = value`, or `!=` when `negated`. A field that an object lacks has the value ""."""

    field: str
    value: str
    negated: bool = False

    def test(self) -> Test:
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

    matches: Test
    terms: tuple[FieldTerm, ...]

    def __init__(self, terms: Iterable[FieldTerm] = ()) -> None:
        self.terms = tuple(terms)
        self.matches = passing(_tests(self.terms))

    @staticmethod
    def parse(text: str, resource: Resource | None = None) -> FieldSelector:
        """Parse a selector, with a resource check its fields; raise StatusError 400 with upstream's text."""
        selector = _parse(text)
        return selector if resource is None else selector.for_resource(resource)

    def for_resource(self, resource: Resource) -> FieldSelector:
        """Return the selector with the resource's own field names (pods: `spec.host` is spec.nodeName).

        Raises StatusError 400 when the resource does not know a field.
        """
        names = [convert_field_label(resource, term.field) for term in self.terms]
        if names == [term.field for term in self.terms]:
            return self
        return FieldSelector(t._replace(field=name) for t, name in zip(self.terms, names, strict=True))

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
    terms = sorted(_PART.findall(text), key=lambda term: term.encode("utf-8", "surrogatepass"))
    read = [_term(text, part) for part in terms]
    return FieldSelector(term for term in read if term.field or term.value)  # "=" selects everything


_PART = re.compile(r"(?:[^\\,]|\\.|\\\Z)++", re.DOTALL)  # up to a comma that is not escaped with a backslash
_OPERATOR = re.compile("!=|==|=")
_ESCAPED = re.compile(r"\\(.?)|[,=]", re.DOTALL)


def _term(selector: str, part: str) -> FieldTerm:
    operator = _OPERATOR.search(part)
    if operator is None:
        raise bad_request(f"invalid selector: '{selector}'; can't understand '{part}'")
    value = _ESCAPED.sub(_unescaped, part[operator.end() :])
    return FieldTerm(part[: operator.start()], value, negated=operator[0] == "!=")


def _unescaped(found: re.Match[str]) -> str:
    char: str | None = found[1]
    if char is None:  # upstream prints the character's code point
        raise bad_request(f"invalid field selector: unescaped character in value: {ord(found[0])}")
    if char not in _ESCAPABLE:
        raise bad_request(f"invalid field selector: invalid escape sequence: \\{char}")
    return char


def _tests(terms: tuple[FieldTerm, ...]) -> list[Test]:
    """Return the tests of the terms; of many terms over one field, two together say the same."""
    if len(terms) <= _FEW:
        return [term.test() for term in terms]
    wanted: dict[str, set[str]] = {}
    unwanted: dict[str, set[str]] = {}
    for field, value, negated in terms:
        (unwanted if negated else wanted).setdefault(field, set()).add(value)
    if any(len(values) > 1 for values in wanted.values()):
        return [lambda fields: False]
    tests = [FieldTerm(field, value).test() for field, (value,) in wanted.items()]

    def none_of(field: str, values: frozenset[str]) -> Test:
        return lambda fields: fields.get(field, "") not in values

    return tests + [none_of(field, frozenset(values)) for field, values in unwanted.items()]


_FEW = 8
