"""Deduplicate a tally once all logs are read: a request in several logs counts once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ktui.audit.group import AuditGroup
from ktui.audit.journal import EVENT, LINE, NO_GROUP, STARTED, TRACE, TRACE_LINE, Journal
from ktui.audit.observed import source_of
from ktui.audit.tally import Tally

_HOSTS = {LINE: (EVENT, TRACE), TRACE: (EVENT, STARTED), TRACE_LINE: (EVENT, TRACE, STARTED, LINE)}
"""By kind of record: the records of the same request that count instead of it, the best first."""


@dataclass(slots=True)
class Repeats:
    """`duplicates`: rows that repeat an earlier one.

    `doubles`: (row of httplog or of a trace, row of the same request that counts, mostly its audit Event).
    """

    duplicates: list[int] = field(default_factory=list)
    doubles: list[tuple[int, int]] = field(default_factory=list)


def repeats(journal: Journal) -> Repeats:
    """Find rows of a journal that are the same request: repeated records, httplog lines of audit Events.

    The result does not depend on the order in which logs were read.
    """
    found = Repeats()
    used: set[int] = set()
    for rows in journal.repeated_ids():
        _with_an_id(journal, rows, found, used)
    plain = [row for row, kind in enumerate(journal.kind) if kind == LINE and not journal.id[row]]
    if plain:  # httplog of 1.19 to 1.21
        _without_ids(journal, _once(journal, plain, found), found, used)
    return found


def _once(journal: Journal, rows: Iterable[int], found: Repeats) -> list[int]:
    """Return one row of each request, and add the others to the duplicates."""
    seen: dict[tuple[int, ...], int] = {}
    for row in rows:
        if seen.setdefault(journal.identity(row), row) != row:
            found.duplicates.append(row)
    return list(seen.values())


def _with_an_id(journal: Journal, rows: Sequence[int], found: Repeats, used: set[int]) -> None:
    rows = _once(journal, rows, found)
    by_kind: dict[int, list[int]] = {}
    for row in rows:
        by_kind.setdefault(journal.kind[row], []).append(row)
    for kind, hosts in _HOSTS.items():
        left = [row for host in hosts for row in by_kind.get(host, ())]
        for line in by_kind.get(kind, ()):
            host = next((row for row in left if _alike(journal, line, row)), None)
            if host is not None:
                left.remove(host)
                used.add(host)
                found.doubles.append((line, host))


def _alike(journal: Journal, line: int, host: int) -> bool:
    """True if two records with one audit-ID are of one request: clients may choose the ID."""
    return journal.content[line] == journal.content[host] or TRACE_LINE in (
        journal.kind[line], journal.kind[host],
    )  # fmt: skip


def _without_ids(journal: Journal, lines: Sequence[int], found: Repeats, used: set[int]) -> None:
    """Pair lines with Events of the same URI, user agent and status, and about the same end."""
    content, code, at = journal.content, journal.code, journal.at
    wanted = {(content[row], code[row]) for row in lines}
    used |= set(found.duplicates)
    events: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row, kind in enumerate(journal.kind):
        if kind == EVENT and row not in used and (key := (content[row], code[row])) in wanted:
            events.setdefault(key, []).append((at[row], row))
    for candidates in events.values():
        candidates.sort()
    for line in sorted(lines, key=lambda row: (at[row], row)):
        candidates = events.get((content[line], code[line]), [])
        event = _nearest(journal, line, candidates)
        if event is not None:
            candidates.remove((at[event], event))
            found.doubles.append((line, event))


_NEAR = 50_000  # microseconds between the two lines of one request
_AWAY = 1_000  # microseconds by which the two latencies may differ …
_PART = 20  # … or this fraction of the latency, if that is more


def _nearest(journal: Journal, line: int, candidates: Sequence[tuple[int, int]]) -> int | None:
    """Return the row of the nearest Event with about the line's latency; None without one."""
    at, took = journal.at[line], journal.took[line]
    best: tuple[int, int] | None = None
    for place in range(bisect_left(candidates, (at - _NEAR, 0)), len(candidates)):
        moment, row = candidates[place]
        if moment > at + _NEAR:
            break
        if abs(journal.took[row] - took) <= max(_AWAY, took // _PART):
            best = min(best or (_NEAR + 1, row), (abs(moment - at), row))
    return None if best is None else best[1]


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
