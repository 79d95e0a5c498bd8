"""Find rows of a journal that are the same request: repeated records, httplog lines of audit Events."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ktui.audit.journal import EVENT, LINE, STARTED, TRACE, TRACE_LINE, Journal

_NEAR = 50_000  # microseconds between the two lines of one request
_AWAY = 1_000  # microseconds by which the two latencies may differ …
_PART = 20  # … or this fraction of the latency, if that is more


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
    """Return all repeated rows; the result does not depend on the order in which logs were read."""
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
