"""What one request cost, counted where the work is done.

The server opens a `Meter` for a request with `metered()`; every room below adds
to the current one. A context variable carries it, so it follows the request
through awaits and into its tasks, and no signature has to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Meter:
    """Counters of one request. Objects: taken from cache or etcd (`fetched`), put to
    the selectors (`evaluated`), passed them (`matched`), sent (`returned`).

    `on_decision` is called with the routing decision and the route that is taken:
    before anything is read, and again when the request falls back to another route.
    """

    request_id: int = 0
    fetched: int = 0
    evaluated: int = 0
    matched: int = 0
    returned: int = 0
    etcd_gets: int = 0
    etcd_lists: int = 0
    etcd_rpcs: int = 0
    etcd_keys: int = 0
    etcd_bytes: int = 0
    decoded_bytes: int = 0
    encoded_bytes: int = 0
    sent_bytes: int = 0
    seats: int = 0
    phases: dict[str, float] = field(default_factory=dict)
    on_decision: Callable[[Any, str], None] | None = None

    def decided(self, decision: object, route: str) -> None:
        """Tell whoever opened the meter how the request is routed, if that is wanted."""
        if self.on_decision is not None:
            self.on_decision(decision, route)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent in the block to phase `name` (milliseconds)."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add_phase(name, (time.perf_counter() - started) * 1000.0)

    def add_phase(self, name: str, ms: float) -> None:
        self.phases[name] = self.phases.get(name, 0.0) + ms


_current: ContextVar[Meter | None] = ContextVar("ktui_meter", default=None)


def current_meter() -> Meter:
    """The meter of the request being served, or one that nobody reads."""
    return _current.get() or Meter()


@contextmanager
def metered(meter: Meter) -> Iterator[Meter]:
    """Make `meter` the current one for the block and for tasks started in it."""
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)
