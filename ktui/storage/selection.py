"""The selection of a LIST or WATCH."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.kube.selectors import FieldSelector, LabelSelector


@dataclass(frozen=True, slots=True)
class SelectionPredicate:
    """Selectors and the request's own scope. `namespace` and `name` None: any."""

    labels: LabelSelector = field(default_factory=LabelSelector)
    fields: FieldSelector = field(default_factory=FieldSelector)
    namespace: str | None = None
    name: str | None = None

    @property
    def selective(self) -> bool:
        """True if there are selectors; otherwise no object has to be scanned."""
        return not (self.labels.empty and self.fields.empty)


EVERYTHING = SelectionPredicate()
