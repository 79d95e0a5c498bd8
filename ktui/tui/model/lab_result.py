"""What firing a LIST has shown: one row a form, measured beside what was foreseen."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.client.measured import Measured
from ktui.tui.model.format import long_bytes, milliseconds
from ktui.tui.model.lab import ListForm
from ktui.tui.model.lab_figures import NOTHING, Comparison, Figures, compare

NOTICEABLE = 0.01  # a smaller share of bytes saved is none


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `measured` None: no answer (yet), `error` says why.

    `server` is the kubeconfig's context that it was fired at, "" for ktui's own server;
    `at` the time (Unix seconds). `dear` is the number of the result whose cheaper form
    this one is, 0 for none. `past`: from an earlier life of the dashboard.
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
    def surprising(self) -> bool:
        """Whether a figure came out otherwise than foreseen."""
        return any(each.verdict == "≠" for each in self.comparisons)

    def count(self, name: str) -> int | None:
        """A counter of the server's account; None while it is not known."""
        return self.measured.counters.get(name) if self.measured is not None else None


def saving(dear: Measured, cheap: Measured) -> str:
    """`−100 % etcd bytes (17.9 MB → 90 B), −80 % received (…), 38 ms → 1 ms`."""
    pairs = (
        ("etcd bytes", dear.counters.get("etcd_bytes"), cheap.counters.get("etcd_bytes")),
        ("bytes processed", dear.processed_bytes, cheap.processed_bytes),
        ("received", dear.body_bytes, cheap.body_bytes),
    )
    parts = [_share(what, before, after) for what, before, after in pairs if before and after is not None]
    parts.append(f"{milliseconds(dear.total_ms)} ms → {milliseconds(cheap.total_ms)} ms")
    return ", ".join(part for part in parts if part)


def _share(what: str, before: int, after: int) -> str:
    if abs(after - before) < NOTICEABLE * before:
        return ""
    share = (after - before) / before
    sign, size = ("−", -share) if share < 0 else ("+", share)
    shown = f"{size * 100:.1f}".rstrip("0").rstrip(".") if 0.99 < size < 1 else f"{size * 100:.0f}"
    return f"{sign}{shown} % {what} ({long_bytes(before)} → {long_bytes(after)})"
