"""etcd's history: every change that an independent watch of etcd has received."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from operator import attrgetter

from tools.faults.objects import Mark, Selection


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one key at one revision; `mark` None: it was deleted."""

    revision: int
    key: str
    mark: Mark | None
    value: bytes = b""


@dataclass(frozen=True, slots=True)
class Event:
    """The event that a WATCH has to send for a change. `mark` is that of the object in the event, as text."""

    type: str
    key: str
    revision: int
    mark: str


class History:
    """Changes in the order of their revisions."""

    def __init__(self) -> None:
        self.revision = 0
        self.changes: list[Change] = []
        self._of_key: dict[str, list[Change]] = defaultdict(list)

    def add(self, change: Change) -> None:
        self.changes.append(change)
        self._of_key[change.key].append(change)
        self.revision = change.revision

    def of(self, key: str) -> list[Change]:
        return self._of_key.get(key, [])

    def at(self, key: str, revision: int) -> Change | None:
        """Return the last change of `key` up to `revision`; None if there is none."""
        changes = self.of(key)
        found = bisect_right(changes, revision, key=attrgetter("revision"))
        return changes[found - 1] if found else None

    def state(self, selection: Selection, revision: int) -> dict[str, tuple[int, str]]:
        """Return revision and mark by key of all selected objects at `revision`."""
        found = {}
        for key in self._of_key:
            change = self.at(key, revision)
            if change is not None and selection.matches(key, change.mark):
                found[key] = (change.revision, str(change.mark))
        return found

    def events(self, selection: Selection, after: int) -> list[Event]:
        """Return the events that a WATCH of the selection has to send after revision `after`."""
        start = bisect_right(self.changes, after, key=attrgetter("revision"))
        events = []
        for change in self.changes[start:]:
            before = self.at(change.key, change.revision - 1)
            old = before.mark if before is not None else None
            had, has = selection.matches(change.key, old), selection.matches(change.key, change.mark)
            if has:
                kind = "MODIFIED" if had else "ADDED"
                events.append(Event(kind, change.key, change.revision, str(change.mark)))
            elif had:
                events.append(Event("DELETED", change.key, change.revision, str(old)))
        return events
