"""The dashboard's settings: `[dashboard]` of the config file, read by the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct


class Preferences(Struct, frozen=True):
    """Everything has a default, as a config file is optional.

    `theme`: a theme's name, "" for the default one (`ktui-mono` under NO_COLOR).
    `symbols`: "braille", "block" or "ascii" for charts, "" for what the terminal can show.
    `keymap`: binding id → keys, separated by commas (`{"go.requests": "f2"}`).
    `columns`: table id → ids of the columns to show, in that order.
    `kube_context`: context of a kubeconfig to whose kube-apiserver the Lab sends from the start.
    `story`: whether the banner offers the tour at the start (`--story`). `tour_is_new`: whether it does
    because the tour was neither taken nor dismissed before; `remember_tour` ends that.
    `mistakes`: returns what is wrong with `keymap` and `columns`, a sentence for each. It imports every
    screen, so it is called after the first frame; valid entries apply nevertheless.
    """

    theme: str = ""
    symbols: str = ""
    keymap: Mapping[str, str] = {}
    columns: Mapping[str, tuple[str, ...]] = {}
    kube_context: str = ""
    story: bool = False
    tour_is_new: bool = False
    remember_tour: Callable[[], None] = lambda: None
    mistakes: Callable[[], Sequence[str]] = tuple


DEFAULTS = Preferences()
