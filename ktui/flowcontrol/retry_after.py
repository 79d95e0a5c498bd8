"""Retry-After of rejected requests: a second, and more while rejections continue.

Upstream: util/flowcontrol/dropped_requests_tracker.go (1.28 and later).
"""

from __future__ import annotations

from collections import deque

LONGEST = 32
ADAPTS_SINCE = 28


class RetryAfter:
    """The delays of one priority level. Times are in whole seconds."""

    def __init__(self) -> None:
        self.seconds = 1
        self._raised = 0
        self._now = 0
        self._count = 0
        self._history: deque[tuple[int, int]] = deque(maxlen=LONGEST)

    def rejected(self, second: int) -> int:
        """Count a rejection; return the seconds that its client has to wait."""
        if second == self._now:
            self._count += 1
            return self.seconds
        self._history.append((self._now, self._count))
        self._now, self._count = second, 1
        recent = sum(count for at, count in self._history if second - self.seconds <= at < second)
        if second - self._raised >= self.seconds and recent >= 3 * self.seconds:
            self.seconds, self._raised = min(LONGEST, 2 * self.seconds), second
        elif recent < self.seconds and self.seconds > 1:
            self.seconds -= 1
        return self.seconds
