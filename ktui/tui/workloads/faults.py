"""The menu of faults, and the question before one that breaks etcd or the server."""

from __future__ import annotations

from ktui.contract.faults import KINDS, Fault
from ktui.tui.dialogs.dialog import ConfirmScreen, Menu
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


class FaultScreen(Menu[str], bindings="jump"):
    """The kinds of faults, each by its letter."""

    DEFAULT_CSS = """
    FaultScreen > Vertical { width: 78; }
    """

    def __init__(self) -> None:
        entries = []
        for letter, kind in LETTERS.items():
            asks = (_ASKS if KINDS[kind].breaks else " ", "bold $warning")
            lasts = (pad(lasting(kind), 10, right=True), "$foreground")
            about = (f"  {KINDS[kind].about}", "$ink-muted")
            entry = line((f" {letter}  ", "bold $accent"), pad(kind, 8), asks, lasts, about)
            entries.append((letter, entry, kind))
        hint = f"letter or enter · {_ASKS} asks first"
        super().__init__("inject a fault", hint, ("jump.close", "none"), entries)


def question(fault: Fault) -> ConfirmScreen:
    """Return the dialog that asks before a fault that breaks etcd or the server."""
    kind = KINDS[fault.kind]
    ends = "r starts another one." if fault.kind == "kill" else "Every client of this server is affected."
    what = "kill the server" if fault.kind == "kill" else f"fault: {fault.kind}"
    lost = ", and what only it holds is lost" if fault.kind == "kill" else ""
    return ConfirmScreen(what, f"{kind.about}{lost} ({lasting(fault.kind)}).\n{ends}")
