"""The badge of each route: its letter, style and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ktui.core.rows import RequestRow


class Badge(Struct, frozen=True):
    """How a route is shown: a letter (meaning never depends on colour alone), a style, a word."""

    letter: str
    style: str
    word: str

    @property
    def run(self) -> tuple[str, str]:
        """The letter in its style."""
        return self.letter, self.style

    @property
    def short(self) -> str:
        """The word for legends: `cache` for `watch cache`, `wait` for `waiting`."""
        return self.word.rpartition(" ")[2].removesuffix("ing")


CACHE = Badge("C", "bold $route-cache", "watch cache")
SNAPSHOT = Badge("S", "bold $route-snapshot", "cache snapshot")
ETCD = Badge("E", "bold $route-etcd", "etcd")
WAITING = Badge("W", "bold $route-wait", "waiting")
ERROR = Badge("!", "bold $route-error", "error")
PENDING = Badge("·", "$ink-muted", "not routed yet")
OTHER = Badge("–", "$ink-muted", "no storage access")

_BY_ROUTE = {
    "cache": CACHE,
    "cache_snapshot": SNAPSHOT,
    "etcd": ETCD,
    "cache,etcd": ETCD,
    "none": OTHER,
    "": PENDING,
}
LEGEND = (CACHE, SNAPSHOT, ETCD, WAITING, ERROR)


def badge_of_route(route: str) -> Badge:
    """Return the badge of a route, named as in telemetry and in `X-Ktui-Route`."""
    return _BY_ROUTE.get(route, PENDING)


def letter_of(route: str, unknown: str = "?") -> str:
    """Return the badge letter `C`, `S` or `E`, `!` for a refused request, `unknown` without a route."""
    if route == "none":
        return ERROR.letter
    return _BY_ROUTE[route].letter if route and route in _BY_ROUTE else unknown


def badge_of(row: RequestRow) -> Badge:
    """Return a request's badge: an error or a wait takes precedence over the route."""
    if row.failed:
        return ERROR
    if row.waiting:
        return WAITING
    return badge_of_route(row.route)
