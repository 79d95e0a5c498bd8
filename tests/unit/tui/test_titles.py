"""What titles say of what is not shown."""

from __future__ import annotations

from ktui.core.state import State
from ktui.tui.requests.columns import log_title


def test_a_log_that_has_forgotten_requests_says_so() -> None:
    state = State()
    assert log_title(writes=False, state=state).plain == "requests · reads · w all"
    state.writes.seen = 38_213
    assert log_title(writes=False, state=state).plain == "requests · reads · w all"
    title = log_title(writes=True, state=state)
    assert title.plain == "requests · all · w reads · 38.2k writes dropped from the log, the oldest"
