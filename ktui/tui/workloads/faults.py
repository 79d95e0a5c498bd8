"""The menu of faults, and the question before one that breaks etcd or the server."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.contract.faults import KINDS, Fault
from ktui.tui.dialogs.dialog import ConfirmScreen, Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line, pad

LETTERS = {"p": "pause", "s": "slow", "c": "cut", "w": "stall", "h": "compact", "f": "quota", "r": "restart",
           "x": "kill"}  # fmt: skip
_ASKS = "!"


def lasting(kind: str) -> str:
    """Return how long a fault of the menu lasts: its default duration."""
    if kind == "kill":
        return "for good"  # a run can restart its own server, the dashboard only by `r`
    seconds = KINDS[kind].seconds
    return f"{seconds:g} s" if seconds else "at once"


class FaultScreen(Dialog[str | None]):
    """Returns the kind of the chosen fault: by its letter, enter or a click; None if closed."""

    DEFAULT_CSS = """
    FaultScreen > Vertical { width: 78; }
    FaultScreen OptionList {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .option-list--option-highlighted { background: $cursor; color: $ink-strong; text-style: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.JUMP

    def compose(self) -> ComposeResult:
        box = Vertical()
        box.border_title = line("inject a fault")
        box.border_subtitle = line(
            f"letter or enter · {_ASKS} asks first · ", key_hints(("jump.close", "none")).plain
        )
        with box:
            yield OptionList(*(Option(_prompt(letter, kind), id=kind) for letter, kind in LETTERS.items()))

    def on_key(self, event: events.Key) -> None:
        if (kind := LETTERS.get(event.character or "")) is not None:
            event.stop()
            self.dismiss(kind)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_cursor(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()


def _prompt(letter: str, kind: str) -> Content:
    asks = _ASKS if KINDS[kind].breaks else " "
    return line(
        (f" {letter}  ", "bold $accent"),
        pad(kind, 8),
        (asks, "bold $warning"),
        (pad(lasting(kind), 10, right=True), "$foreground"),
        (f"  {KINDS[kind].about}", "$ink-muted"),
    )


def question(fault: Fault) -> ConfirmScreen:
    """Return the dialog that asks before a fault that breaks etcd or the server."""
    kind = KINDS[fault.kind]
    ends = "r starts another one." if fault.kind == "kill" else "Every client of this server is affected."
    what = "kill the server" if fault.kind == "kill" else f"fault: {fault.kind}"
    lost = ", and what only it holds is lost" if fault.kind == "kill" else ""
    return ConfirmScreen(what, f"{kind.about}{lost} ({lasting(fault.kind)}).\n{ends}")
