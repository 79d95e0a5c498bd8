"""Filtering and sorting that keep what they know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.core.table.arrange.arranger import PATIENCE, Arranger
from ktui.core.table.arrange.order import SortKey
from ktui.core.table.columns import Column
from ktui.core.table.filter import parse_filter


@dataclass(eq=False)
class Row:
    name: str
    ms: float


class Counting:
    """A field whose reads are counted."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self, row: Row) -> float:
        self.reads += 1
        return row.ms


def field_of(name: str, value: Callable[[Any], Any], title: str = "", **more: Any) -> Column[Any]:
    return Column(name, title, str, value, **more)


FIELDS = {"name": field_of("name", lambda row: row.name), "ms": field_of("ms", lambda row: row.ms)}
BY_MS: SortKey[Row] = SortKey(lambda row: row.ms, descending=True)
BY_NAME: SortKey[Row] = SortKey(lambda row: row.name)


def made(number: int) -> list[Row]:
    return [Row(f"row-{index % 7}", float(index * 7919 % 100)) for index in range(number)]


def arranged(rows: list[Row], text: str, keys: list[SortKey[Row]]) -> list[Row]:
    """The same by the plain way."""
    chosen = parse_filter(text, FIELDS)
    found = [row for row in rows if chosen.matches(row)]
    for key in reversed(keys):
        found.sort(key=key.value, reverse=key.descending)
    return found


edits = st.lists(
    st.tuples(
        st.sampled_from(["append", "drop", "replace", "prepend", "remove", "shuffle"]), st.integers(1, 9)
    ),
    max_size=12,
)


@given(
    st.integers(0, 60),
    edits,
    st.sampled_from(["", "ms>50", "row-3", "!row-3 ms<80"]),
    st.sampled_from([[], [BY_MS], [BY_NAME, BY_MS], [BY_MS, BY_NAME]]),
)
def test_rows_that_come_and_go_end_where_a_fresh_sort_puts_them(
    size: int, steps: list[tuple[str, int]], text: str, keys: list[SortKey[Row]]
) -> None:
    rows, arranger = made(size), Arranger[Row]()
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter(text, FIELDS))
    arranger.set_keys(keys)
    arranger.work(inf)
    for what, much in steps:
        rows = changed(rows, what, much)
        arranger.set_rows(rows)
        assert arranger.work(inf)
        assert list(arranger.rows) == arranged(rows, text, keys)


def changed(rows: list[Row], what: str, much: int) -> list[Row]:
    match what:
        case "append":
            return [*rows, *made(much)]
        case "prepend":
            return [*made(much), *rows]
        case "drop":
            return rows[much:]
        case "remove":
            return [row for index, row in enumerate(rows) if index % 11 != much]
        case "shuffle":
            return rows[::-1]
    return [Row(row.name, row.ms + much) if index % 10 == much else row for index, row in enumerate(rows)]


def test_only_new_rows_are_tested() -> None:
    reads = Counting()
    arranger = Arranger[Row]()
    rows = made(5_000)
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter("ms>50", {"ms": field_of("ms", reads)}))
    arranger.work(inf)
    reads.reads = 0
    arranger.set_rows([*rows[3:2000], Row("new", 51.0), *rows[2001:], *made(10)])
    assert arranger.work(inf)
    assert reads.reads == 11


def test_only_new_rows_are_put_in_order() -> None:
    reads = Counting()
    arranger = Arranger[Row]()
    rows = made(1_000)
    arranger.set_rows(rows)
    arranger.set_keys([SortKey(reads)])
    arranger.work(inf)
    reads.reads = 0
    arranger.set_rows([*rows[1:], Row("new", 51.5)])
    arranger.work(inf)
    assert reads.reads == 2  # of the one that has gone, and of the one that came
    assert [row.name for row in arranger.rows if row.ms == 51.5] == ["new"]


def test_typing_on_tests_only_what_still_shows() -> None:
    reads = Counting()
    fields = {"name": field_of("name", lambda row: (reads(row), row.name)[1])}
    arranger = Arranger[Row]()
    arranger.set_rows(made(700))
    for text, tested in (("row", 700), ("row-3", 700), ("row-33", 100)):
        reads.reads = 0
        arranger.set_filter(parse_filter(text, fields))
        arranger.work(inf)
        assert reads.reads == tested


def test_much_work_is_done_in_steps_and_shows_what_it_has_found() -> None:
    ticks = count()
    arranger = Arranger[Row](clock=lambda: next(ticks))
    rows = made(20_000)
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter("ms>=50", FIELDS))
    assert not arranger.work(1)
    found = len(arranger.rows)
    assert 0 < found < 10_000 and 0 < arranger.progress < 1
    while not arranger.work(1):
        assert len(arranger.rows) >= found
    assert list(arranger.rows) == arranged(rows, "ms>=50", [])


class Clock:
    """Moves on by a step at each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_the_old_rows_stay_until_a_screenful_is_found() -> None:
    clock = Clock(step=PATIENCE / 1_000)
    arranger = Arranger[Row](clock)
    rows = [*made(10_000), Row("rare", 1.0)]
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter("rare", FIELDS))
    while not arranger.work(0.0):
        assert arranger.rows is rows and not arranger.lasts
    assert arranger.rows == rows[-1:]


def test_who_waits_for_long_is_told_and_shown_what_there_is() -> None:
    arranger = Arranger[Row](Clock(step=PATIENCE / 10))
    rows = [Row("rare", 1.0), *made(10_000)]
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter("rare", FIELDS))
    shown = []
    while not arranger.work(0.0):
        shown.append((arranger.lasts, len(arranger.rows)))
    assert shown[0] == (False, 10_001) and shown[-1] == (True, 1)


def test_new_rows_alone_delay_no_frame() -> None:
    clock = Clock(step=PATIENCE)
    arranger = Arranger[Row](clock)
    arranger.set_rows(made(1_000))
    arranger.set_filter(parse_filter("ms>=0", FIELDS))
    while not arranger.work(10 * PATIENCE):
        pass
    arranger.set_rows(made(2_000))
    assert not arranger.work(0.0) and arranger.busy and not arranger.lasts


def test_a_term_that_no_row_has_is_set_aside_without_an_empty_moment() -> None:
    arranger = Arranger[Row](Clock(step=1.0))
    rows = made(3_000)
    arranger.set_rows(rows)
    arranger.set_keys([BY_MS])
    while not arranger.work(0.0):
        pass
    arranger.set_filter(parse_filter("row-3 nam", FIELDS, typing=True))
    while not arranger.work(0.0):
        assert arranger.rows
    assert arranger.filter.aside is not None
    assert list(arranger.rows) == arranged(rows, "row-3", [BY_MS])
    rows = [*rows[5:], *made(3)]
    arranger.set_rows(rows)
    while not arranger.work(1.0):
        pass
    assert list(arranger.rows) == arranged(rows, "row-3", [BY_MS])


def test_rows_that_come_too_fast_are_arranged_once_and_the_newest_win() -> None:
    ticks = count()
    arranger = Arranger[Row](clock=lambda: next(ticks))
    arranger.set_rows(made(20_000))
    arranger.set_filter(parse_filter("ms>=0", FIELDS))
    arranger.work(0)
    newest = made(3_000)
    for rows in (made(20_000), made(20_000), newest):
        arranger.set_rows(rows)
    while not arranger.work(0):
        pass
    assert arranger.coalesced == 2
    assert list(arranger.rows) == newest


@pytest.mark.parametrize("descending", [False, True])
def test_values_of_several_kinds_have_an_order_too(descending: bool) -> None:
    rows = [Row("a", 3.0), Row("b", 1.0), Row("c", 2.0)]
    arranger = Arranger[Row]()
    arranger.set_rows(rows)
    arranger.set_keys([SortKey(lambda row: row.name if row.name == "b" else row.ms, descending)])
    arranger.work(inf)
    arranger.set_rows([*rows, Row("d", 2.5)])
    arranger.work(inf)
    names = "".join(row.name for row in arranger.rows)
    assert names == ("badc" if descending else "cdab")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("texts", [False, True])
def test_rows_without_a_value_are_the_last_whichever_way_one_sorts(descending: bool, texts: bool) -> None:
    def value(row: Row) -> Any:
        if row.ms < 0:
            return None
        return f"{row.ms:05.1f}" if texts else row.ms

    rows = [Row("open", -1.0), Row("b", 1.0), Row("open", -2.0), Row("c", 2.0)]
    arranger = Arranger[Row]()
    arranger.set_rows(rows)
    arranger.set_keys([SortKey(value, descending)])
    arranger.work(inf)
    values = [row.ms for row in arranger.rows]
    assert values == ([2.0, 1.0, -1.0, -2.0] if descending else [1.0, 2.0, -1.0, -2.0])
    assert arranger.absent == 2
    arranger.set_rows([*rows[1:], Row("open", -3.0), Row("d", 1.5)])
    arranger.work(inf)
    values = [row.ms for row in arranger.rows]
    assert values == ([2.0, 1.5, 1.0, -2.0, -3.0] if descending else [1.0, 1.5, 2.0, -2.0, -3.0])
    assert arranger.absent == 2


def test_what_failed_before_says_nothing_of_rows_that_waited() -> None:
    arranger = Arranger[Row](Clock(step=1.0))
    arranger.set_rows(made(1_000))
    arranger.set_filter(parse_filter("row-3", FIELDS))
    arranger.work(0.0)
    rows = made(1_000)[::-1]  # as many, in other places
    arranger.set_rows(rows)
    arranger.set_filter(parse_filter("row-3 ms>50", FIELDS))
    while not arranger.work(0.0):
        pass
    assert list(arranger.rows) == arranged(rows, "row-3 ms>50", [])
