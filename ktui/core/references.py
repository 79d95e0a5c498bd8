"""What a row speaks of, so that any screen can lead to the one where it is shown in full.

A reference names a thing as Kubernetes and etcd do; it holds nothing of what is known
of it. A `Place` is where the user stands: a screen, and what it is opened at.
"""

from __future__ import annotations

from msgspec import Struct

from ktui.core.selection import Selection


class RequestRef(Struct, frozen=True):
    """A request of the log, by the server's number."""

    id: int


class WatcherRef(Struct, frozen=True):
    """An open WATCH; its number is that of its request."""

    id: int


class ResourceRef(Struct, frozen=True):
    """All objects of one kind, by the resource's id: `leases.coordination.k8s.io`."""

    id: str


class Object(Struct, frozen=True):
    """One object; `revision` is the state of it that is meant, 0 the newest."""

    resource: str
    namespace: str
    name: str
    revision: int = 0

    @property
    def text(self) -> str:
        """`shop/web-7f9`, `node-1`."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class PrefixRef(Struct, frozen=True):
    """All keys of etcd that begin so."""

    prefix: str


class KeyRef(Struct, frozen=True):
    """One key of etcd; with `past` its revisions, `revision` the one that is meant."""

    key: str
    revision: int = 0
    past: bool = False


class Read(Struct, frozen=True):
    """A read request as text: what the Lab composes and Versions compares."""

    selection: Selection


class Revision(Struct, frozen=True):
    """Whatever happened at one revision of etcd."""

    revision: int


class Part(Struct, frozen=True):
    """A part of a screen that has a name of its own: a view, a panel, a grouping."""

    name: str


Reference = RequestRef | WatcherRef | ResourceRef | Object | PrefixRef | KeyRef | Read | Revision | Part


class Place(Struct, frozen=True):
    """A screen by its mode's name, and what it is opened at (None: its top)."""

    mode: str
    reference: Reference | None = None


class Crumb(Struct, frozen=True):
    """One step of the way down to where the user stands, and how to come back to it."""

    text: str
    place: Place
