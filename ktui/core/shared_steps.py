"""What many requests have in common, kept once: most of the memory of the log was their walks."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from ktui.contract.events import RequestRouted, RouteStep


def shared(event: RequestRouted) -> RequestRouted:
    """The same event; its steps and its reason are the objects that others like it have."""
    return replace(event, reason=_reason(event.reason), steps=[_step(step) for step in event.steps])


# Steps that saw a revision differ each time; those that are the same again and again stay.
@lru_cache(2048)
def _step(step: RouteStep) -> RouteStep:
    return step


@lru_cache(256)
def _reason(text: str) -> str:
    return text
