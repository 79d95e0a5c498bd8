"""Work that one watch event costs a kube-apiserver: copies of the object and encodings, by version.

kube-apiserver's dispatcher wraps the object of an event (`cachingObject`), so that each encoding is made once
for all watchers. The versions differ in when it wraps the object and in what it copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ktui.kube.gates import NEWEST_MINOR, OLDEST_MINOR
from ktui.kube.versions import Behaviour, behaviour_of

# Ranges of minors (first, last) within which these rules do not change.
ERAS: tuple[tuple[int, int], ...] = ((OLDEST_MINOR, 19), (20, 23), (24, 28), (29, NEWEST_MINOR))

# (label of the releases, a version to compute with, the gate RemoveSelfLink where it is not locked).
_RULES = (
    ("1.17 – 1.19", "1.19", False),
    ("1.19 gate on", "1.19", True),
    ("1.20 – 1.23", "1.23", True),
    ("1.20 – 1.23 gate off", "1.23", False),
    ("1.24 – 1.28", "1.28", None),
    (f"1.29 – 1.{NEWEST_MINOR}", f"1.{NEWEST_MINOR}", None),
)

# kube-apiserver up to 1.23: "we try to cache serializations only if there are at least 3 watchers".
_WATCHERS_TO_WRAP = 3


@dataclass(frozen=True, slots=True)
class ChangeRecipients:
    """One change (ADDED, MODIFIED or DELETED) and the watchers that receive it.

    `concerned` watchers match the dispatch index, before their selectors are evaluated. Of those that receive
    the event, `plain` receive the object itself in `plain_forms` different encodings (media type × version),
    and `tables` a Table or PartialObjectMetadata in `table_forms`. `leaving` watchers selected the object
    before the change but not after it: they receive DELETED with the previous object.
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

    `wrapped`: the watchers share one object and its encodings. `plain` counts encodings of the object itself,
    `tables` those of a Table or PartialObjectMetadata, `leaving` those of a previous object.
    """

    wrapped: bool
    copies: int
    plain: int
    tables: int
    leaving: int
    links: int

    @property
    def encodings(self) -> int:
        return self.plain + self.tables + self.leaving


def fan_out(audience: ChangeRecipients, behaviour: Behaviour) -> EventWork:
    """Return the work of a kube-apiserver of `behaviour` for `audience`."""
    if behaviour.minor <= 23 and audience.concerned < _WATCHERS_TO_WRAP:
        return unshared(audience, links=not behaviour.enabled("RemoveSelfLink"))
    forms = audience.plain_forms if audience.plain else 0
    # Up to 1.28 each of these watchers transforms its own copy; later ones share the result.
    shared_tables = audience.table_forms if audience.tables else 0
    tables = audience.tables if behaviour.minor <= 28 else shared_tables
    # The previous object of a MODIFIED is never wrapped.
    alone = audience.leaving
    links = 0 if behaviour.enabled("RemoveSelfLink") else bool(forms) + audience.tables + alone
    # Wrapping copies the object; later only for a DELETED, whose RV is overwritten.
    wrapping = behaviour.minor <= 23 or audience.change == "DELETED"
    return EventWork(
        wrapped=True,
        copies=wrapping + forms + tables + alone,
        plain=forms,
        tables=tables,
        leaving=alone,
        links=links,
    )


def unshared(audience: ChangeRecipients, *, links: bool) -> EventWork:
    """Return the work if each watcher copies and encodes the object; `links`: selfLinks are written.

    This holds for all watchers up to 1.16 (KEP-1152 came with 1.17), and up to 1.23 for one or two.
    """
    delivered = audience.delivered
    parts = audience.plain, audience.tables, audience.leaving
    return EventWork(False, delivered, *parts, links=delivered if links else 0)


def fan_out_by_version(audience: ChangeRecipients) -> list[tuple[str, EventWork]]:
    """Return (label of the releases, work), the oldest first; with each value of the gate RemoveSelfLink
    where it is not locked.
    """
    found = [("≤ 1.16", unshared(audience, links=True))]
    for name, version, gate in _RULES:
        gates = {} if gate is None else {"RemoveSelfLink": gate}
        found.append((name, fan_out(audience, behaviour_of(version, gates))))
    return found


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


# The first patch release of each minor that sends the event's resourceVersion. Earlier ones sent the old one:
# an informer that resumed from it replayed history.
_FIXED_IN = {7: 13, 8: 8, 9: 3}
DELETED_HISTORY: tuple[DeletedEra, ...] = (
    DeletedEra(("≤ 1.6",), DeletedObject.CURRENT),
    DeletedEra(tuple(f"1.{minor}.0–{fixed - 1}" for minor, fixed in _FIXED_IN.items()), DeletedObject.OLD_RV),
    DeletedEra(
        (*(f"1.{minor}.{fixed}" for minor, fixed in _FIXED_IN.items()), "≥ 1.10"), DeletedObject.EVENT_RV
    ),
)
