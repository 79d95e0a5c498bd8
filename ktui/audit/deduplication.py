"""Deduplicate a tally once all logs are read: a request in several logs counts once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from ktui.audit.formats.log_record import Spent
from ktui.audit.group import AuditGroup
from ktui.audit.journal import EVENT, LINE, NO_GROUP, STARTED, TRACE, TRACE_LINE, Journal
from ktui.audit.observed import source_of
from ktui.audit.tally import Tally

_HOSTS = {LINE: (EVENT, TRACE), TRACE: (EVENT, STARTED), TRACE_LINE: (EVENT, TRACE, STARTED, LINE)}
"""By kind of record: the records of the same request that count instead of it, the best first."""


class Repeats:
    """The rows of a journal that are the same request, whatever the order in which logs were read.

    `duplicates`: rows that repeat an earlier one. `doubles`: (row of httplog or of a trace, row of the same
    request that counts, mostly its audit Event).
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.duplicates: list[int] = []
        self.doubles: list[tuple[int, int]] = []
        for rows in journal.repeated_ids():
            self._pair_by_id(self._once(rows))
        plain = [row for row, kind in enumerate(journal.kind) if kind == LINE and not journal.id[row]]
        if plain:  # httplog of 1.19 to 1.21
            self._pair_by_content(self._once(plain))

    def _once(self, rows: Iterable[int]) -> list[int]:
        """Return one row of each request, and add the others to the duplicates."""
        seen: dict[tuple[int, ...], int] = {}
        for row in rows:
            if seen.setdefault(self._journal.identity(row), row) != row:
                self.duplicates.append(row)
        return list(seen.values())

    def _pair_by_id(self, rows: Iterable[int]) -> None:
        content, kinds = self._journal.content, self._journal.kind
        by_kind: dict[int, list[int]] = {}
        for row in rows:
            by_kind.setdefault(kinds[row], []).append(row)
        for kind, hosts in _HOSTS.items():
            left = [row for host in hosts for row in by_kind.get(host, ())]
            for line in by_kind.get(kind, ()):
                for host in left:
                    # Clients may choose the ID of a request, so its content is compared, too.
                    if content[line] == content[host] or TRACE_LINE in (kinds[line], kinds[host]):
                        left.remove(host)
                        self.doubles.append((line, host))
                        break

    def _pair_by_content(self, lines: Sequence[int]) -> None:
        """Pair lines with Events of the same URI, user agent and status, and about the same end."""
        content, code, at = self._journal.content, self._journal.code, self._journal.at
        wanted = {(content[row], code[row]) for row in lines}
        used = {*self.duplicates, *(host for _, host in self.doubles)}
        events: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for row, kind in enumerate(self._journal.kind):
            if kind == EVENT and row not in used and (key := (content[row], code[row])) in wanted:
                events.setdefault(key, []).append((at[row], row))
        for candidates in events.values():
            candidates.sort()
        for line in sorted(lines, key=lambda row: (at[row], row)):
            candidates = events.get((content[line], code[line]), [])
            if (nearest := _nearest(self._journal, line, candidates)) is not None:
                candidates.remove(nearest)
                self.doubles.append((line, nearest[1]))


_NEAR = 50_000  # microseconds between the two lines of one request
_AWAY = 1_000  # microseconds by which the two latencies may differ …
_PART = 20  # … or this fraction of the latency, if that is more


def _nearest(
    journal: Journal, line: int, candidates: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:  # fmt: skip
    """Return the nearest Event (time, row) with about the line's latency; None without one."""
    at, took = journal.at[line], journal.took[line]
    first, last = bisect_left(candidates, (at - _NEAR, 0)), bisect_left(candidates, (at + _NEAR + 1, 0))
    away = max(_AWAY, took // _PART)
    alike = [each for each in candidates[first:last] if abs(journal.took[each[1]] - took) <= away]
    return min(alike, key=lambda each: (abs(each[0] - at), each[1]), default=None)


class DeduplicatedTally:
    """The counts of a tally without repetitions. The tally is not changed, and can be fed further.

    `duplicates` is the number of records that repeat another one, `doubles` of httplog lines of audit Events.
    `weighted` is the number of sampled traces that count as `weight` requests each.
    `folded` is the number of requests in groups that were too small to be kept, by verb.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally, self._journal = tally, tally.journal
        self._slow = {row: Spent(*numbers) for row, numbers in tally.journal.by_row("slow").items()}
        self._learned = tally.journal.by_row("learned")
        self._traced = tally.journal.by_row("traced")
        # Rows whose request has a trace already: spans say more than klog's lines.
        self._told = {row for row in self._traced if self._journal.kind[row] == TRACE}
        self._changed: dict[int, AuditGroup] = {}
        self.folded = tally.folded.requests.copy()
        self.unrouted = tally.unrouted
        found = Repeats(tally.journal)
        self.duplicates, self.doubles = len(found.duplicates), len(found.doubles)
        for row in found.duplicates:
            self._remove(row)
        for line, event in found.doubles:
            self._move(line, event)
        self.weight = round(1_000_000 / tally.options.sampling)
        elsewhere = {*found.duplicates, *(line for line, _ in found.doubles)}
        self.weighted = self._weigh(elsewhere, self.weight) if self.weight > 1 else 0
        changed = [self._changed.get(id(group), group) for group in tally.groups]
        self.groups = [group for group in changed if group.count]

    def _remove(self, row: int) -> None:
        """Remove a record that is counted elsewhere."""
        journal = self._journal
        traced = self._traced.get(row)
        # A trace without its duration is that of a WATCH that is open.
        started = journal.kind[row] == STARTED or (traced is not None and journal.took[row] < 0)
        group = self._group(row)
        if group is None:
            self.unrouted -= not started
            return
        if isinstance(group, str):
            self.folded[group] -= 1
            return
        if traced is not None:
            group.add_traced(traced, -1)
        seats, init = self._learned.get(row, (-1, -1))
        group.add_seats(seats, init, -1)
        if started:
            group.started -= 1
            return
        group.add_done(journal.took[row], journal.code[row], self._slow.get(row), -1)

    def _move(self, line: int, event: int) -> None:
        """Count only the Event, with what the other record adds: httplog its seats, a trace its route."""
        self._remove(line)
        group = self._group(event)
        if group is None or isinstance(group, str):
            return
        group.add_seats(*self._learned.get(line, (-1, -1)))
        if (traced := self._traced.get(line)) is not None and event not in self._told:
            self._told.add(event)
            group.add_traced(traced)
            # A trace says more than the Event's annotations.
            if (spent := self._slow.pop(event, None)) is not None and group.slow is not None:
                source = source_of(spent, group.key.shape, self._journal.code[event])
                group.slow.add(spent, source, -1)

    def _weigh(self, counted_elsewhere: set[int], times: int) -> int:
        """Count each trace as the requests that it stands for; return how many traces there are."""
        found = 0
        journal = self._journal
        for row in self._traced:
            if row in counted_elsewhere or journal.kind[row] != TRACE:
                continue
            found += 1
            group = self._group(row)
            if group is None:
                self.unrouted += times - 1
            elif isinstance(group, str):
                self.folded[group] += times - 1
            elif journal.took[row] >= 0:
                group.add_done(journal.took[row], journal.code[row], times=times - 1)
        return found

    def _group(self, row: int) -> AuditGroup | str | None:
        """Return a copy of a request's group, which may be changed; the verb of one that was folded."""
        number = self._journal.group[row]
        group = self._tally.numbered[number] if number != NO_GROUP else None
        if isinstance(group, AuditGroup):
            if id(group) not in self._changed:
                self._changed[id(group)] = group.copy()
            return self._changed[id(group)]
        return group
