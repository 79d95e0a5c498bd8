"""A verdict in lines, and as many parts of a line as fit."""

from __future__ import annotations

import pytest

from ktui.core.rows import badge_of_route
from ktui.tui.requests.why import badged_lines
from ktui.tui.widgets.lines import broken, parts_that_fit

ETCD = badge_of_route("etcd")
WHY = "a limit without a resourceVersion is read from etcd before 1.31"


def test_a_verdict_is_wrapped_beneath_itself() -> None:
    drawn = [text.plain for text in badged_lines(ETCD, "etcd", WHY, 30, 9)]
    assert drawn[0].startswith("E etcd: a limit")
    assert all(text.startswith("  ") and len(text) <= 30 for text in drawn[1:])
    assert " ".join(text.strip() for text in drawn) == f"E etcd: {WHY}"


def test_a_verdict_that_is_cut_says_so() -> None:
    drawn = badged_lines(ETCD, "etcd", WHY, 30, 1)
    assert len(drawn) == 1 and drawn[0].plain.endswith("…")


def test_a_verdict_without_a_reason_is_its_word() -> None:
    assert [text.plain for text in badged_lines(ETCD, "under way", "", 30, 3)] == ["E under way"]


def test_a_verdict_never_writes_an_escape_sequence() -> None:
    (drawn,) = badged_lines(ETCD, "etcd", "\x1b[31mred", 30, 3)
    assert drawn.plain == "E etcd: ␛[31mred"


@pytest.mark.parametrize(
    ("width", "least", "told"),
    [(20, 1, "one · two · three"), (16, 1, "one · two"), (5, 1, "one"), (2, 1, "o…"), (8, 2, "one · t…")],
)
def test_the_first_parts_stay(width: int, least: int, told: str) -> None:
    assert parts_that_fit(["one", "two", "three"], width, least=least).plain == told


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("/api/v1/pods", 2, ["/api/v", "1/pods"]),
        ("/api/v1/pods?limit=500", 2, ["/api/v", "1/pod…"]),
        ("", 2, [""]),
    ],
)
def test_a_path_is_broken_where_its_line_is_full(text: str, most: int, told: list[str]) -> None:
    assert broken(text, 6, most) == told
