"""The result of sending a LIST: measured next to predicted, and compared with another result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.core.format import integer, long_bytes
from ktui.core.lab.figures import NOTHING, Comparison, Figures, compare
from ktui.core.lab.form import ListForm
from ktui.core.lab.measured import Measured
from ktui.core.lab.trial import Trial

# What `LabResult.spent` counts.
_SPENT = (("bytes processed", long_bytes), ("etcd requests", integer), ("bytes received", long_bytes))


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `measured` None: no answer (yet); `error` says why there is none.

    `server` is the kubeconfig's context that it was sent to, "" for ktui's own server; `at` the
    time (Unix seconds). `baseline` is the number of the result of which this is a cheaper variant,
    0 for none. `previous`: of another server or a previous run of the dashboard, so that it cannot
    be compared with what is sent now. `trial` compares it with the baseline: `measured` then is the
    median of several runs.
    """

    number: int
    label: str
    path: str
    form: ListForm
    predicted: Figures = NOTHING
    server: str = ""
    at: float = 0.0
    baseline: int = 0
    measured: Measured | None = None
    error: str = ""
    pending: bool = False
    previous: bool = False
    trial: Trial | None = None

    @property
    def status(self) -> int:
        return self.measured.status if self.measured is not None else 0

    @property
    def ok(self) -> bool:
        """True if the requested objects were received; a WATCH can fail after its 200."""
        return self.status == 200 and not self.problem

    @property
    def problem(self) -> str:
        """Why there is no answer, or the server's error."""
        return self.error or (self.measured.message if self.measured is not None else "")

    @property
    def route(self) -> str:
        """The measured route: cache | etcd | none; "" if unknown."""
        return self.measured.route if self.measured is not None else ""

    @property
    def bytes(self) -> int:
        """Bytes received, after decompression."""
        return self.measured.body_bytes if self.measured is not None else 0

    @property
    def ms(self) -> float:
        return self.measured.total_ms if self.measured is not None else 0.0

    @property
    def processed(self) -> int:
        """Bytes that the control plane processed; 0 if unknown."""
        return (self.measured.processed_bytes or 0) if self.measured is not None else 0

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every predicted figure next to the measured one."""
        if self.measured is None or not self.predicted.route:
            return ()
        return tuple(compare(self.predicted, self.measured))

    @property
    def surprises(self) -> tuple[str, ...]:
        """The names of the figures that differ from their prediction."""
        return tuple(each.name for each in self.comparisons if each.verdict == "≠")

    @property
    def spent(self) -> tuple[int, int, int] | None:
        """Counted figures that decide which of several variants is the cheapest; None if unknown."""
        if self.measured is None or not self.ok or self.measured.processed_bytes is None:
            return None
        rpcs = self.measured.counters.get("etcd_rpcs", 0)
        return self.measured.processed_bytes, rpcs, self.measured.body_bytes

    def count(self, name: str) -> int | None:
        """Return a counter of the server's cost report; None if unknown."""
        return self.measured.counters.get(name) if self.measured is not None else None


def winner_text(results: Sequence[LabResult]) -> str:
    """Name the cheapest of variants that were sent once each; the first is the original. "" if unknown.

    Only variants that select the same objects in the same form compete, if as many were returned. Counted
    figures decide; times of single runs do not.
    """
    if len(results) < 2 or (original := results[0]).measured is None or original.spent is None:
        return ""
    rivals = [
        each
        for each in results
        if each.measured is not None
        and each.spent is not None
        and each.measured.items == original.measured.items
        and _wanted(each.form) == _wanted(original.form)
    ]
    best = min((each.spent for each in rivals if each.spent is not None), key=_rounded)
    winners = [each for each in rivals if each.spent is not None and _rounded(each.spent) == _rounded(best)]
    if original in winners:
        others = (
            "" if len(winners) < 2 else f"; {', '.join(each.label for each in winners[1:])} cost the same"
        )
        return f"none of these is cheaper than {original.label}{others}"
    saved = [
        f"{noun} {text(before)} → {text(after)}"
        for (noun, text), before, after in zip(_SPENT, original.spent, best, strict=True)
        if _two_digits(after) < _two_digits(before)
    ]
    return f"winner: {', '.join(each.label for each in winners)} ({', '.join(saved)})"


def _wanted(form: ListForm) -> tuple[str, ...]:
    return form.accept, form.namespace, form.label_selector, form.field_selector


def _rounded(spent: tuple[int, int, int]) -> tuple[float, ...]:
    return tuple(map(_two_digits, spent))


def _two_digits(figure: int) -> float:
    """Round a figure: collections change between two requests."""
    return float(f"{figure:.1e}")
