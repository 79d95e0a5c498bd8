"""time.Parse's complaints, to the letter."""

from __future__ import annotations

import pytest

from ktui.kube.golang.times import RFC3339_MICRO, time_fault

AS = 'as "2006-01-02T15:04:05Z07:00": cannot parse'


@pytest.mark.parametrize(
    "text",
    ["2026-11-22T04:05:06Z", "2026-11-22T04:05:06.789+02:00", "2024-02-29T4:05:06Z", "0000-02-29T00:00:00Z"],
)
def test_times(text: str) -> None:
    assert time_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("yesterday", f'parsing time "yesterday" {AS} "yesterday" as "2006"'),
        ("", f'parsing time "" {AS} "" as "2006"'),
        ("2026-11-22", f'parsing time "2026-11-22" {AS} "" as "T"'),
        ("2026-1-2T00:00:00Z", f'parsing time "2026-1-2T00:00:00Z" {AS} "1-2T00:00:00Z" as "01"'),
        ("2026-11-22 04:05:06Z", f'parsing time "2026-11-22 04:05:06Z" {AS} " 04:05:06Z" as "T"'),
        ("2026-11-22T04:05:06", f'parsing time "2026-11-22T04:05:06" {AS} "" as "Z07:00"'),
        ("2026-13-22T04:05:06Z", 'parsing time "2026-13-22T04:05:06Z": month out of range'),
        ("2026-11-31T04:05:06Z", 'parsing time "2026-11-31T04:05:06Z": day out of range'),
        ("2026-11-22T24:05:06Z", 'parsing time "2026-11-22T24:05:06Z": hour out of range'),
        ("2026-11-22T04:05:06Zx", 'parsing time "2026-11-22T04:05:06Zx": extra text: "x"'),
        ("é", f'parsing time "é" {AS} "é" as "2006"'),
    ],
)
def test_no_times(text: str, fault: str) -> None:
    assert time_fault(text) == fault


def test_microseconds_are_wanted_where_the_layout_has_them() -> None:
    assert time_fault("2026-11-22T04:05:06.123456Z", RFC3339_MICRO) == ""
    layout = '"2006-01-02T15:04:05.000000Z07:00"'
    says = f'parsing time "2026-11-22T04:05:06Z" as {layout}: cannot parse "Z" as ".000000"'
    assert time_fault("2026-11-22T04:05:06Z", RFC3339_MICRO) == says
