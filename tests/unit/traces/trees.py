"""Spans for tests, written as trees."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

from ktui.traces.assembly import TraceAssembler
from ktui.traces.spans import INTERNAL, SERVER, SpanEvent, TracedRequest, TraceSpan

START = 1_795_000_000_000_000_000
_numbers = count(1)


class Tree(NamedTuple):
    """A span, the spans below it, its attributes, and its events by name."""

    name: str
    below: tuple[Tree, ...]
    attributes: dict[str, Any]
    events: dict[str, dict[str, Any]]
    kind: int = INTERNAL


def span(name: str, *below: Tree, events: dict[str, Any] | tuple[str, ...] = (), **attributes: Any) -> Tree:
    said = events if isinstance(events, dict) else {event: {} for event in events}
    return Tree(name, below, {key.replace("_", "-"): value for key, value in attributes.items()}, said)


def server(name: str, attributes: dict[str, Any], *below: Tree) -> Tree:
    return Tree(name, below, attributes, {}, SERVER)


def handler(name: str, *below: Tree, events: tuple[str, ...] = (), **attributes: Any) -> Tree:
    known = {
        "audit-id": "a1",
        "url": "/api/v1/pods",
        "user-agent": "x/1",
        "verb": "LIST",
        "client": "10.0.0.1",
    }
    given = {key.replace("_", "-"): value for key, value in attributes.items()}
    return Tree(name, below, known | given, {event: {} for event in events})


def spans_of(tree: Tree, parent: str = "", trace: str = "", start: int = START) -> list[TraceSpan]:
    """Return the spans, each a millisecond shorter at both ends than the one above it."""
    trace = trace or f"{next(_numbers):032x}"
    own = f"{next(_numbers):016x}"
    end = 2 * START + 1_000_000_000 - start
    events = [
        SpanEvent(name, start + 1000 * place, values)
        for place, (name, values) in enumerate(tree.events.items())
    ]
    found = [
        TraceSpan(
            trace, own, parent, tree.name, tree.kind, start, end, dict(tree.attributes), events, "apiserver"
        )
    ]
    for child in tree.below:
        found += spans_of(child, own, trace, start + 1_000_000)
    return found


def request_of(tree: Tree) -> TracedRequest:
    """Return the request of a complete tree."""
    (request,) = TraceAssembler().add(spans_of(tree), 0.0)
    return request
