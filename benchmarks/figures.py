"""Measured figures, their targets, and the table of both."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reference import KUBE_APISERVER, PODS, SOURCE

# Figure → its upper limit (for events/s the lower limit) at 100,000 pods.
TARGETS: dict[str, float] = {
    "ready, cold": 8,
    "memory when ready": 1200,
    "memory after full LISTs": 1500,
    "LIST all, again": 1200,
    "first byte of LIST all": 50,
    "LIST label, 1/20 match": 80,
    "LIST label, no match": 3,
    "LIST one namespace": 10,
    "LIST one node": 3,
    "LIST one node, rv unset": 3,
    "GET, rv=0": 1.5,
    "GET, rv unset": 1.5,
    "100 watchers": 27_000,
}
_MORE_IS_BETTER = "events/s"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure. `target` overrides TARGETS, for a target that depends on other figures."""

    name: str
    value: float
    unit: str
    note: str = ""
    target: float | None = None

    @property
    def wanted(self) -> float | None:
        return TARGETS.get(self.name) if self.target is None else self.target

    @property
    def met(self) -> bool | None:
        """True if the target is met; None without a target."""
        if self.wanted is None:
            return None
        return self.value >= self.wanted if self.unit == _MORE_IS_BETTER else self.value <= self.wanted

    def ratio(self) -> tuple[float, float] | None:
        """Return how many times better than kube-apiserver this is, from and to; None if unknown."""
        known = KUBE_APISERVER.get(self.name)
        if known is None or not self.value:
            return None
        if self.unit == _MORE_IS_BETTER:
            return self.value / known[1], self.value / known[0]
        return known[0] / self.value, known[1] / self.value


def report(figures: Iterable[Figure], pods: int, load: float) -> str:
    """Return the figures as a Markdown table. `load` is the load average before the measurement."""
    lines = [
        f"{machine()}, load average {load:.1f} beforehand; {pods:,} pods.",
        f"kube-apiserver: {SOURCE}.",
        "",
        f"| {'work':<40} | {'ktui':>16} | {'target':>16} |     | {'kube-apiserver':>21} | {'times':>11} |",
        f"|{'-' * 42}|{'-' * 17}:|{'-' * 17}:|-----|{'-' * 22}:|{'-' * 12}:|",
    ]
    return "\n".join([*lines, *(_row(figure, pods) for figure in figures)])


def machine() -> str:
    """Describe the machine: processor, cores, Python."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _row(figure: Figure, pods: int) -> str:
    wanted, same_size = figure.wanted, pods == PODS
    goal = ("≥ " if figure.unit == _MORE_IS_BETTER else "≤ ") + _number(wanted, figure.unit) if wanted else ""
    mark = {True: "ok", False: "no", None: ""}[figure.met]
    known, ratio = KUBE_APISERVER.get(figure.name), figure.ratio()
    real = _span(known, figure.unit) if known and same_size else ""
    times = _times(ratio) if ratio and same_size else ""
    value = _number(figure.value, figure.unit)
    name = figure.name + (f" ({figure.note})" if figure.note else "")
    return f"| {name:<40} | {value:>16} | {goal:>16} | {mark:<3} | {real:>21} | {times:>11} |"


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def _span(known: tuple[float, float], unit: str) -> str:
    low, high = known
    return _number(low, unit) if low == high else f"{low:,.0f}–{_number(high, unit)}"


def _times(ratio: tuple[float, float]) -> str:
    texts = [f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in ratio]
    return f"{texts[0]}×" if texts[0] == texts[1] else f"{texts[0]}–{texts[1]}×"


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
