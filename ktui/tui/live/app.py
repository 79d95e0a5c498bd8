"""The dashboard over a scraped kube-apiserver, or over a recording of one."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import BindingType

from ktui.tui.app import KtuiApp
from ktui.tui.keys import bindings as keys
from ktui.tui.navigation.modes import LIVE_MODES


class LiveApp(KtuiApp, inherit_bindings=False):
    """The same modes and keys; all but the Lab and Versions show metrics. 7 is Flow control."""

    MODES: ClassVar[dict[str, Any]] = {mode.name: mode.load() for mode in LIVE_MODES}
    BINDINGS: ClassVar[list[BindingType]] = keys.LIVE_APP
