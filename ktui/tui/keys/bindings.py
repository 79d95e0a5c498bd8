"""All key bindings, for the footer, the help, the palette, hints and keymaps: the table is `keys.txt`.

A line of it is a binding: its id, to which a keymap refers, its keys, its action, its label, and its
tooltip, which the help shows. Two blanks or more separate them. `!` after an id: it acts before the focused
widget receives the key. `*` before a label: the footer shows it, not only the help; `-` is no label. In
`left=←→` the footer writes the sign for the key, there also for the key of the other direction. `[name]`
begins the bindings of a screen, a widget or a dialog; `+ name` adds those of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from textual.binding import Binding, BindingType

from ktui.tui.navigation.modes import FLOW, MODES, Mode

Bindings = list[BindingType]
_DIALOG = "dialog: "
FIX_KEYS = ("f4", "f5", "f6", "f7", "f8", "f10", "f11", "f12")  # of the fixes of a workload


def _read(table: str) -> dict[str, Bindings]:
    """Return the bindings by the name of their screen, widget or dialog."""
    found: dict[str, Bindings] = {
        "screens": [_screen(mode) for mode in MODES],
        "fixes": [
            Binding(key, f"fix({place})", "fix", show=False, id=f"workloads.fix{place + 1}",
                    tooltip=f"fix {place + 1} of the workload")
            for place, key in enumerate(FIX_KEYS)
        ],
    }  # fmt: skip
    bindings: Bindings = []
    for text in table.splitlines():
        if text.startswith("["):
            bindings = found[text.strip("[]")] = []
        elif text.startswith("+"):
            bindings += found[text.removeprefix("+ ")]
        elif text and not text.startswith("#"):
            id_, keys, action, label, tooltip = re.split(" {2,}", text)
            key, _, sign = keys.partition("=")
            bindings.append(Binding(
                key, action, "" if label == "-" else label.removeprefix("*"), show=label.startswith("*"),
                key_display=sign or None, priority=id_.endswith("!"), id=id_.removesuffix("!"),
                tooltip=tooltip,
            ))  # fmt: skip
    return found


def _screen(mode: Mode) -> Binding:
    return Binding(
        str(mode.number), f"go('{mode.name}')", mode.title, id=f"go.{mode.name}", tooltip=mode.about
    )


_ALL = _read(Path(__file__).with_name("keys.txt").read_text(encoding="utf-8"))

APP = _ALL.pop("app")
# Has priority over the same key of screens and tables right after a jump, and is inactive at other times.
AFTER_A_JUMP = _ALL.pop("after a jump")
# Over a live cluster, where 7 opens Flow control.
LIVE_APP: Bindings = [
    *(_screen(FLOW) if isinstance(key, Binding) and key.key == str(FLOW.number) else key for key in APP),
    *AFTER_A_JUMP,
]

# Name in messages about a keymap → the bindings of a screen or widget.
SCOPES: Mapping[str, Bindings] = {"everywhere": [*APP, *AFTER_A_JUMP]} | {
    name: bindings
    for name, bindings in _ALL.items()
    if not name.startswith(_DIALOG) and name not in ("screens", "fixes")
}
# Modal: the app's bindings do not act while one is open.
DIALOGS: Mapping[str, Bindings] = {
    name.removeprefix(_DIALOG): bindings for name, bindings in _ALL.items() if name.startswith(_DIALOG)
}
