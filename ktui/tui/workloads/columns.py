"""The rows and columns of the Workloads screen's tables."""

from __future__ import annotations

from msgspec import Struct

from ktui.core.table.columns import Column
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import Workload


class WorkloadRow(Struct, frozen=True):
    """A workload and the state of its run: "" (never), "running", "done", "failed"."""

    workload: Workload
    state: str = ""

    @property
    def name(self) -> str:
        return self.workload.name


class KnobRow(Struct, frozen=True):
    """A knob with its value as `--set` takes it, and as it is shown; `changed` if that is not the default."""

    knob: Knob
    value: str
    shown: str
    changed: bool = False

    @property
    def name(self) -> str:
        return self.knob.name


WORDS = 40  # cells for a sentence; with fewer it is shown only in the panel about the selected row

_GLYPHS = {"": ("·", "$ink-faint"), "running": ("●", "$success"), "done": ("✓", "$ink-muted"),
           "failed": ("✕", "bold $error")}  # fmt: skip

WORKLOAD_COLUMNS: tuple[Column[WorkloadRow], ...] = (
    Column("state", "", lambda row: _GLYPHS[row.state], lambda row: row.state, width=1, priority=0,
           about="● runs, ✓ has run, ✕ could not"),
    Column("name", "workload", lambda row: (row.name, "bold" if row.state == "running" else ""), width=18,
           priority=0, about="its name in `ktui workload run`"),
    Column("sentence", "what it does", lambda row: (row.workload.sentence, "$ink-muted"), width=WORDS,
           flex=1, priority=3, about="what it does"),
)  # fmt: skip

KNOB_COLUMNS: tuple[Column[KnobRow], ...] = (
    Column("knob", "knob", lambda row: row.name, width=15, priority=0, about="its name for `--set`"),
    Column("value", "value", lambda row: (row.shown or "–", "bold $accent" if row.changed else ""), width=12,
           priority=0, about="its value now; highlighted when it is not the default"),
    Column("about", "what it is", lambda row: (row.knob.about, "$ink-muted"), width=WORDS, flex=1, priority=3,
           about="what it does"),
)  # fmt: skip
