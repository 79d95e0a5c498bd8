"""A shape of requests in one line, in the log's notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.core.request_view import UNSAID, selector_words, short_resource
from ktui.core.table.columns import Run

if TYPE_CHECKING:
    from ktui.core.ranking.shape import RequestShape

_SCOPES = {"all": "", "namespace": " -n …", "name": " …"}


def shape_runs(shape: RequestShape) -> list[Run]:
    """Return a shape as styled runs: `LIST pods -n … ?nodeName=… rv=0`; `…` replaces values that differ."""
    resource = short_resource(shape.resource)
    runs: list[Run] = [
        (f"{shape.verb.upper()} ", "$ink-muted"),
        (f"{resource}/{shape.subresource}" if shape.subresource else resource, "$foreground"),
    ]
    if scope := _SCOPES.get(shape.scope, ""):
        runs.append((scope, "$ink-muted"))
    if words := parameter_words(shape):
        runs.append((f" ?{' '.join(words)}", "$ink-muted"))
    return runs


def parameter_words(shape: RequestShape) -> list[str]:
    """Return the parameters that affect route and cost, abbreviated."""
    words = [selector_words(selector) for selector in shape.selectors]
    words += [f"{name}=…" for name in shape.unknown if name not in UNSAID]
    words += [f"rv={shape.resource_version}"] if shape.resource_version != "unset" else []
    words += [f"match={shape.match}"] if shape.match else []
    words += [f"limit={shape.limit}"] if shape.limit else []
    words += ["continue=…"] if shape.continued else []
    words += ["sendInitial=true"] if shape.initial_events else []
    return words


def shape_text(shape: RequestShape) -> str:
    """Return a shape as plain text."""
    return "".join(text for text, _ in shape_runs(shape))
