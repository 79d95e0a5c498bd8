"""What one watch event costs a kube-apiserver: copies of the object and encodings, by version.

kube-apiserver's dispatcher wraps the object of an event (`cachingObject`), so that each
encoding is made once for all watchers; when it wraps, and what it copies, has
changed between versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ktui.kube.gates import NEWEST_MINOR, OLDEST_MINOR
from ktui.kube.versions import Behaviour

# Minors between which nothing of this changes.
ERAS: tuple[tuple[int, int], ...] = ((OLDEST_MINOR, 19), (20, 23), (24, 28), (29, NEWEST_MINOR))

# kube-apiserver up to 1.23: "we try to cache serializations only if there are at least 3 watchers".
_WATCHERS_TO_WRAP = 3


@dataclass(frozen=True, slots=True)
class ChangeRecipients:
    """One change (ADDED, MODIFIED or DELETED) and the watchers that get it.

    `concerned` watchers match the dispatch index, before their
    selectors are evaluated. Of those that get the event, `plain` take the object itself in
    `plain_forms` different encodings (media type × version), `tables` take a Table or
    PartialObjectMetadata in `table_forms`, and `leaving` had the object in their selector before the
    change: they get DELETED with the previous object.
    """

    change: str
    concerned: int
    plain: int = 0
    tables: int = 0
    leaving: int = 0
    plain_forms: int = 1
    table_forms: int = 1

    @property
    def delivered(self) -> int:
        return self.plain + self.tables + self.leaving


@dataclass(frozen=True, slots=True)
class EventWork:
    """Work for one event: deep copies, encodings, and selfLinks written into objects.

    `wrapped`: the watchers share one object and its encodings.
    """

    wrapped: bool
    copies: int
    encodings: int
    links: int


def fan_out(audience: ChangeRecipients, behaviour: Behaviour) -> EventWork:
    """The work that a kube-apiserver of `behaviour` does for `audience`."""
    if behaviour.minor <= 23 and audience.concerned < _WATCHERS_TO_WRAP:
        return _each_for_itself(audience, behaviour)
    forms = audience.plain_forms if audience.plain else 0
    # Up to 1.28 each such watcher transforms its own copy; later they share the result.
    shared_tables = audience.table_forms if audience.tables else 0
    tables = audience.tables if behaviour.minor <= 28 else shared_tables
    # The previous object of a MODIFIED is never wrapped.
    alone = audience.leaving
    links = 0 if behaviour.remove_self_link else bool(forms) + audience.tables + alone
    return EventWork(
        wrapped=True,
        copies=_wrapping(audience, behaviour) + forms + tables + alone,
        encodings=forms + tables + alone,
        links=links,
    )


def _each_for_itself(audience: ChangeRecipients, behaviour: Behaviour) -> EventWork:
    """Up to 1.23 one or two watchers share nothing: each copies and encodes by itself."""
    delivered = audience.delivered
    return EventWork(False, delivered, delivered, 0 if behaviour.remove_self_link else delivered)


def _wrapping(audience: ChangeRecipients, behaviour: Behaviour) -> int:
    """Copies made to wrap the object: up to 1.23 always; later to overwrite a DELETED one's RV."""
    return int(behaviour.minor <= 23 or audience.change == "DELETED")


class DeletedObject(StrEnum):
    """Which object a DELETED event carried, and with which resourceVersion."""

    CURRENT = "the current object"
    OLD_RV = "the previous object with its old RV"
    EVENT_RV = "the previous object with the RV of the event"


@dataclass(frozen=True, slots=True)
class DeletedEra:
    """Releases with the same rule for the object of a DELETED event."""

    releases: tuple[str, ...]
    carries: DeletedObject


# The first patch release of each minor that sends the resourceVersion of the event.
# With the old resourceVersion, an informer that resumed from it replayed history.
_FIXED_IN = {7: 13, 8: 8, 9: 3}
DELETED_HISTORY: tuple[DeletedEra, ...] = (
    DeletedEra(("≤ 1.6",), DeletedObject.CURRENT),
    DeletedEra(tuple(f"1.{minor}.0–{fixed - 1}" for minor, fixed in _FIXED_IN.items()), DeletedObject.OLD_RV),
    DeletedEra(
        (*(f"1.{minor}.{fixed}" for minor, fixed in _FIXED_IN.items()), "≥ 1.10"), DeletedObject.EVENT_RV
    ),
)
