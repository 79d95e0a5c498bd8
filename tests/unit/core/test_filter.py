"""The grammar behind `/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ktui.core.table.arrange.arranger import Arranger
from ktui.core.table.columns import Column
from ktui.core.table.filter import FilterError, parse_filter
from ktui.core.table.filter_assist import assist


class Row(NamedTuple):
    route: str
    ms: float
    client: str


def field_of(name: str, value: Callable[[Any], Any], title: str = "", **more: Any) -> Column[Any]:
    return Column(name, title, str, value, **more)


COLUMNS = {
    "route": field_of("route", lambda r: r.route),
    "ms": field_of("ms", lambda r: r.ms, unit="ms"),
    "client": field_of("client", lambda r: r.client, title="who"),
}
ROWS = (Row("E etcd", 38.0, "cilium-agent"), Row("C cache", 0.4, "kubelet"), Row("E etcd", 6.0, "kubectl"))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", (0, 1, 2)),
        ("route:E", (0, 2)),
        ("route:etc", (0, 2)),
        ("ms>10", (0,)),
        ("ms<=6", (1, 2)),
        ("client~cil", (0,)),
        ("client=kubelet", (1,)),
        ("client!=kubelet", (0, 2)),
        ("!route:E", (1,)),
        ("KUBE", (1, 2)),
        ("route:E ms>10 client~cilium", (0,)),
        ("ms>1k", ()),
        ("'E etcd' kube", (2,)),
        ("who~kube", (1, 2)),
        ("ms>0.01s", (0,)),
        ("client~/^kube.+[lt]$/", (1, 2)),
        ("~/agent$/", (0,)),
        ("!~/agent$/", (1, 2)),
        ("client~/", ()),
    ],
)
def test_rows_kept(text: str, kept: tuple[int, ...]) -> None:
    chosen = parse_filter(text, COLUMNS)
    assert tuple(index for index, row in enumerate(ROWS) if chosen.matches(row)) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("foo:E", "no column 'foo': route ms client"),
        ("rout:E", "no column 'rout', did you mean route"),
        ("ms>fast", "a number, such as 10, 300ms"),
        ("'open", "quote"),
        ("client~/[/", "is not a regular expression"),
        ("client:", "client: needs a value"),
        ("ms>", "a number, such as 10, 300ms"),
    ],
)
def test_what_makes_no_sense_says_why(text: str, says: str) -> None:
    with pytest.raises(FilterError, match=says):
        parse_filter(text, COLUMNS)


def test_a_path_is_a_word() -> None:
    rows = [Row("E", 1.0, "/api/v1/pods?limit=500")]
    assert parse_filter("/api/v1/pods?limit=500", COLUMNS).matches(rows[0])


def test_terms_of_another_table_wait() -> None:
    chosen = parse_filter("verb:LIST kube", COLUMNS, carried={"verb:LIST"})
    assert [row.client for row in ROWS if chosen.matches(row)] == ["kubelet", "kubectl"]
    assert chosen.idle == {"verb:LIST"}
    assert chosen.foreign == ("verb",)
    assert not parse_filter("verb:LIST", COLUMNS, carried={"verb:LIST"})


def test_a_carried_term_that_fits_another_kind_of_column_waits_too() -> None:
    waits = parse_filter("client>x kube", COLUMNS, carried={"client>x"})
    assert (waits.idle, waits.foreign) == ({"client>x"}, ())


def test_a_column_goes_by_its_aliases_too() -> None:
    fields = {"max": field_of("max", lambda row: row.ms, unit="ms", aliases=("ms",))}
    chosen = parse_filter("ms>10", fields)
    assert [row.client for row in ROWS if chosen.matches(row)] == ["cilium-agent"]
    assert [each.text for each in assist("ms", fields, ROWS).suggestions] == ["max>"]


@pytest.mark.parametrize(
    ("wider", "narrower", "narrows"),
    [
        ("po", "pod", True),
        ("pod", "po", False),
        ("client~k", "client~ku ms>3", True),
        ("ms>1", "ms>10", False),
        ("!po", "!pod", False),
        ("", "pod", False),
        ("client~/a/", "client~/ab/", False),
    ],
)
def test_what_hides_no_less(wider: str, narrower: str, narrows: bool) -> None:
    assert parse_filter(narrower, COLUMNS).narrows(parse_filter(wider, COLUMNS)) is narrows


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        # A column's term says nothing before its value.
        ("client:", (0, 1, 2)),
        ("client~", (0, 1, 2)),
        ("client=", (0, 1, 2)),
        ("client!", (0, 1, 2)),
        ("client!=", (0, 1, 2)),
        ("!client:", (0, 1, 2)),
        ("who:", (0, 1, 2)),
        ("route:E ms>", (0, 2)),
        ("route:E ms>=", (0, 2)),
        ("route:E ms>-", (0, 2)),
        ("route:E ms>.", (0, 2)),
        ("route:E ms>6.", (0,)),
        ("route:E client", (0, 2)),
        # What may still become something else counts where a row has it …
        ("cli", (0, 1, 2)),
        ("rout", (0, 1, 2)),
        ("wh", (0, 1, 2)),
        ("c", (0, 1, 2)),
        ("e", (0, 1, 2)),
        ("!client", (0, 1, 2)),
        ("~/kube", (0, 1, 2)),
        ("client~/kube", (0, 1, 2)),
        # … and plain words always do.
        ("cil", (0,)),
        ("etcd", (0, 2)),
        ("kubez", ()),
        ("'cli'", ()),
        ("cli ", ()),
        ("cli kube", ()),
        ("client~/kube/", (1, 2)),
        # Half of nothing.
        ("!", (0, 1, 2)),
        ("~", (0, 1, 2)),
        ('client:"kub', (0, 1, 2)),
        ("'E etcd", (0, 1, 2)),
    ],
)
def test_half_a_term_does_not_empty_the_table(typed: str, kept: tuple[int, ...]) -> None:
    arranger = Arranger[Row]()
    arranger.set_rows(ROWS)
    arranger.set_filter(parse_filter(typed, COLUMNS, typing=True))
    assert arranger.work(1)
    assert tuple(ROWS.index(row) for row in arranger.rows) == kept


@pytest.mark.parametrize(("typed", "kept"), [("cli", ()), ("client", ()), ("~/kube", ())])
def test_entered_it_counts_as_it_stands(typed: str, kept: tuple[int, ...]) -> None:
    chosen = parse_filter(typed, COLUMNS)
    assert not chosen.tentative
    assert tuple(index for index, row in enumerate(ROWS) if chosen.matches(row)) == kept


def test_a_term_that_waits_or_is_set_aside_is_idle() -> None:
    waits = parse_filter("route:E ms>", COLUMNS, typing=True)
    assert waits.idle == {"ms>"} and waits.narrows(parse_filter("route:E", COLUMNS))
    aside = parse_filter("route:E cli", COLUMNS, typing=True).otherwise
    assert aside.idle == {"cli"} and aside.aside is not None and aside.aside.text == "cli"
    assert len(aside.tests) == 1 and not aside.tentative


@pytest.mark.parametrize(
    ("text", "kept"), [("none", 0), ("ms<1", 0), ("ms=", 1), ("!ms>0", 1), ("ms~/None/", 0)]
)
def test_a_value_that_is_not_known_is_no_text_and_no_number(text: str, kept: int) -> None:
    row = Row("W", None, "kubelet")  # type: ignore[arg-type]
    assert parse_filter(text, COLUMNS).matches(row) == bool(kept)
