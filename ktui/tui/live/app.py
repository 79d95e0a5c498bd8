"""The dashboard's app over a kube-apiserver's metrics, or over a recording of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from ktui.tui.app import KtuiApp
from ktui.tui.keys import bindings as keys
from ktui.tui.navigation.modes import LIVE_MODES

if TYPE_CHECKING:
    from ktui.tui.commands import Commands


class LiveApp(KtuiApp, inherit_bindings=False):
    """The same screens and keys. All but the Lab and Versions show metrics; 7 is Flow control."""

    MODES: ClassVar[dict[str, Any]] = {mode.name: mode.load() for mode in LIVE_MODES}
    BINDINGS: ClassVar[list[BindingType]] = keys.LIVE_APP

    @property
    def commands(self) -> Commands:
        from ktui.tui.commands.table import LIVE_COMMANDS  # start-up time

        return LIVE_COMMANDS
