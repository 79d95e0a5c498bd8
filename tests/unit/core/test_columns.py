"""How columns share the width of a table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ktui.core.table.columns import GAP, Column, fit


def column(name: str, width: int, *, flex: int = 0, priority: int = 1, most: int = 0) -> Column[str]:
    return Column(name, name, lambda row: row, width=width, flex=flex, priority=priority, most=most)


def test_the_least_telling_column_goes_first() -> None:
    columns = [column("a", 10, priority=0), column("b", 10, priority=5), column("c", 10, priority=2)]
    assert [fitted.column.id for fitted in fit(columns, 25)] == ["a", "c"]


def test_what_is_left_goes_to_flexible_columns_within_their_bounds() -> None:
    columns = [column("a", 10, flex=1, most=14), column("b", 10, flex=1)]
    assert [fitted.width for fitted in fit(columns, 61)] == [14, 46]


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=12),
    st.integers(1, 200),
)
def test_a_row_never_is_wider_than_its_table(shapes: list[tuple[int, int, int]], width: int) -> None:
    columns = [column(str(i), w, flex=f, priority=p) for i, (w, f, p) in enumerate(shapes)]
    fitted = fit(columns, width)
    assert sum(part.width for part in fitted) + GAP * (len(fitted) - 1) <= width


def test_luxuries_wait_until_the_others_have_what_they_wish() -> None:
    wishing = Column("a", "a", str, width=10, wish=20, flex=1, priority=0)
    columns = [wishing, column("b", 5, priority=2), column("c", 5, priority=7)]
    assert [fitted.column.id for fitted in fit(columns, 30)] == ["a", "b"]
    assert [fitted.column.id for fitted in fit(columns, 32)] == ["a", "b", "c"]
