"""Label selectors, parsed once into a function over an object's labels."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.kube.selectors.parser import SelectorError, parse_requirements
from ktui.kube.selectors.requirements import Requirement, Test, all_of
from ktui.kube.status import bad_request
from ktui.kube.text_cache import cached_by_text


class LabelSelector:
    """A label selector: all requirements must hold. `matches` is a plain function: bind it before a loop."""

    __slots__ = ("matches", "requirements")

    matches: Test
    requirements: tuple[Requirement, ...]

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        self.requirements = tuple(requirements)
        self.matches = all_of(self.requirements)

    @staticmethod
    def parse(text: str) -> LabelSelector:
        """Parse `app in (web,cart),!canary`. Raises StatusError 400 with upstream's text."""
        try:
            return _parse(text)
        except SelectorError as error:
            raise bad_request(str(error)) from None

    @property
    def empty(self) -> bool:
        """True if every object matches."""
        return not self.requirements

    def __str__(self) -> str:
        return ",".join(map(str, sorted(self.requirements, key=lambda r: r.key)))

    def __repr__(self) -> str:
        return f"LabelSelector({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSelector) and self.requirements == other.requirements

    def __hash__(self) -> int:
        return hash(self.requirements)


@cached_by_text(maxsize=512)
def _parse(text: str) -> LabelSelector:
    return LabelSelector(parse_requirements(text))
