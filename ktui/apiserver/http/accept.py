"""Accept headers, taken apart and ordered."""

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
    """Clauses, best first: by quality, then the more specific; equal ones keep their order (goautoneg)."""
    clauses = [clause for part in header.split(",") if (clause := _parse_clause(part)) is not None]
    return sorted(clauses, key=lambda c: (-c.quality, c.type == "*", c.subtype == "*"))


def mime_types(header: str) -> list[str]:
    """Only the media ranges, without parameters, in the order sent."""
    return [part.split(";")[0].strip() for part in header.split(",")]


def _parse_clause(part: str) -> Clause | None:
    head, *rest = part.split(";")
    type_, slash, subtype = head.strip().partition("/")
    if not slash and type_ == "*":
        subtype = "*"
    elif not slash or not type_ or not subtype:
        return None
    quality = 1.0
    parameters: dict[str, str] = {}
    for item in rest:
        name, _, value = item.partition("=")
        name, value = name.strip(), value.strip().strip('"')
        if name == "q":
            quality = _quality(value)
        elif name:
            parameters[name] = value
    return Clause(type_, subtype, quality, parameters)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
