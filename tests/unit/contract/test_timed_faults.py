"""Faults as words of the command line."""

from __future__ import annotations

import pytest

from ktui.contract.faults import KINDS, Fault, TimedFault, timed_fault


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pause@10s:5s", TimedFault(10.0, Fault("pause", 5.0))),
        ("stall@0.5:2.5s", TimedFault(0.5, Fault("stall", 2.5))),
        ("cut@3", TimedFault(3.0, Fault("cut", KINDS["cut"].seconds))),
        ("compact@30s", TimedFault(30.0, Fault("compact"))),
    ],
)
def test_a_time_and_a_duration(text: str, found: TimedFault) -> None:
    assert timed_fault(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pause", r"write KIND@T\[:DURATION\]"),
        ("pause@soon", "write KIND"),
        ("freeze@3s", "there is no fault 'freeze': choose one of pause, slow"),
        ("pause@1s:301s", "from 0 to 300 s"),
        ("compact@1s:5s", "compact is over at once"),
        ("pause@1.2.3", "could not convert"),
    ],
)
def test_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        timed_fault(text)
