"""Null as Go's decoder takes it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ktui.wire.gotypes import clear_nulls


@pytest.mark.parametrize(
    ("kind", "obj", "cleared"),
    [
        ("v1 ConfigMap", {"data": None, "immutable": None}, {}),
        ("v1 ConfigMap", {"data": {"a": None, "b": "c"}}, {"data": {"a": "", "b": "c"}}),
        ("v1 ConfigMap", {"metadata": {"creationTimestamp": None}}, {"metadata": {}}),
        ("v1 ConfigMap", {"unknown": {"a": None}}, {"unknown": {"a": None}}),
        (
            "v1 Pod",
            {"spec": {"containers": [None, {"args": [None, "x"], "ports": None}]}},
            {"spec": {"containers": [{}, {"args": ["", "x"]}]}},
        ),
        (
            "v1 LimitRange",
            {"spec": {"limits": [{"max": {"cpu": None}}]}},
            {"spec": {"limits": [{"max": {"cpu": "0"}}]}},
        ),
        ("example.io/v1 Widget", {"spec": None}, {"spec": None}),
    ],
)
def test_nulls(kind: str, obj: dict[str, Any], cleared: dict[str, Any]) -> None:
    api_version, _, name = kind.partition(" ")
    own = copy.deepcopy(obj)
    clear_nulls(own, api_version, name)
    assert own == cleared
