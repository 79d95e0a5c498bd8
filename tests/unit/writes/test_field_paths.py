"""Paths to parts of an object, and tables of checks by path."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.field_paths import found_at, values_at
from ktui.writes.validation.values.checks import (
    demand,
    different,
    distinct,
    has,
    items,
    listed,
    needed,
    table_of,
)

OBJ: dict[str, Any] = {
    "name": "a",
    "spec": {"ports": [{"port": 80}, None, {"port": 0}], "limits": {"cpu": "1", "x.y": "2"}},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", [("", OBJ)]),
        ("name", [("name", "a")]),
        ("spec.ports[].port", [("spec.ports[0].port", 80), ("spec.ports[2].port", 0)]),
        ("spec.limits{}", [("spec.limits[cpu]", "1"), ("spec.limits[x.y]", "2")]),
        ("spec.ports[].name:text", [("spec.ports[0].name", ""), ("spec.ports[2].name", "")]),
        ("spec.count:number", [("spec.count", 0)]),
        ("status!.phase:text", [("status.phase", "")]),
        ("status.phase:text", []),
        ("name[]", []),
        ("name.first", []),
    ],
)
def test_a_path_leads_to_what_is_there_or_counts_as_empty(path: str, found: list[tuple[str, Any]]) -> None:
    assert list(found_at(OBJ, path)) == found
    assert list(values_at(OBJ, path)) == [value for _, value in found]


def fields(table: Any, obj: Any) -> list[str]:
    return [error.field for error in table.errors(obj)]


def test_errors_come_in_the_order_of_the_rows() -> None:
    bad = demand(lambda _: False, "bad")
    table = table_of(("a[].x", bad), ("a[].y", bad), ("", has("c")), ("a[].z", bad))
    item = {"x": 1, "y": 1, "z": 1}
    # Rows in sequence share a walk over the list.
    together = ["a[0].x", "a[0].y", "a[1].x", "a[1].y"]
    assert fields(table, {"a": [item, item]}) == [*together, "c", "a[0].z", "a[1].z"]


def test_too_many_items_are_not_looked_at() -> None:
    table = table_of(("a", items(2, listed("x"))), ("b", different(2, listed("x", "y"))))
    assert fields(table, {"a": ["x", "z"], "b": ["z", "x"]}) == ["a[1]", "b[0]"]
    assert fields(table, {"a": ["z"] * 3, "b": ["x", "x"]}) == ["a", "b[1]"]


def test_items_that_repeat_a_member_are_errors_at_it() -> None:
    named = distinct("name", table_of(("name:text", needed())), named=True)
    assert fields(table_of(("a", named)), {"a": [{"name": "n"}, {}, {"name": "n"}, {}]}) == [
        "a[1].name",
        "a[2].name",
        "a[3].name",
    ]
    assert fields(table_of(("a", distinct(""))), {"a": ["x", "y", "x"]}) == ["a[2]"]
    assert fields(table_of(("a", distinct("name", field=""))), {"a": [{}, {}]}) == ["a[1]"]
