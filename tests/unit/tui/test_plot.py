"""Columns of dots in braille, blocks and ASCII."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.tui.charts.chart import SPAN, span_for
from ktui.tui.charts.plot import Runs, Series, columns_in, mirrored, round_top, stacked
from ktui.tui.looks.symbols import Symbols

EVERY = list(Symbols)
VALUES = st.lists(st.floats(0, 1_000), min_size=1, max_size=40)


def texts(rows: list[Runs]) -> list[str]:
    return ["".join(text for text, _ in runs) for runs in rows]


@pytest.mark.parametrize(
    ("symbols", "drawn"),
    [(Symbols.BRAILLE, ["⢀⣇"]), (Symbols.BLOCK, [" ▂█▂"]), (Symbols.ASCII, [" ###"])],
)
def test_one_line(symbols: Symbols, drawn: list[str]) -> None:
    values = [0.0, 1.0, 4.0, 0.9]
    width = 2 if symbols is Symbols.BRAILLE else 4
    assert texts(stacked([Series("#", "", values)], 4.0, width, 1, symbols)) == drawn


def test_stacked_series_have_their_colours_and_letters() -> None:
    series = [Series("C", "c", [2, 0]), Series("E", "e", [2, 1]), Series("!", "x", [0, 0.01], loud=True)]
    assert texts(stacked(series, 4.0, 2, 4, Symbols.ASCII)) == ["E ", "E ", "C!", "CE"]
    # In one cell the error's colour goes before that of the many.
    assert stacked(series, 4.0, 1, 1, Symbols.BRAILLE) == [[("⣧", "x")]]


def test_two_series_hang_from_one_line() -> None:
    up, down = Series("#", "u", [4, 2]), Series("E", "d", [2, 4])
    assert texts(mirrored(up, down, 4.0, 1, 2, Symbols.BRAILLE)) == ["⣧", "⢻"]
    assert texts(mirrored(up, down, 4.0, 2, 2, Symbols.BLOCK)) == ["█▄", "▀█"]
    assert texts(mirrored(up, down, 4.0, 2, 2, Symbols.ASCII)) == ["##", "EE"]


@given(VALUES, VALUES, st.sampled_from(EVERY), st.integers(1, 6))
def test_any_value_shows_and_no_line_is_too_long(
    first: list[float], second: list[float], symbols: Symbols, height: int
) -> None:
    count = min(len(first), len(second))
    width = -(-count // columns_in(1, symbols)) + 2
    series = [Series("a", "a", first[:count]), Series("b", "b", second[:count])]
    top = round_top(max(map(sum, zip(first, second, strict=False))))
    rows = texts(stacked(series, top, width, height, symbols))
    assert len(rows) == height and all(len(row) == width for row in rows)
    shown = [place for place in range(count) if first[place] + second[place] > 0]
    for place in shown:
        cell = rows[-1][2 + place // columns_in(1, symbols)]
        assert cell != " "
    assert bool(shown) == any(row.strip() for row in rows)


@given(st.floats(0, 1e12), st.sampled_from([1.0, 1000.0]))
def test_an_axis_ends_at_a_round_number_that_holds_all(value: float, least: float) -> None:
    top = round_top(value, least)
    assert top >= value and top >= least and top <= max(least, value * 2.5)
    assert f"{top:.0e}"[0] in "125" and float(f"{top:.0e}") == top


@given(st.integers(1, 300), st.sampled_from(EVERY))
def test_a_chart_shows_a_minute_where_it_can(cells: int, symbols: Symbols) -> None:
    step, columns = span_for(cells, symbols)
    assert columns == columns_in(cells, symbols)
    assert step * columns >= SPAN or step == 60
    assert step * columns <= 600  # what the history keeps
