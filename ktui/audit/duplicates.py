"""Requests that are in two logs of one apiserver: as an audit Event and as an httplog line.

Both have the audit-ID (httplog since 1.22). Lines without it are matched by URI, user agent, status,
approximate duration, and the tenth of a second in which the request ended. The audit Event
counts, because it has the account; the httplog line adds the seats and the time until
a WATCH was live.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

from ktui.audit.fingerprints import Fingerprints
from ktui.audit.group import AuditGroup
from ktui.audit.record import LoggedRequest

MOST = 1 << 22  # slots: 32 MB, for three million requests whose other line has not been read yet
_TENTH = 100_000  # microseconds
_AWAY = 4_000  # the two may differ by this much, because the logs measure slightly different intervals
_NEAR = tuple(product((0, -1, 1), (0, -1, 1)))


class DuplicateFilter:
    """Takes every finished request of both formats and reports which were seen before."""

    def __init__(self, most: int = MOST) -> None:
        self.count = 0
        # Events are kept under both identifications, until it is known whether lines have an ID.
        self._events, self._plain_events = Fingerprints(most), Fingerprints(most // 2)
        self._lines, self._plain_lines = Fingerprints(most), Fingerprints(most // 2)
        self._ids_seen = self._plain_seen = False

    @property
    def lost(self) -> bool:
        """True if there were too many to remember: some of the others may count twice."""
        bags = (self._events, self._plain_events, self._lines, self._plain_lines)
        return any(bag.lost for bag in bags)

    def event(self, request: LoggedRequest) -> bool:
        """Add an audit Event; True if its httplog line was seen before."""
        number = _id_of(request)
        known = self._ids_seen and self._lines.take(number)
        if known or (self._plain_seen and self._took(self._plain_lines, request)):
            self.count += 1
            return True
        self._events.add(number)
        if self._plain_seen or not self._ids_seen:
            self._plain_events.add(_content_of(request))
        return False

    def line(self, request: LoggedRequest) -> bool:
        """Add an httplog line; True if its audit Event was seen before."""
        if request.id:
            self._ids_seen = True
            known = self._events.take(_id_of(request))
        else:
            self._plain_seen = True
            known = self._took(self._plain_events, request)
        if known:
            self.count += 1
        elif request.id:
            self._lines.add(_id_of(request))
        else:
            self._plain_lines.add(_content_of(request))
        return known

    def _took(self, bag: Fingerprints, request: LoggedRequest) -> bool:
        """The two lines are written one after the other: a tenth of a second may begin between them."""
        return any(bag.take(_content_of(request, *step)) for step in _NEAR)


def _id_of(request: LoggedRequest) -> int:
    return hash((request.id, request.uri))


def _content_of(request: LoggedRequest, later: int = 0, longer: int = 0) -> int:
    """`later` and `longer`: as if it had ended in a neighbouring tenth, or taken 9 % more or less."""
    took = int(math.log2(request.took + _AWAY) * 8) + longer
    return hash((request.uri, request.agent, request.code, request.at // _TENTH + later, took))


def settled(groups: Iterable[AuditGroup]) -> Iterator[AuditGroup]:
    """The remaining groups; what only httplog has of duplicates is added to the group that counts them."""
    kept: list[AuditGroup] = []
    doubled: list[AuditGroup] = []
    for group in groups:
        (kept if group.count else doubled).append(group)
    by_client: dict[tuple[str, object], list[AuditGroup]] = {}
    if doubled:
        for group in kept:
            by_client.setdefault((group.key.client.agent, group.key.shape), []).append(group)
    for group in doubled:
        same = by_client.get((group.key.client.agent, group.key.shape), [])
        if len(same) == 1:  # with several, their owner is unknown
            same[0].learn(group)
    yield from kept
