"""The time of a recording: when each of its events was, though not all bear a time of their own."""

from __future__ import annotations

from ktui.contract.events import AnyEvent, RequestStarted, WatcherOpened

# Told at a stream's beginning about what had begun long before.
_OLDER = (RequestStarted, WatcherOpened)


class Timeline:
    """Runs with the events that it sees, and never back: some come late, some bear no time.

    Times are Unix seconds; 0.0 before the first event that has one.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.began = self.now = now

    def see(self, event: AnyEvent) -> float:
        """The time at which `event` came."""
        if event.at > self.now and (self.began or not isinstance(event, _OLDER)):
            self.began = self.began or event.at
            self.now = event.at
        return self.now
