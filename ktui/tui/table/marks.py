"""The text in a table's frame: its filter, and how it shows new rows."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from textual.content import Content

from ktui.core.format import integer, many, safe
from ktui.core.table.filter import Term
from ktui.tui.widgets.lines import Runs


class Mood(Enum):
    """How a table shows new rows: it follows them, or keeps still while the user reads."""

    LIVE = "live"  # as they arrive
    FOLLOWING = "following"  # as they arrive, with the cursor on the last row
    LEFT = "left"  # below, out of view: the user has moved up
    HELD = "held"  # after the user resumes the table


_IDLE = "strike $ink-faint"


class Marks(Struct, frozen=True):
    """The text in a table's frame: its filter, hidden rows, and whether it follows."""

    terms: tuple[Term, ...] = ()
    idle: frozenset[str] = frozenset()
    foreign: tuple[str, ...] = ()  # columns of idle terms, which this table does not have
    hidden: int | None = None  # rows; None without a filter, or if unknown
    shown: int = 0
    mood: Mood = Mood.LIVE
    new: int = 0
    doing: str = ""  # progress while rows are being arranged
    folded: int = 0  # states of rows that were replaced before they could be arranged
    absent: str = ""  # how many rows have no value to sort by

    @property
    def needs_line(self) -> bool:
        """True for text that a table without a frame shows in a line below its rows."""
        return bool(self.terms) or self.mood in (Mood.HELD, Mood.LEFT) or bool(self.doing or self.absent)

    def runs(self) -> Runs:
        absent = [(self.absent, "$ink-muted")] if self.absent else []
        doing = [(self.doing, "$warning")] if self.doing else []
        folded = [(f"{many(self.folded, 'update')} folded", "$ink-muted")] if self.folded else []
        parts = [part for part in (self._filter(), absent, doing, folded, self._mood()) if part]
        return [run for part in parts for run in (("  ", ""), *part)][1:]

    def content(self) -> Content:
        return Content.assemble(*((safe(text), style) for text, style in self.runs()))

    def _filter(self) -> Runs:
        """`/route:E ms>10  12 shown, 2,988 hidden`; terms that have no effect here are struck out."""
        if not self.terms:
            return []
        runs = [("/", "$accent")]
        for place, term in enumerate(self.terms):
            idle = term.text in self.idle
            runs += [(" " if place else "", ""), (term.text, _IDLE if idle else "$accent")]
        if self.foreign:
            runs.append((f"  no {', '.join(self.foreign)} here", "$ink-muted"))
        if self.hidden is not None:
            runs.append((f"  {integer(self.shown)} shown, {integer(self.hidden)} hidden", "$ink-muted"))
        return runs

    def _mood(self) -> Runs:
        if self.mood is Mood.FOLLOWING:
            return [("following", "$ink-muted")]
        if self.mood is Mood.HELD:
            new = f" · {integer(self.new)} new" if self.new else ""
            return [(f"‖ paused{new}", "bold $warning")]
        if self.mood is Mood.LEFT:
            left = f"{integer(self.new)} new below" if self.new else "not following"
            return [(f"{left} · ", "$ink-muted"), ("end", "$accent"), (" follows", "$ink-muted")]
        return []
