"""The table: one line a figure, printed as soon as it is known."""

from __future__ import annotations

from benchmarks.figures import Figure

HEAD = (
    f"| {'what':<44} | {'measured':>17} | {'target':>17} |     | {'load':>4} | {'beside it':<44} |\n"
    f"|{'-' * 46}|{'-' * 18}:|{'-' * 18}:|-----|{'-' * 5}:|{'-' * 46}|"
)


def row(figure: Figure, load: float) -> str:
    """`load`: the load average when the figure was taken."""
    goal = f"≤ {_number(figure.wanted, figure.unit)}" if figure.wanted is not None else ""
    mark = {True: "ok", False: "no", None: ""}[figure.met]
    value = _number(figure.value, figure.unit)
    return f"| {figure.name:<44} | {value:>17} | {goal:>17} | {mark:<3} | {load:>4.1f} | {figure.note:<44} |"


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
