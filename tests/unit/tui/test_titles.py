"""What titles say of what is not shown."""

from __future__ import annotations

from ktui.core.state import State
from ktui.tui.requests.request_columns import log_title


def test_a_log_that_has_forgotten_requests_says_so() -> None:
    state = State()
    letters = " · C cache S snapshot E etcd W wait ! error"
    assert log_title(state, 200, writes=False).plain == "requests · reads · w all" + letters
    state.writes.seen = 38_213
    assert log_title(state, 200, writes=False).plain == "requests · reads · w all" + letters
    dropped = " · 38.2k writes dropped from the log, the oldest"
    title = log_title(state, 200, writes=True)
    assert title.plain == "requests · all · w reads" + dropped + letters
    state.reads.seen = 1_200
    title = log_title(state, 200, writes=True)
    assert "1.2k reads and 38.2k writes dropped" in title.plain


def test_the_letters_are_explained_where_little_fits() -> None:
    assert log_title(State(), 47, writes=False).plain == "requests · C cache S snapshot E etcd W wait"
