"""What a user may choose of the dashboard: the config file's `[dashboard]`, read by the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct


class Preferences(Struct, frozen=True):
    """Everything has a default: a config file is optional.

    `theme`: a theme's name, "" for the default one (`ktui-mono` under NO_COLOR).
    `symbols`: "braille", "block" or "ascii" for charts, "" for what the terminal can show.
    `keymap`: binding id → keys, comma separated (`{"go.requests": "f2"}`).
    `columns`: table id → ids of the columns to show, in that order.
    `kube_context`: of a kubeconfig: the Lab sends to its kube-apiserver from the start.
    `story`: whether the dashboard begins with its story (`--story`).
    `mistakes`: what is wrong with `keymap` and `columns`, a sentence each. It loads every screen, so it
    is asked once the first picture is there; what is right works nevertheless.
    """

    theme: str = ""
    symbols: str = ""
    keymap: Mapping[str, str] = {}
    columns: Mapping[str, tuple[str, ...]] = {}
    kube_context: str = ""
    story: bool = False
    mistakes: Callable[[], Sequence[str]] = tuple


DEFAULTS = Preferences()
