"""What a row refers to, so that any screen can open the screen that shows it in full.

A reference names a thing as Kubernetes and etcd do; it holds no state
of it. A `Place` is where the user is: a screen, and what it is opened at.
"""

from __future__ import annotations

from msgspec import Struct

from ktui.core.selection import Selection


class RequestRef(Struct, frozen=True):
    """A request in the log, by the server's number."""

    id: int


class WatcherRef(Struct, frozen=True):
    """An open WATCH; its number is that of its request."""

    id: int


class ResourceRef(Struct, frozen=True):
    """All objects of one kind, by the resource's id: `leases.coordination.k8s.io`."""

    id: str


class Object(Struct, frozen=True):
    """One object; `revision` is the revision meant, 0 for the newest."""

    resource: str
    namespace: str
    name: str
    revision: int = 0

    @property
    def text(self) -> str:
        """`shop/web-7f9`, `node-1`."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class PrefixRef(Struct, frozen=True):
    """All keys of etcd with this prefix."""

    prefix: str


class KeyRef(Struct, frozen=True):
    """One key of etcd; with `past` its revisions, with `revision` one of them."""

    key: str
    revision: int = 0
    past: bool = False


class Read(Struct, frozen=True):
    """A read request as text: for the Lab and Versions."""

    selection: Selection


class CompareRef(Struct, frozen=True):
    """A read request to be compared with a cheaper variant of it in the Lab, at once.

    `variant` None: the Lab finds one; `change` is in few words what it changes.
    """

    original: Selection
    variant: Selection | None = None
    change: str = ""


class Revision(Struct, frozen=True):
    """All that happened at one revision of etcd."""

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
