"""What the filter line offers while one types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ktui.core.table.columns import Column
from ktui.core.table.filter import terms_of
from ktui.core.table.filter_assist import assist, ignored_hint


class Row(NamedTuple):
    route: str
    ms: float
    client: str


def field_of(name: str, value: Callable[[Any], Any], title: str = "", **more: Any) -> Column[Any]:
    return Column(name, title, str, value, **more)


FIELDS = {
    "route": field_of("route", lambda r: r.route, known=("C", "S", "E")),
    "ms": field_of("ms", lambda r: r.ms, unit="ms"),
    "client": field_of("client", lambda r: r.client, about="who asks"),
}
ROWS = [Row("E etcd", 38.0, "cilium agent"), Row("C cache", 0.4, "kubelet"), Row("C cache", 6.0, "kubelet")]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", []),
        ("r", ["route:"]),
        ("m", ["ms>"]),
        ("route:E ", []),
        ("route:E cl", ["route:E client:"]),
        ("!cl", ["!client:"]),
        ("client:", ["client:kubelet", 'client:"cilium agent"']),
        ("client:c", ['client:"cilium agent"']),
        ("route:", ["route:C", "route:S", "route:E"]),
        ("ms>", []),
        ("cli~ku", ["client:"]),
        ("xyz", []),
    ],
)
def test_offers(typed: str, offered: list[str]) -> None:
    assert [each.text for each in assist(typed, FIELDS, ROWS).suggestions] == offered


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("", "route ms client"),
        ("ms>", "0.40 to 38 ms here; write 10, 300ms, 2s"),
        ("client:z", "no value of client starts with this"),
        ("~/a/", "in any column"),
        ("ms!", "!= and what it is not"),
        ("!", "negates the next term"),
        ("'E et", "a quote is not closed"),
        ('client:"cil', "a quote is not closed"),
    ],
)
def test_hints(typed: str, hint: str) -> None:
    assert hint in assist(typed, FIELDS, ROWS).hint


def test_values_are_told_with_their_rows() -> None:
    offered = assist("route:", FIELDS, ROWS).suggestions
    assert [(each.label, each.about) for each in offered] == [
        ("C", "2 rows"),
        ("S", "0 rows"),
        ("E", "1 row"),
    ]


def test_no_rows_no_values() -> None:
    assert assist("client:", FIELDS, []).suggestions == ()


@pytest.mark.parametrize(
    ("term", "hint"),
    [
        ("cli", "cli matches no row; name a column: client:"),
        ("!ms", "!ms matches no row; name a column: ms:"),
        ("~/kub", "~/kub matches no row: end it with / for a regular expression"),
    ],
)
def test_a_term_that_was_set_aside_is_explained(term: str, hint: str) -> None:
    assert ignored_hint(terms_of(term)[0], FIELDS) == hint


def test_a_column_of_numbers_is_known_by_the_rows_that_have_one() -> None:
    unfinished = [*ROWS, Row("W", None, "kubelet")]  # type: ignore[arg-type]
    assert [each.label for each in assist("m", FIELDS, unfinished).suggestions] == ["ms>"]
