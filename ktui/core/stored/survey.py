"""Totals of a survey: bytes and managedFields by resource, the largest objects."""

from __future__ import annotations

from msgspec import Struct, field

from ktui.contract.etcd import LargeKey, SurveyPage

LARGEST = 200  # keys kept


class Weight(Struct):
    """What the survey read of one resource."""

    resource: str
    keys: int = 0
    bytes: int = 0
    managed_bytes: int = 0
    skipped: int = 0  # Secrets that were not read

    @property
    def managed_share(self) -> float:
        return self.managed_bytes / self.bytes if self.bytes else 0.0

    @property
    def average(self) -> float:
        return self.bytes / self.keys if self.keys else 0.0


class LargeObject(Struct, frozen=True):
    """One of the largest keys, and the resource whose prefix it is under."""

    resource: str
    key: str
    bytes: int


class Survey(Struct):
    """The totals of all pages read so far."""

    weights: dict[str, Weight] = field(default_factory=dict)
    largest: list[LargeObject] = field(default_factory=list)
    keys: int = 0
    bytes: int = 0

    def add(self, resource: str, page: SurveyPage) -> None:
        """Add a page of one resource."""
        weight = self.weights.setdefault(resource, Weight(resource))
        weight.keys += page.keys
        weight.bytes += page.bytes
        weight.managed_bytes += page.managed_bytes
        weight.skipped += page.skipped
        self.keys += page.keys
        self.bytes += page.bytes
        found = [*self.largest, *(_object(resource, item) for item in page.largest)]
        self.largest = sorted(found, key=lambda item: (-item.bytes, item.key))[:LARGEST]

    def heaviest(self) -> list[Weight]:
        """Return the resources, those with most bytes of managedFields first."""
        return sorted(self.weights.values(), key=lambda item: (-item.managed_bytes, item.resource))


def _object(resource: str, item: LargeKey) -> LargeObject:
    return LargeObject(resource, item.key, item.bytes)
