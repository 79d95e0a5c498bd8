"""What takes the space in a stored value: field, share, bytes."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.contract.etcd import FieldSize
from ktui.core.format import integer, percent
from ktui.core.object_lines import Line, TextSpan
from ktui.tui.charts.bars import bar

_BAR = 8  # cells of a bar for 100%


def heaviest(sizes: Sequence[FieldSize]) -> FieldSize | None:
    """Return the largest second-level field (`metadata.managedFields`); None if there is none."""
    return max((field for field in sizes if "." in field.path), key=lambda field: field.size, default=None)


def size_lines(sizes: Sequence[FieldSize], total: int) -> list[Line]:
    """Return lines with the fields by size, each followed by its inner fields, and the total."""
    lines: list[Line] = []
    for field in sizes:
        if "." in field.path:
            continue
        lines.append(_line(field, field.path, ""))
        below = [inner for inner in sizes if inner.path.startswith(f"{field.path}.")]
        lines += [_line(inner, inner.path.removeprefix(f"{field.path}."), "  ") for inner in below]
    lines.append((TextSpan(f"{'':>4} {'':{_BAR}} {integer(total):>9}  stored", "dim"),))
    return lines


def _line(field: FieldSize, name: str, indent: str) -> Line:
    drawn = bar(field.share, _BAR)
    return (
        TextSpan(f"{percent(field.share):>4} ", "number" if not indent else "dim"),
        TextSpan(drawn, "literal" if not indent else "dim"),
        TextSpan(" " * (_BAR - len(drawn)), "plain"),
        TextSpan(f" {integer(field.size):>9}  ", "plain" if not indent else "dim"),
        TextSpan(indent + name, "key" if not indent else "plain"),
    )
