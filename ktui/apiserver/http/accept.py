"""Parse and order Accept headers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Clause:
    """One media range: `application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5`."""

    type: str
    subtype: str
    quality: float = 1.0
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def mime(self) -> str:
        return f"{self.type}/{self.subtype}"


def parse_accept(header: str) -> list[Clause]:
    """Return the clauses, best first: by quality, then the more specific; equal clauses keep their order.

    The order is goautoneg's, which is undefined for clauses that differ in both: `application/yaml;q=0.1`
    after `*/*` comes before it.
    """
    clauses: list[Clause] = []
    for part in header.split(","):
        if (clause := _parse_clause(part)) is None:
            continue
        at = len(clauses)
        while at and _before(clause, clauses[at - 1]):
            at -= 1
        clauses.insert(at, clause)
    return clauses


def _before(one: Clause, other: Clause) -> bool:
    return (
        one.quality > other.quality
        or (one.type != "*" and other.type == "*")
        or (one.subtype != "*" and other.subtype == "*")
    )


def mime_types(header: str) -> list[str]:
    """Return the media ranges without parameters, in the order sent."""
    return [part.split(";")[0].strip() for part in header.split(",")]


def _parse_clause(part: str) -> Clause | None:
    head, *rest = part.split(";")
    type_, slash, subtype = head.strip().partition("/")
    type_, subtype = type_.strip(), subtype.strip()
    if not slash and type_ == "*":
        subtype = "*"
    elif not type_ or not subtype or "/" in subtype:
        return None
    quality = 1.0
    parameters: dict[str, str] = {}
    for item in rest:
        name, given, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if given and name == "q":
            quality = _quality(value)
        elif given:
            parameters[name] = value
    return Clause(type_, subtype, quality, parameters)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
