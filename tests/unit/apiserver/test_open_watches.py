"""WATCHes of a server that stops."""

from __future__ import annotations

from typing import cast

import pytest

from ktui.apiserver.watches import STOPPING, OpenWatches
from ktui.cacher.cacher_requests import WatchEvents
from ktui.contract.events import WatcherOpened
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter

pytestmark = pytest.mark.anyio


class Stream:
    """Notes why it was closed."""

    cause = ""

    def close(self, cause: str) -> None:
        self.cause = cause


async def test_a_watch_that_was_requested_before_the_stop_ends_too() -> None:
    watches = OpenWatches(Bus())
    early, late = Stream(), Stream()
    watches.add(_opened(1), cast(WatchEvents, early), Meter())
    watches.end_all()
    watches.add(_opened(2), cast(WatchEvents, late), Meter())
    assert (early.cause, late.cause) == (STOPPING, STOPPING)


def _opened(number: int) -> WatcherOpened:
    return WatcherOpened(id=number, resource="pods", since="0", client="kubectl")
