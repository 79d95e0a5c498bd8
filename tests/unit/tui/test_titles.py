"""What titles say of what is not shown."""

from __future__ import annotations

from ktui.tui.requests.columns import log_title


def test_a_log_that_has_forgotten_requests_says_so() -> None:
    assert log_title(writes=False).plain == "requests · reads · w all"
    title = log_title(writes=True, forgotten=38_213)
    assert title.plain == "requests · all · w reads · 38.2k dropped from the log"
