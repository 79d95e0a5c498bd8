"""Deduplicate a tally once all logs are read: a request in several logs counts once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.journal import NO_GROUP, STARTED, TRACE
from ktui.audit.observed import source_of
from ktui.audit.repeats import repeats
from ktui.audit.tally import Tally


@dataclass(frozen=True, slots=True)
class DeduplicatedTally:
    """The counts without repetitions.

    `duplicates` is the number of records that repeat another one, `doubles` of httplog lines of audit Events.

    `weighted` is the number of sampled traces that count as `weight` requests each.

    `folded` is the number of requests in groups that were too small to be kept, by verb.
    """

    groups: list[AuditGroup]
    folded: Counter[str]
    unrouted: int
    duplicates: int
    doubles: int
    weighted: int = 0
    weight: int = 1


def deduplicate(tally: Tally) -> DeduplicatedTally:
    """Return the counts without repetitions. The tally is not changed, and can be fed further."""
    work = _Deduplication(tally)
    found = repeats(tally.journal)
    for row in found.duplicates:
        work.remove(row)
    for line, event in found.doubles:
        work.move(line, event)
    weight = round(1_000_000 / tally.options.sampling)
    weighted = 0
    if weight > 1:
        weighted = work.weigh({*found.duplicates, *(line for line, _ in found.doubles)}, weight)
    groups = [work.changed.get(id(group), group) for group in tally.groups]
    return DeduplicatedTally(
        groups=[group for group in groups if group.count],
        folded=work.folded,
        unrouted=work.unrouted,
        duplicates=len(found.duplicates),
        doubles=len(found.doubles),
        weighted=weighted,
        weight=weight,
    )


class _Deduplication:
    def __init__(self, tally: Tally) -> None:
        self._tally, self._journal = tally, tally.journal
        self._slow = tally.journal.slow_rows()
        self._learned = tally.journal.learned_rows()
        self._traced = tally.journal.traced_rows()
        # Rows whose request has a trace already: spans say more than klog's lines.
        self._told = {row for row in self._traced if self._journal.kind[row] == TRACE}
        self.changed: dict[int, AuditGroup] = {}
        self.folded = tally.folded.requests.copy()
        self.unrouted = tally.unrouted

    def remove(self, row: int) -> None:
        """Remove a record that is counted elsewhere."""
        journal = self._journal
        traced = self._traced.get(row)
        # A trace without its duration is that of a WATCH that is open.
        started = journal.kind[row] == STARTED or (traced is not None and journal.took[row] < 0)
        number = journal.group[row]
        if number == NO_GROUP:
            self.unrouted -= not started
            return
        group = self._tally.numbered[number]
        if isinstance(group, str):
            self.folded[group] -= 1
            return
        group = self._own(group)
        if traced is not None and group.traced is not None:
            group.traced.add(traced, -1)
        if started:
            group.started -= 1
            group.remove_seats(*self._learned.get(row, (-1, -1)))
            return
        group.remove(journal.took[row], journal.code[row], self._slow.get(row))
        group.remove_seats(*self._learned.get(row, (-1, -1)))

    def move(self, line: int, event: int) -> None:
        """Count only the Event, with what the other record adds: httplog its seats, a trace its route."""
        self.remove(line)
        number = self._journal.group[event]
        group = self._tally.numbered[number] if number != NO_GROUP else ""
        if isinstance(group, str):
            return
        group = self._own(group)
        group.add_seats(*self._learned.get(line, (-1, -1)))
        if (traced := self._traced.get(line)) is not None and event not in self._told:
            self._told.add(event)
            group.add_traced(traced)
            if (spent := self._slow.pop(event, None)) is not None and group.slow is not None:
                code = self._journal.code[event]
                group.slow.add(
                    spent, source_of(spent, group.key.shape, code), -1
                )  # a trace says more than the Event's annotations

    def weigh(self, counted_elsewhere: set[int], times: int) -> int:
        """Count each trace as the requests that it stands for; return how many traces there are."""
        found = 0
        journal = self._journal
        for row in self._traced:
            if row in counted_elsewhere or journal.kind[row] != TRACE:
                continue
            found += 1
            number = journal.group[row]
            if number == NO_GROUP:
                self.unrouted += times - 1
            elif isinstance(group := self._tally.numbered[number], str):
                self.folded[group] += times - 1
            elif journal.took[row] >= 0:
                self._own(group).weigh(journal.took[row], journal.code[row], times - 1)
        return found

    def _own(self, group: AuditGroup) -> AuditGroup:
        """Return a copy of the group that may be changed."""
        if id(group) not in self.changed:
            self.changed[id(group)] = group.copy()
        return self.changed[id(group)]
