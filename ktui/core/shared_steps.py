"""Share equal decision trace steps between requests: without this they are most of the log's memory."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from ktui.contract.events import RequestRouted, RouteStep


def shared(event: RequestRouted) -> RequestRouted:
    """Return `event` with step and reason objects that equal events share."""
    return replace(event, reason=_reason(event.reason), steps=[_step(step) for step in event.steps])


# Steps with a revision differ each time; the repeating ones stay cached.
@lru_cache(2048)
def _step(step: RouteStep) -> RouteStep:
    return step


@lru_cache(256)
def _reason(text: str) -> str:
    return text
