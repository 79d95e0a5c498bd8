"""The selected request: the one that the Versions screen shows under every version.

All screens use it; the rules are loaded only when it is parsed.
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
    """Parse typed text: `/api/v1/pods?limit=500`, `watch /api/v1/pods`, or a resource's name.

    Raises RequestError.
    """
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
