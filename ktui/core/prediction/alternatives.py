"""A request's route under other versions, and its cheaper variants: data, importable without the rules."""

from __future__ import annotations

from msgspec import Struct


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
