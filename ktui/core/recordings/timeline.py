"""The time of each event of a recording, although not every event has one."""

from __future__ import annotations

from ktui.contract.events import AnyEvent, RequestStarted, WatcherOpened

# Events at the start of a stream that describe older facts.
_OLDER = (RequestStarted, WatcherOpened)


class Timeline:
    """The recording's clock: advances with the events, never back; some events are late or have no time.

    Times are Unix seconds; 0.0 before the first event that has one.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.began = self.now = now

    def advance(self, event: AnyEvent) -> float:
        """Advance to `event`, and return its time in the recording."""
        if event.at > self.now and (self.began or not isinstance(event, _OLDER)):
            self.began = self.began or event.at
            self.now = event.at
        return self.now
