"""A tally once all logs are read: a request that several logs contain counts once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.journal import NO_GROUP, STARTED
from ktui.audit.repeats import repeats
from ktui.audit.tally import Tally


@dataclass(frozen=True, slots=True)
class Settled:
    """`duplicates` are records that repeat another one, `doubles` httplog lines of audit Events.

    `folded` are requests of groups that were too small to be kept, by verb.
    """

    groups: list[AuditGroup]
    folded: Counter[str]
    unrouted: int
    duplicates: int
    doubles: int


def settle(tally: Tally) -> Settled:
    """Take out what is counted twice; the tally stays as it is, more can be fed to it."""
    settling = _Settling(tally)
    found = repeats(tally.journal)
    for row in found.duplicates:
        settling.remove(row)
    for line, event in found.doubles:
        settling.move(line, event)
    groups = [settling.changed.get(id(group), group) for group in tally.groups]
    return Settled(
        groups=[group for group in groups if group.count],
        folded=settling.folded,
        unrouted=settling.unrouted,
        duplicates=len(found.duplicates),
        doubles=len(found.doubles),
    )


class _Settling:
    def __init__(self, tally: Tally) -> None:
        self._tally, self._journal = tally, tally.journal
        self._slow = tally.journal.slow_rows()
        self._learned = tally.journal.learned_rows()
        self.changed: dict[int, AuditGroup] = {}
        self.folded = tally.folded.requests.copy()
        self.unrouted = tally.unrouted

    def remove(self, row: int) -> None:
        """A record that is counted elsewhere."""
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
        group.unlearn(*self._learned.get(row, (-1, -1)))

    def move(self, line: int, event: int) -> None:
        """The Event counts; seats and initial latency are from its httplog line."""
        self.remove(line)
        number = self._journal.group[event]
        group = self._tally.numbered[number] if number != NO_GROUP else ""
        if not isinstance(group, str):
            self._own(group).learn(*self._learned.get(line, (-1, -1)))

    def _own(self, group: AuditGroup) -> AuditGroup:
        """A copy that may be changed."""
        if id(group) not in self.changed:
            self.changed[id(group)] = group.copy()
        return self.changed[id(group)]
