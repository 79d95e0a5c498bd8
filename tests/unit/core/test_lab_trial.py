"""A trial: what the server spent on two series of runs, and when that counts as a difference."""

from __future__ import annotations

from itertools import combinations

import pytest

from ktui.core.lab.measured import Measured, Memory
from ktui.core.lab.trial import CLIENT_ONLY, Polling, Trial, Verdict, decided, trial_of

NOISE = [34.0, 31.5, 35.2, 33.8, 40.1]


def run(ms: float = 10.0, cpu_ms: float | None = None, held: int | None = None, **counters: int) -> Measured:
    memory = Memory(held) if held is not None else None
    return Measured("/api/v1/pods", status=200, total_ms=ms, cpu_ms=cpu_ms, memory=memory, counters=counters)


def by_cpu(before: list[float], after: list[float]) -> Trial:
    return trial_of([run(cpu_ms=ms) for ms in before], [run(cpu_ms=ms) for ms in after])


def test_a_saving_names_the_share_first_then_the_other_figures() -> None:
    expensive = [run(cpu_ms=ms, etcd_bytes=17_900_000, cached_bytes=0, etcd_keys=3_000) for ms in NOISE]
    cheap = [run(cpu_ms=2.0, etcd_bytes=0, cached_bytes=358_000, etcd_keys=0) for _ in NOISE]
    trial = trial_of(expensive, cheap)
    assert trial.verdict is Verdict.SAVES
    assert trial.sentence == "saves 98% of bytes processed, CPU 34 → 2.0 ms, etcd keys 3,000 → 0"


def test_more_is_said_as_more() -> None:
    trial = by_cpu(NOISE, [71.0, 69.0, 75.0, 70.5, 90.0])
    assert (trial.verdict, trial.sentence) == (Verdict.COSTS_MORE, "costs more: CPU 34 → 71 ms")


def test_less_of_one_and_more_of_another_is_neither() -> None:
    before = [run(cpu_ms=ms, sent_bytes=252_000) for ms in NOISE]
    after = [run(cpu_ms=2 * ms, sent_bytes=105_000) for ms in NOISE]
    trial = trial_of(before, after)
    assert trial.verdict is Verdict.MIXED
    assert trial.sentence == "saves 58% of bytes sent, but costs more: CPU 34 → 68 ms"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOISE, NOISE),
        (NOISE, [ms * 0.97 for ms in NOISE]),  # less than one notices
        (NOISE, [20.0, 21.0, 36.0, 37.0, 22.0]),  # a lower median, but not in every pair
        ([0.30] * 5, [0.15] * 5),  # half of next to nothing
    ],
)
def test_noise_is_no_difference(before: list[float], after: list[float]) -> None:
    trial = by_cpu(before, after)
    assert (trial.verdict, trial.sentence) == (Verdict.SAME, "no difference")


def test_of_ten_runs_split_in_every_way_few_splits_make_a_difference() -> None:
    """With five runs each, chance alone gives a verdict in 4 of 252 cases: 1.6 %."""
    values = [10.0 * 1.2**place for place in range(10)]
    splits = [set(chosen) for chosen in combinations(values, 5)]
    wrong = [
        chosen
        for chosen in splits
        if by_cpu(sorted(chosen), [each for each in values if each not in chosen]).verdict is not Verdict.SAME
    ]
    assert (len(splits), len(wrong)) == (252, 4)


def test_the_clients_time_decides_nothing() -> None:
    slow, quick = [run(ms=60.0, cpu_ms=5.0)] * 5, [run(ms=6.0, cpu_ms=5.0)] * 5
    trial = trial_of(slow, quick)
    assert (trial.verdict, trial.client) == (Verdict.SAME, "client's time 60 → 6.0 ms")


def test_without_the_servers_figures_nothing_is_claimed() -> None:
    trial = trial_of([run(ms=60.0)] * 5, [run(ms=6.0)] * 5)
    assert (trial.verdict, trial.sentence) == (Verdict.UNKNOWN, CLIENT_ONLY)
    assert trial.document()["client_ms"]["variant"] == {"median": 6.0, "low": 6.0, "high": 6.0}


def test_a_figure_that_one_run_does_not_know_is_left_out() -> None:
    trial = trial_of([run(cpu_ms=5.0, held=90_000)] * 5, [*([run(cpu_ms=5.0, held=1)] * 4), run(cpu_ms=5.0)])
    assert [each.figure for each in trial.differences] == ["cpu_ms"]


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (0, "saves all memory held (5.0 MB)"),
        (400, "saves 99.99% of memory held"),
        (2_500_000, "saves 50% of memory held"),
        (4_990_000, "no difference"),
    ],
)
def test_shares(after: int, sentence: str) -> None:
    assert trial_of([run(held=5_000_000)] * 5, [run(held=after)] * 5).sentence == sentence


def test_a_failed_variant_is_no_saving() -> None:
    gone = Measured("/api/v1/pods", status=410, message="too old")
    trial = trial_of([run(cpu_ms=5.0)] * 5, [gone])
    assert (trial.verdict, trial.sentence) == (Verdict.FAILED, "the variant failed: 410 too old")
    ended = Measured("/api/v1/pods", status=200, message="the stream ended")
    assert trial_of([ended], [run()]).sentence == "the original failed: 200 the stream ended"


def test_a_poller_is_compared_over_time() -> None:
    lists = [run(cpu_ms=ms, cached_bytes=9_500_000) for ms in NOISE]
    watches = [run(cpu_ms=2 * ms, cached_bytes=9_500_000) for ms in NOISE]
    trial = trial_of(lists, watches, Polling(per_minute=10.0, event_bytes=3_000.0))
    assert trial.verdict is Verdict.SAVES, "though the WATCH costs more than one LIST"
    assert (
        trial.sentence == "10 LISTs/min = 95.0 MB/min processed against one WATCH = 9.5 MB once + 3.0 kB/min"
    )
    busy = trial_of(lists, watches, Polling(per_minute=0.1, event_bytes=2_000_000.0))
    assert busy.verdict is Verdict.COSTS_MORE


@pytest.mark.parametrize(
    ("before", "after", "enough"),
    [
        ({"cached_bytes": [9, 9, 9]}, {"cached_bytes": [1, 1, 1]}, True),
        ({"cached_bytes": [9, 9]}, {"cached_bytes": [1, 1]}, False),  # two pairs
        ({"cached_bytes": [9, 9, 9]}, {"cached_bytes": [9, 9, 9]}, False),  # nothing differs
        ({"cached_bytes": [9, 1, 9]}, {"cached_bytes": [1, 9, 1]}, False),  # pairs contradict each other
        ({"cached_bytes": [9] * 3, "cpu": [34, 31, 35]}, {"cached_bytes": [1] * 3, "cpu": [2, 3, 2]}, True),
        (
            {"cached_bytes": [9] * 3, "cpu": [34, 31, 35]},
            {"cached_bytes": [1] * 3, "cpu": [20, 21, 22]},
            False,
        ),
        (
            {"cached_bytes": [9] * 3, "cpu": [34, 31, 35]},
            {"cached_bytes": [1] * 3, "cpu": [40, 21, 22]},
            False,
        ),
        ({"cpu": [34, 31, 35]}, {"cpu": [2, 3, 2]}, True),
    ],
)
def test_pairs_end_once_they_are_decisive(
    before: dict[str, list[int]], after: dict[str, list[int]], enough: bool
) -> None:
    def runs(figures: dict[str, list[int]]) -> list[Measured]:
        return [
            run(
                cpu_ms=figures["cpu"][place] if "cpu" in figures else None,
                **{name: values[place] * 1_000_000 for name, values in figures.items() if name != "cpu"},
            )
            for place in range(len(next(iter(figures.values()))))
        ]

    assert decided(runs(before), runs(after)) is enough


@pytest.mark.parametrize(("after", "enough"), [([1.0, 2.9, 0.1], True), ([1.0, 3.6, 0.1], False)])
def test_seat_seconds_under_load_hold_up_only_what_may_cost_more(after: list[float], enough: bool) -> None:
    def runs(size: int, seat_seconds: list[float]) -> list[Measured]:
        found = [run(cached_bytes=size) for _ in seat_seconds]
        for measured, seconds in zip(found, seat_seconds, strict=True):
            measured.seat_seconds = seconds
        return found

    before, cheaper = runs(9_000_000, [3.0, 3.0, 3.0]), runs(1_000_000, after)
    assert decided(before, cheaper) is enough
    assert "seat-seconds" not in trial_of(before, cheaper).sentence


def test_of_failed_runs_nothing_is_decided() -> None:
    failed = [Measured("/api/v1/pods", status=429, message="busy")] * 3
    assert not decided(failed, failed)
