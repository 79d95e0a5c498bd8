"""The result of sending a LIST: measured next to predicted, and compared with another result."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.core.format import long_bytes, milliseconds
from ktui.core.lab.figures import NOTHING, Comparison, Figures, compare
from ktui.core.lab.form import ListForm
from ktui.core.lab.measured import Measured

NOTICEABLE = 0.01  # a smaller share of bytes saved does not count
QUICKER = 0.8  # of the time: a smaller difference may be due to the machine
WORTH_TELLING = 1_000  # bytes: the 27 of a revision probe are not a saving


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `measured` None: no answer (yet), `error` says why.

    `server` is the kubeconfig's context that it was sent to, "" for ktui's own server; `at` the
    time (Unix seconds). `baseline` is the number of the result of which this is a cheaper variant,
    0 for none. `previous`: of another server or a previous run of the dashboard, so that it cannot
    be compared with what is sent now.
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

    @property
    def status(self) -> int:
        return self.measured.status if self.measured is not None else 0

    @property
    def ok(self) -> bool:
        """Answered with what was asked for; a WATCH may fail behind its 200."""
        return self.status == 200 and not self.problem

    @property
    def problem(self) -> str:
        """Why there is no answer, or the server's error."""
        return self.error or (self.measured.message if self.measured is not None else "")

    @property
    def route(self) -> str:
        """Public route as measured; "" if unknown."""
        return self.measured.route if self.measured is not None else ""

    @property
    def bytes(self) -> int:
        """Received, after decompression."""
        return self.measured.body_bytes if self.measured is not None else 0

    @property
    def ms(self) -> float:
        return self.measured.total_ms if self.measured is not None else 0.0

    @property
    def processed(self) -> int:
        """Bytes that the control plane processed, 0 where that is not known."""
        return (self.measured.processed_bytes or 0) if self.measured is not None else 0

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every predicted figure next to the measured one."""
        if self.measured is None or not self.predicted.route:
            return ()
        return tuple(compare(self.predicted, self.measured))

    @property
    def surprises(self) -> tuple[str, ...]:
        """The figures that differ from their prediction."""
        return tuple(each.name for each in self.comparisons if each.verdict == "≠")

    def count(self, name: str) -> int | None:
        """A counter of the server's account; None while it is not known."""
        return self.measured.counters.get(name) if self.measured is not None else None


def saving(before: Measured, after: Measured) -> str:
    """`−100 % etcd bytes (17.9 MB → 90 B), −80 % received (…), −99 % held (…), 38 ms → 1 ms`."""
    parts = [_share(*pair) for pair in _pairs(before, after)]
    parts.append(f"{milliseconds(before.total_ms)} ms → {milliseconds(after.total_ms)} ms")
    return ", ".join(part for part in parts if part)


def saves(before: Measured, after: Measured) -> bool:
    """True if any figure is smaller: a variant that is cheaper by the rules may not be in one run."""
    smaller = any(now < then and _share(what, then, now) for what, then, now in _pairs(before, after))
    return smaller or after.total_ms < QUICKER * before.total_ms


def _pairs(before: Measured, after: Measured) -> list[tuple[str, int, int]]:
    """The figures in bytes that were measured for both."""
    pairs = (
        ("etcd bytes", before.counters.get("etcd_bytes"), after.counters.get("etcd_bytes")),
        ("bytes processed", before.processed_bytes, after.processed_bytes),
        ("received", before.body_bytes, after.body_bytes),
        ("held", _held(before), _held(after)),
    )
    return [(what, then, now) for what, then, now in pairs if then and now is not None]


def _held(measured: Measured) -> int | None:
    return measured.memory.peak_held if measured.memory is not None else None


def _share(what: str, before: int, after: int) -> str:
    if max(before, after) < WORTH_TELLING or abs(after - before) < NOTICEABLE * before:
        return ""
    share = (after - before) / before
    sign, size = ("−", -share) if share < 0 else ("+", share)
    shown = f"{size * 100:.1f}".rstrip("0").rstrip(".") if 0.99 < size < 1 else f"{size * 100:.0f}"
    return f"{sign}{shown}% {what} ({long_bytes(before)} → {long_bytes(after)})"
