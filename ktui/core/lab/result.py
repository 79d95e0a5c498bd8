"""The result of sending a LIST: measured next to predicted, and compared with another result."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.core.lab.figures import NOTHING, Comparison, Figures, compare
from ktui.core.lab.form import ListForm
from ktui.core.lab.measured import Measured
from ktui.core.lab.trial import Trial


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

    def count(self, name: str) -> int | None:
        """Return a counter of the server's cost report; None if unknown."""
        return self.measured.counters.get(name) if self.measured is not None else None
