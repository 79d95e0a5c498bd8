"""Waits by bucket: quantiles, and replicas whose versions have different buckets."""

from __future__ import annotations

import pytest

from ktui.core.live.window import quantile, summed_buckets

OLD = {"0.1": 50.0, "1": 90.0, "10": 100.0, "+Inf": 100.0}
NEW = {"0.1": 50.0, "1": 90.0, "5": 95.0, "10": 100.0, "15": 100.0, "30": 100.0, "+Inf": 100.0}


@pytest.mark.parametrize(
    ("counts", "share", "seconds"),
    [
        (OLD, 0.5, 0.1),
        (OLD, 0.7, 0.55),  # half-way between 0.1 and 1
        (NEW, 0.99, 9.0),
        ({"0.1": 0.0, "+Inf": 4.0}, 0.5, 0.1),  # beyond the last bound: at least that
        ({}, 0.5, None),
        ({"0.1": 0.0, "+Inf": 0.0}, 0.5, None),
        ({"x": 3.0, "-1": 3.0}, 0.5, None),
    ],
)
def test_a_quantile_is_interpolated_within_its_bucket(
    counts: dict[str, float], share: float, seconds: float | None
) -> None:
    assert quantile(counts, share) == (None if seconds is None else pytest.approx(seconds))


def test_replicas_of_two_versions_have_no_fewer_waits_at_a_greater_bound() -> None:
    whole = summed_buckets([OLD, NEW])
    assert list(whole) == ["0.1", "1", "5", "10", "15", "30", "+Inf"]
    counts = list(whole.values())
    assert counts == sorted(counts)
    assert (whole["10"], whole["15"], whole["+Inf"]) == (200.0, 200.0, 200.0)
    assert quantile(whole, 0.999) == pytest.approx(10.0, abs=0.1)


def test_equal_buckets_are_added() -> None:
    assert summed_buckets([OLD, OLD]) == {le: 2 * count for le, count in OLD.items()}
    assert summed_buckets([]) == {}
