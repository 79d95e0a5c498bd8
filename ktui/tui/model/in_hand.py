"""The request in hand: the one that the Versions screen puts under every version."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.kube.requestinfo import split_url
from ktui.kube.resources import BUILTIN
from ktui.kube.routing.request import VERBS, ReadRequest, RequestError, parse_request
from ktui.tui.model.request_view import READS
from ktui.tui.model.state import RequestRow


@dataclass(frozen=True, slots=True)
class InHand:
    """A read request and where it was taken from. `verb` is GET, LIST or WATCH; `target` path and query."""

    verb: str
    target: str
    taken_from: str

    @property
    def text(self) -> str:
        """As it is typed: a verb only where the path does not say it."""
        try:
            natural = parse_request(self.target).verb.upper()
        except RequestError:
            return self.target
        return self.target if self.verb == natural else f"{self.verb} {self.target}"

    def read(self) -> ReadRequest:
        """Understood for the rules. Raises RequestError."""
        return parse_request(self.target, self.verb.lower())


EXAMPLE = InHand("LIST", "/api/v1/pods", "an example")


def read_in_hand(text: str) -> InHand:
    """What was typed: `/api/v1/pods?limit=500`, `watch /api/v1/pods`, or a resource's name.

    Raises RequestError.
    """
    word, _, rest = text.strip().partition(" ")
    verb, target = (word.lower(), rest.strip()) if word.lower() in VERBS else ("", text.strip())
    resource = BUILTIN.by_name(split_url(target)[0]) if not target.startswith("/") else None
    if resource is not None:
        target = resource.path + target[len(target.partition("?")[0]) :]
    request = parse_request(target, verb)
    return InHand(request.verb.upper(), target, "typed")


def in_hand_of(row: RequestRow | None, taken_from: str) -> InHand | None:
    """A request of the log, if it is one that is routed."""
    if row is None or row.started.verb not in READS or not row.started.resource:
        return None
    return InHand(row.started.verb, row.target, taken_from)
