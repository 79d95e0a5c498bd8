"""Deduplicate a tally once all logs are read: a request in several logs counts once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.journal import NO_GROUP, STARTED
from ktui.audit.repeats import repeats
from ktui.audit.tally import Tally


@dataclass(frozen=True, slots=True)
class DeduplicatedTally:
    """The counts without repetitions.

    `duplicates` is the number of records that repeat another one, `doubles` of httplog lines of audit Events.

    `folded` is the number of requests in groups that were too small to be kept, by verb.
    """

    groups: list[AuditGroup]
    folded: Counter[str]
    unrouted: int
    duplicates: int
    doubles: int


def deduplicate(tally: Tally) -> DeduplicatedTally:
    """Return the counts without repetitions. The tally is not changed, and can be fed further."""
    work = _Deduplication(tally)
    found = repeats(tally.journal)
    for row in found.duplicates:
        work.remove(row)
    for line, event in found.doubles:
        work.move(line, event)
    groups = [work.changed.get(id(group), group) for group in tally.groups]
    return DeduplicatedTally(
        groups=[group for group in groups if group.count],
        folded=work.folded,
        unrouted=work.unrouted,
        duplicates=len(found.duplicates),
        doubles=len(found.doubles),
    )


class _Deduplication:
    def __init__(self, tally: Tally) -> None:
        self._tally, self._journal = tally, tally.journal
        self._slow = tally.journal.slow_rows()
        self._learned = tally.journal.learned_rows()
        self.changed: dict[int, AuditGroup] = {}
        self.folded = tally.folded.requests.copy()
        self.unrouted = tally.unrouted

    def remove(self, row: int) -> None:
        """Remove a record that is counted elsewhere."""
        journal = self._journal
        started = journal.kind[row] == STARTED
        number = journal.group[row]
        if number == NO_GROUP:
            self.unrouted -= not started
            return
        group = self._tally.numbered[number]
        if isinstance(group, str):
            self.folded[group] -= 1
            return
        group = self._own(group)
        if started:
            group.started -= 1
            return
        group.remove(journal.took[row], journal.code[row], self._slow.get(row))
        group.remove_seats(*self._learned.get(row, (-1, -1)))

    def move(self, line: int, event: int) -> None:
        """Count only the Event, with seats and initial latency of its httplog line."""
        self.remove(line)
        number = self._journal.group[event]
        group = self._tally.numbered[number] if number != NO_GROUP else ""
        if not isinstance(group, str):
            self._own(group).add_seats(*self._learned.get(line, (-1, -1)))

    def _own(self, group: AuditGroup) -> AuditGroup:
        """Return a copy of the group that may be changed."""
        if id(group) not in self.changed:
            self.changed[id(group)] = group.copy()
        return self.changed[id(group)]
