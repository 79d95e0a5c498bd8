"""References from a row to what another screen shows in full: a request, an object, a key.

A reference only names its target as Kubernetes and etcd do. A `Place` is a screen and the
reference that it is opened at.
"""

from __future__ import annotations

from msgspec import Struct

from ktui.core.selection import Selection


class RequestRef(Struct, frozen=True):
    """A request in the log, by the server's number."""

    id: int


class WatcherRef(Struct, frozen=True):
    """An open WATCH, by the number of its request."""

    id: int


class ResourceRef(Struct, frozen=True):
    """All objects of one kind, by the resource's id: `leases.coordination.k8s.io`."""

    id: str


class Object(Struct, frozen=True):
    """One object at a `revision`, 0 for the newest."""

    resource: str
    namespace: str
    name: str
    revision: int = 0

    @property
    def text(self) -> str:
        """The object's name with its namespace: `shop/web-7f9`, `node-1`."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class PrefixRef(Struct, frozen=True):
    """All keys of etcd with this prefix."""

    prefix: str


class KeyRef(Struct, frozen=True):
    """One key of etcd; with `past` all its revisions, with `revision` one of them."""

    key: str
    revision: int = 0
    past: bool = False


class Read(Struct, frozen=True):
    """A read request as text: for the Lab and Versions."""

    selection: Selection


class CompareRef(Struct, frozen=True):
    """A read request that the Lab compares with a cheaper variant as soon as it opens.

    `variant` None: the Lab chooses one. `change` says in few words what the variant changes.
    """

    original: Selection
    variant: Selection | None = None
    change: str = ""


class Revision(Struct, frozen=True):
    """All changes at one revision of etcd."""

    revision: int


class Part(Struct, frozen=True):
    """A named part of a screen: a view, a panel, a grouping."""

    name: str


Reference = (
    RequestRef | WatcherRef | ResourceRef | Object | PrefixRef | KeyRef | Read | CompareRef | Revision | Part
)


class Place(Struct, frozen=True):
    """A screen by its mode's name, and what it is opened at (None: its top)."""

    mode: str
    reference: Reference | None = None


class Crumb(Struct, frozen=True):
    """One step of the path to the current place, and how to return to it."""

    text: str
    place: Place
