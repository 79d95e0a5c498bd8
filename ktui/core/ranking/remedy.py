"""A cheaper variant, as plain data: shown without loading the rules."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ktui.core.format import integer, long_bytes, many
from ktui.core.ranking.ranking import Group

WORTH_SAYING = 0.05  # a smaller saving is not mentioned
_LITTLE = 1_000  # bytes: a probe of the revision, not a read


class Burden(Struct, frozen=True):
    """Bytes that one request processes: read from etcd, and looked at (from there or a cache).

    An object from etcd is read and decoded before it is looked at, so it counts twice.
    """

    etcd: float
    touched: float

    @property
    def total(self) -> float:
        return self.etcd + self.touched


class Remedy(Struct, frozen=True):
    """What to change, in few words, and why; `target` is the LIST or WATCH (`verb`) rewritten, to be
    sent with `accept`; "" if there is none that can be sent once.

    `route` is predicted. `now` was measured (average of the requests), `then` is predicted from
    the stored sizes; None if they say nothing.
    """

    id: str
    change: str
    why: str
    target: str
    route: str
    now: Burden
    then: Burden | None = None
    accept: str = ""
    verb: str = "LIST"

    @property
    def saved(self) -> float:
        """Predicted share of the work saved, 0 … 1; 0 if unknown."""
        if self.then is None or self.now.total <= 0:
            return 0.0
        return max(0.0, 1 - self.then.total / self.now.total)

    @property
    def style(self) -> str:
        """Green for less work by the rules; plain for a format, whose saving has to be measured."""
        return "$ink-strong" if self.accept else "$success"

    @property
    def worthwhile(self) -> bool:
        """True if it saves enough to be mentioned, or something that is not measured in bytes."""
        return self.then is None or self.saved >= WORTH_SAYING

    def saving(self) -> str:
        """`no etcd read (641 kB now)`, `~180 kB scanned, not 17.9 MB`, "" where nothing is predicted."""
        if self.then is None:
            return ""
        text = []
        if self.now.etcd >= _LITTLE:
            if self.then.etcd == 0:
                text.append(f"no etcd read ({long_bytes(self.now.etcd)} now)")
            elif self.then.etcd < self.now.etcd * (1 - WORTH_SAYING):
                text.append(f"~{long_bytes(self.then.etcd)} from etcd, not {long_bytes(self.now.etcd)}")
        if self.then.touched < self.now.touched * (1 - WORTH_SAYING):
            text.append(f"~{long_bytes(self.then.touched)} scanned, not {long_bytes(self.now.touched)}")
        return ", ".join(text)


def to_try(remedies: Sequence[Remedy]) -> Remedy | None:
    """The best of those that can be sent."""
    return next((each for each in remedies if each.target), None)


class Left(Struct, frozen=True):
    """What remains to do if there is no cheaper variant: in few words, and in full."""

    short: str
    full: str


def scans_in_vain(group: Group) -> bool:
    """True if a selector matches only a small part of what is scanned for it."""
    spent, shape = group.spent, group.key.shape
    wasteful = spent.fetched > _WASTEFUL * max(1, spent.returned)
    return shape.verb == "list" and bool(shape.selectors) and wasteful


def beside_the_point(group: Group, remedy: Remedy | None) -> bool:
    """True if the best remedy makes the answer smaller, while the cost is in the scan."""
    return remedy is None or (bool(remedy.accept) and scans_in_vain(group))


def _without_index(group: Group) -> Left:
    from ktui.kube.resources import BUILTIN  # not before the first frame

    spent, shape = group.spent, group.key.shape
    scanned = f"{many(spent.fetched, 'object')} scanned, {integer(spent.returned)} returned"
    known = BUILTIN.by_name(shape.resource)
    narrows = shape.scope == "all" and (known is None or known.namespaced)
    namespace = "A namespace narrows what is scanned; a" if narrows else "A"
    return Left(
        "no index: narrow by namespace" if narrows else "no index: use a WATCH instead",
        f"{scanned}: no index serves its selector, so every object is tested against it. {namespace} "
        "WATCH receives only changes.",
    )


_WASTEFUL = 3.0  # objects scanned for one returned


def what_is_left(group: Group) -> Left:
    """By route and by the share of scanned objects that is returned."""
    spent = group.spent
    if group.failed == group.count:
        return Left("refused: costs nothing", "it is refused before anything is read")
    if scans_in_vain(group):
        return _without_index(group)
    if not spent.etcd_bytes or spent.etcd_bytes < _LITTLE * spent.count:
        return Left(
            "cached: request less often",
            "already served from the cache, and no cheaper variant is known. Request less "
            "(a namespace, a page, metadata only), or less often.",
        )
    return Left(
        "request less, or less often",
        "no cheaper variant is known. Request less, or less often.",
    )
