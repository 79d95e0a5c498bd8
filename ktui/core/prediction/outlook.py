"""What `foresee` says of a request: plain data, so that drawing it needs no rules."""

from __future__ import annotations

from msgspec import Struct


class Foreseen(Struct, frozen=True):
    """The route under one version; `current` is the version that the server follows."""

    version: str
    route: str
    current: bool


class Cheaper(Struct, frozen=True):
    """A cheaper form: what to change (`add resourceVersion=0`, `Accept: …`), why, and the route foreseen.

    `change` is "" for advice on how the client asks, not what.
    """

    change: str
    why: str
    route: str


class Outlook(Struct, frozen=True):
    """All that the rules say; empty for what is no GET, LIST or WATCH of a resource."""

    versions: tuple[Foreseen, ...] = ()
    cheaper: tuple[Cheaper, ...] = ()


NOTHING = Outlook()
