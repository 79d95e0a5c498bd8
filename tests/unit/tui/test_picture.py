"""A picture's characters stand in their cells in every renderer."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ktui.tui.looks.themed import portable

CELL = 12.2  # Rich's: 0.61 of the font's 20
SVG = "{http://www.w3.org/2000/svg}"


def drawn(line: str) -> str:
    """What Rich makes of one line."""
    console = Console(file=io.StringIO(), record=True, width=80, legacy_windows=False)
    console.print(line, markup=False, highlight=False, end="")
    return console.export_svg(title="t")


def column_of(text: ElementTree.Element) -> int:
    column = float(text.get("x", "0")) / CELL
    assert abs(column - round(column)) < 1e-6, "between two cells"
    return round(column)


def texts(svg: str) -> list[tuple[int, str]]:
    """Column and text of each element of the terminal."""
    elements = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [
        (column_of(each), (each.text or "").replace("\xa0", " "))
        for each in elements
        if each.get("textLength") and (each.text or "").strip("\n")
    ]


@given(st.text("ab&<>=!-/ ⣿⠁▸▾↑│é漢", min_size=1, max_size=30).filter(str.strip))
def test_every_character_keeps_its_cell(line: str) -> None:
    row = [" "] * 80
    for column, text in texts(portable(drawn(line))):
        for character in text:
            row[column : column + cell_len(character)] = [character, *[""] * (cell_len(character) - 1)]
            column += cell_len(character)
    assert "".join(row).rstrip() == line.rstrip()


def test_strange_and_joining_characters_stand_alone() -> None:
    assert texts(portable(drawn("a⣿⣿b"))) == [(0, "a"), (1, "⣿"), (2, "⣿"), (3, "b")]
    assert [text for _, text in texts(portable(drawn("tier!=db")))] == ["tier", "!", "=db"]


def test_each_column_of_a_table_has_its_place() -> None:
    assert texts(portable(drawn("kubelet   12  9.3 MB"))) == [(0, "kubelet"), (10, "12"), (14, "9.3 MB")]


def test_other_texts_are_left_alone() -> None:
    svg = drawn("plain words, é")
    width = svg.replace("font-size: 20px", "font-size: 19.825px", 1)
    assert portable(svg) == width.replace(" viewBox", ' xml:space="preserve" viewBox', 1) != svg
