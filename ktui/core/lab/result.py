"""What firing a LIST has shown: one row a form, measured beside what was foreseen."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.core.format import long_bytes, milliseconds
from ktui.core.lab.figures import NOTHING, Comparison, Figures, compare
from ktui.core.lab.form import ListForm
from ktui.core.lab.measured import Measured

NOTICEABLE = 0.01  # a smaller share of bytes saved is none
QUICKER = 0.8  # of the time: what is less of a difference is the machine's
WORTH_TELLING = 1_000  # bytes: all of the 27 that a revision probe reads is no saving


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `measured` None: no answer (yet), `error` says why.

    `server` is the kubeconfig's context that it was fired at, "" for ktui's own server;
    `at` the time (Unix seconds). `dear` is the number of the result whose cheaper form
    this one is, 0 for none. `past`: of an earlier server or from an earlier life of the dashboard,
    so that it is not to be compared with what is fired now.
    """

    number: int
    label: str
    path: str
    form: ListForm
    foreseen: Figures = NOTHING
    server: str = ""
    at: float = 0.0
    dear: int = 0
    measured: Measured | None = None
    error: str = ""
    pending: bool = False
    past: bool = False

    @property
    def status(self) -> int:
        return self.measured.status if self.measured is not None else 0

    @property
    def ok(self) -> bool:
        """Answered with what was asked for; a WATCH may fail behind its 200."""
        return self.status == 200 and not self.problem

    @property
    def problem(self) -> str:
        """Why there is no answer, or what the server said instead."""
        return self.error or (self.measured.message if self.measured is not None else "")

    @property
    def route(self) -> str:
        """Public route as measured; "" when nothing tells."""
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
        """Bytes that the control plane took in hand, 0 where that is not known."""
        return (self.measured.processed_bytes or 0) if self.measured is not None else 0

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every figure that was foreseen beside the measured one."""
        if self.measured is None or not self.foreseen.route:
            return ()
        return tuple(compare(self.foreseen, self.measured))

    @property
    def surprises(self) -> tuple[str, ...]:
        """The figures that came out otherwise than foreseen."""
        return tuple(each.name for each in self.comparisons if each.verdict == "≠")

    def count(self, name: str) -> int | None:
        """A counter of the server's account; None while it is not known."""
        return self.measured.counters.get(name) if self.measured is not None else None


def saving(dear: Measured, cheap: Measured) -> str:
    """`−100 % etcd bytes (17.9 MB → 90 B), −80 % received (…), −99 % held (…), 38 ms → 1 ms`."""
    parts = [_share(*pair) for pair in _pairs(dear, cheap)]
    parts.append(f"{milliseconds(dear.total_ms)} ms → {milliseconds(cheap.total_ms)} ms")
    return ", ".join(part for part in parts if part)


def saves(dear: Measured, cheap: Measured) -> bool:
    """Whether anything came out as less: what is cheaper by the rules need not have been so this once."""
    less = any(after < before and _share(what, before, after) for what, before, after in _pairs(dear, cheap))
    return less or cheap.total_ms < QUICKER * dear.total_ms


def _pairs(dear: Measured, cheap: Measured) -> list[tuple[str, int, int]]:
    """What both have been measured for, in bytes."""
    pairs = (
        ("etcd bytes", dear.counters.get("etcd_bytes"), cheap.counters.get("etcd_bytes")),
        ("bytes processed", dear.processed_bytes, cheap.processed_bytes),
        ("received", dear.body_bytes, cheap.body_bytes),
        ("held", _held(dear), _held(cheap)),
    )
    return [(what, before, after) for what, before, after in pairs if before and after is not None]


def _held(measured: Measured) -> int | None:
    return measured.memory.peak_held if measured.memory is not None else None


def _share(what: str, before: int, after: int) -> str:
    if max(before, after) < WORTH_TELLING or abs(after - before) < NOTICEABLE * before:
        return ""
    share = (after - before) / before
    sign, size = ("−", -share) if share < 0 else ("+", share)
    shown = f"{size * 100:.1f}".rstrip("0").rstrip(".") if 0.99 < size < 1 else f"{size * 100:.0f}"
    return f"{sign}{shown}% {what} ({long_bytes(before)} → {long_bytes(after)})"
