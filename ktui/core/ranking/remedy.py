"""Cheaper variants of a request, or of a group's requests: data, importable without the routing rules."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ktui.core.format import integer, long_bytes, many
from ktui.core.ranking.ranking import Group


class VersionRoute(Struct, frozen=True):
    """The route under one version; `current` is the version that the server follows."""

    version: str
    route: str
    current: bool


class Alternative(Struct, frozen=True):
    """A cheaper variant: what to change (`add resourceVersion=0`, `Accept: …`), why, the predicted route.

    `change` is "" for advice on the client's access pattern. `smaller` variants only change the format of
    the answer: it is smaller, but only a measurement shows whether it costs the server less.
    """

    change: str
    why: str
    route: str
    smaller: bool = False

    @property
    def style(self) -> str:
        """Green if the rules make the request cheaper, plain if only the answer is smaller."""
        return "$ink-strong" if self.smaller else "$success"


class Alternatives(Struct, frozen=True):
    """Other versions and cheaper variants; both empty for a request that is no read of a resource."""

    versions: tuple[VersionRoute, ...] = ()
    cheaper: tuple[Alternative, ...] = ()


NOTHING = Alternatives()


WORTH_SAYING = 0.05  # a smaller saving is not mentioned
_LITTLE = 1_000  # bytes: a probe of the revision, not a read


class Burden(Struct, frozen=True):
    """Bytes that one request processes: read from etcd, and tested or sent (`touched`).

    An object from etcd counts in both: it is read and decoded, then tested.
    """

    etcd: float
    touched: float

    @property
    def total(self) -> float:
        return self.etcd + self.touched

    @property
    def cached(self) -> float:
        """Bytes of the objects tested in a watch cache; 0 if they came from etcd."""
        return 0.0 if self.etcd else self.touched

    @property
    def processed(self) -> float:
        """Bytes read from etcd or from memory, each counted once: ktui's measure of a request's cost."""
        return self.etcd + self.cached


class Remedy(Struct, frozen=True):
    """What to change, and why. `target` is the rewritten LIST or WATCH (`verb`), to be sent with the
    header `accept`; "" if a single request cannot show the change.

    `route` is predicted. `now` is the measured average of the requests, `then` is predicted from
    the stored sizes; None if it cannot be predicted from them.
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
        """Predicted share (0–1) of the bytes saved; 0 if unknown."""
        if self.then is None or self.now.total <= 0:
            return 0.0
        return max(0.0, 1 - self.then.total / self.now.total)

    @property
    def style(self) -> str:
        """Green if the rules predict less work; plain for a format, whose saving has to be measured."""
        return "$ink-strong" if self.accept else "$success"

    def saving(self) -> str:
        """Describe the saving: `no etcd read (641 kB now)`, `~180 kB scanned, not 17.9 MB`; "" if unknown."""
        if self.then is None:
            return ""
        now, then, text = self.now, self.then, []
        if now.etcd >= _LITTLE and then.etcd == 0:
            text.append(f"no etcd read ({long_bytes(now.etcd)} now)")
        elif now.etcd >= _LITTLE and then.etcd < now.etcd * (1 - WORTH_SAYING):
            text.append(f"~{long_bytes(then.etcd)} from etcd, not {long_bytes(now.etcd)}")
        if then.touched < now.touched * (1 - WORTH_SAYING):
            text.append(f"~{long_bytes(then.touched)} scanned, not {long_bytes(now.touched)}")
        return ", ".join(text)


class Saving(Struct, frozen=True):
    """What the best remedy would have saved of a group's requests so far, predicted from the stored sizes.

    `bytes` of those processed or sent by etcd, and their `share` (0–1) of those processed; None if the rules
    know advice, but not its bytes.
    """

    bytes: float | None
    share: float = 0.0


NO_SAVING = Saving(0.0)


def to_try(remedies: Sequence[Remedy]) -> Remedy | None:
    """Return the first remedy that can be sent in the Lab; None if none can."""
    return next((each for each in remedies if each.target), None)


class Left(Struct, frozen=True):
    """Advice if there is no cheaper variant, as a few words and as sentences."""

    short: str
    full: str


def scans_in_vain(group: Group) -> bool:
    """True if a selector matches only a small part of what is scanned for it."""
    spent, shape = group.spent, group.key.shape
    wasteful = spent.fetched > _WASTEFUL * max(1, spent.returned)
    return shape.verb == "list" and bool(shape.selectors) and wasteful


def saves_only_the_answer(group: Group, remedy: Remedy | None) -> bool:
    """True if the best remedy makes the answer smaller, while the cost is in the scan."""
    return remedy is None or (bool(remedy.accept) and scans_in_vain(group))


_WASTEFUL = 3.0  # objects scanned for one returned


def what_is_left(group: Group) -> Left:
    """Return advice for a group without a cheaper variant, from its route and from what its LISTs scan."""
    from ktui.kube.resources import BUILTIN  # not before the first frame

    spent, shape = group.spent, group.key.shape
    if group.failed == group.count:
        return Left("refused: costs nothing", "it is refused before anything is read")
    if scans_in_vain(group):
        scanned = f"{many(spent.fetched, 'object')} scanned, {integer(spent.returned)} returned"
        known = BUILTIN.by_name(shape.resource)
        narrows = shape.scope == "all" and (known is None or known.namespaced)
        namespace = "A namespace narrows what is scanned; a" if narrows else "A"
        return Left(
            "no index: narrow by namespace" if narrows else "no index: use a WATCH instead",
            f"{scanned}: no index serves its selector, so every object is tested against it. {namespace} "
            "WATCH receives only changes.",
        )
    if not spent.etcd_bytes or spent.etcd_bytes < _LITTLE * spent.count:
        return Left(
            "cached: request less often",
            "already served from the cache, and no cheaper variant is known. Request less "
            "(a namespace, a page, metadata only), or less often.",
        )
    return Left("request less, or less often", "no cheaper variant is known. Request less, or less often.")
