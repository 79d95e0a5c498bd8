"""A sample of the recorded answers of a real kube-apiserver; `python -m tools.fidelity` replays them all."""

from __future__ import annotations

import pytest

from tools.fidelity import recordings
from tools.fidelity.__main__ import DEFAULT_PROFILE, of_profile
from tools.fidelity.recordings import GENERATED_ROWS, generated, profiles
from tools.fidelity.tally import Outcome, Tally

SAMPLE = 200


@pytest.mark.etcd
@pytest.mark.anyio
async def test_a_sample_of_reads_agrees() -> None:
    answers, costs = await of_profile(profiles()[DEFAULT_PROFILE], SAMPLE)
    for outcome in (answers, costs):
        assert not outcome.tally.disagreements, "\n".join(map(str, outcome.tally.disagreements))
    assert answers.tally.count[1] >= SAMPLE and costs.tally.count[1] > SAMPLE / 2


def test_the_documented_numbers_are_found() -> None:
    found = profiles()
    assert found["1.36-default"].options == ("--assume-watch-progress",)
    assert found["1.36-etcd-3.5.1"].options == ("--no-assume-watch-progress",)
    assert found["1.36-no-watchlist"].costs is None
    assert len(found) == 10 and found.keys() == {case["profile"] for case in _cases()}
    assert all(0 < agree <= of for agree, of in (profile.answers for profile in found.values()))
    assert generated().keys() == GENERATED_ROWS.keys()
    assert all(0 < agree <= of for agree, of in generated().values())
    assert 0 < recordings.same_bytes()[0] <= 100


@pytest.mark.parametrize(
    ("agree", "total", "sampled", "reached"),
    [
        (98, 100, False, True),
        (97, 100, False, False),
        (98, 99, False, False),  # requests are missing
        (49, 50, True, True),
        (48, 50, True, False),
    ],
)
def test_what_is_below_the_documented_count(agree: int, total: int, sampled: bool, reached: bool) -> None:
    tally = Tally("t")
    for number in range(total):
        tally.add("c", "n", "r", [] if number < agree else ["differs"])
    assert Outcome(tally, (98, 100), sampled).reached == reached


def _cases() -> list[dict[str, object]]:
    return list(recordings.lines(recordings.ORACLE / "cases.jsonl.xz"))
