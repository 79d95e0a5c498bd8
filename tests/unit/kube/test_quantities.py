"""Quantities as counts: upstream looks at thousandths of 64 bits."""

from __future__ import annotations

import pytest

from ktui.kube.quantity import is_whole


@pytest.mark.parametrize(
    ("quantity", "whole"),
    [
        ("0", True), ("3", True), ("-1", True), ("10k", True), ("9e18", True), ("1e90", True),
        ("0.9999999", True), ("9223372036854775807", True), ("1.5", False), ("500m", False),
        ("99999999999999999", False), ("12345678901234567890", False),
    ],
)  # fmt: skip
def test_a_count_has_no_thousandths(quantity: str, whole: bool) -> None:
    assert is_whole(quantity) == whole
