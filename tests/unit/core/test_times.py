"""Times and paces as people write them."""

import pytest

from ktui.contract.recording import RecordingError
from ktui.core.replay.player import FASTEST, pace, spot

BEGAN = 1_790_000_000.0  # 2026-09-21 14:13:20 UTC
ENDED = BEGAN + 3 * 3600


pytestmark = pytest.mark.usefixtures("in_utc")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("0", 0), ("90", 90), ("90s", 90), ("2.5", 2.5), ("1:30", 90), ("1:02:30", 3750), ("+10", 10),
        ("-30", 3 * 3600 - 30), ("-1:00", 3 * 3600 - 60),
        ("@14:13:20", 0), ("@15:13:20", 3600), ("2026-09-21T14:14:20Z", 60), ("2026-09-21 14:13:25+00:00", 5),
    ],
)  # fmt: skip
def test_times(text: str, after: float) -> None:
    assert spot(text, BEGAN, ENDED) == BEGAN + after


def test_a_clock_may_mean_the_next_day() -> None:
    assert spot("@00:30:00", BEGAN, BEGAN + 86_400) == BEGAN + 9 * 3600 + 46 * 60 + 40 + 30 * 60


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "@99", "@14:13", "٣", "12h"])
def test_no_times(text: str) -> None:
    with pytest.raises(RecordingError, match="is not a time of a recording"):
        spot(text, BEGAN, ENDED)


@pytest.mark.parametrize("text", ["11000", "-11000", "@14:13:10", "2020-01-01T00:00:00Z"])
def test_times_outside(text: str) -> None:
    with pytest.raises(RecordingError, match="lies outside the recording, which is 10,800 s long"):
        spot(text, BEGAN, ENDED)


@pytest.mark.parametrize(
    ("text", "factor"), [("4", 4.0), ("x0.25", 0.25), ("×64", 64.0), ("max", FASTEST), ("MAX", FASTEST)]
)
def test_paces(text: str, factor: float) -> None:
    assert pace(text) == factor


@pytest.mark.parametrize("text", ["0", "-1", "fast", "", "nan", "1e999"])
def test_no_paces(text: str) -> None:
    with pytest.raises(RecordingError, match="is not a replay speed"):
        pace(text)
