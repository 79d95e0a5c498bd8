"""The selected request, and references from a row to what another screen shows in full.

A reference only names its target as Kubernetes and etcd do. A `Place` is a screen and the reference that it
is opened at. The rules are loaded only when a selection is parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ktui.core.request_view import READS
from ktui.core.state import RequestRow

if TYPE_CHECKING:
    from ktui.kube.routing.request import ReadRequest


class Selection(Struct, frozen=True):
    """A read request, and where it was selected. `verb` is GET, LIST or WATCH; `target` path and query.

    `level` is its priority level, "" if the requester is unknown; `accept` the Accept header
    to send, "" for none.
    """

    verb: str
    target: str
    taken_from: str
    level: str = ""
    accept: str = ""

    @property
    def text(self) -> str:
        """The request as typed text; the verb only if the path does not imply it."""
        from ktui.kube.routing.request import RequestError, parse_request  # start-up time

        try:
            natural = parse_request(self.target).verb.upper()
        except RequestError:
            return self.target
        return self.target if self.verb == natural else f"{self.verb} {self.target}"

    def read(self) -> ReadRequest:
        """Parse the request. Raises RequestError."""
        from ktui.kube.routing.request import parse_request  # start-up time

        return parse_request(self.target, self.verb.lower())


EXAMPLE = Selection("LIST", "/api/v1/pods", "an example")


def read_selection(text: str) -> Selection:
    """Parse typed text: `watch /api/v1/pods?limit=500`, or a resource's name. Raises RequestError."""
    from ktui.kube.requestinfo import split_url  # start-up time
    from ktui.kube.resources import BUILTIN
    from ktui.kube.routing.request import VERBS, parse_request

    word, _, rest = text.strip().partition(" ")
    verb, target = (word.lower(), rest.strip()) if word.lower() in VERBS else ("", text.strip())
    resource = BUILTIN.by_name(split_url(target)[0]) if not target.startswith("/") else None
    if resource is not None:
        target = resource.path + target[len(target.partition("?")[0]) :]
    request = parse_request(target, verb)
    return Selection(request.verb.upper(), target, "typed")


def selection_of(row: RequestRow | None, taken_from: str) -> Selection | None:
    """Return the selection for a logged request; None if it is no read of a resource."""
    if row is None or row.started.verb not in READS or not row.started.resource:
        return None
    return Selection(row.started.verb, row.target, taken_from, row.started.level)


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
    """A read request that the Lab compares with a variant (None: its own choice) as soon as it opens.

    `change` says in few words what the variant changes.
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
