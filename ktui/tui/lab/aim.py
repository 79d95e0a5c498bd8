"""Whom the Lab fires at: ktui's own server, or a kube-apiserver named by a kubeconfig."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui import __version__
from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts, read_kubeconfig
from ktui.client.target import Target, target_of
from ktui.core.lab.server import Elsewhere
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line

OWN = "ktui's own server"


@dataclass(frozen=True, slots=True)
class Aim:
    """A kube-apiserver, and what it is known to be."""

    context: str
    target: Target
    elsewhere: Elsewhere
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.context}, kube-apiserver {self.elsewhere.world.behaviour.version}"


def contexts() -> tuple[list[str], str]:
    """Those of the user's kubeconfig, and the current one. Raises ClientError."""
    return read_contexts(kubeconfig_files())


async def take_aim(context: str) -> Aim:
    """Connect, and ask which version it is. Raises ClientError."""
    # In a thread: a program may have to give the credentials.
    connection = await asyncio.to_thread(read_kubeconfig, kubeconfig_files(), context)
    target = target_of(connection, f"ktui/{__version__}")
    try:
        world = await target.world()
    except BaseException:
        await target.client.close()
        raise
    return Aim(context, target, Elsewhere(world), tuple(connection.warnings))


class AimScreen(Dialog[str | None]):
    """A context's name, "" for ktui's own server, None for no change."""

    DEFAULT_CSS = """
    AimScreen > OptionList { width: 60; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.TARGET

    def __init__(self, names: Sequence[str], current: str, chosen: str) -> None:
        super().__init__()
        self._names = ["", *names]
        self._current = current
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        options = OptionList(*(Option(self._prompt(name)) for name in self._names), markup=False)
        options.border_title = "fire at"
        options.border_subtitle = line("enter chooses · ", key_hints(("aim.close", "leaves it")).plain)
        options.highlighted = self._names.index(self._chosen) if self._chosen in self._names else 0
        yield options

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._names[event.option_index])

    def _prompt(self, name: str) -> Content:
        mark = "● " if name == self._chosen else "  "
        about = "  (current context)" if name and name == self._current else ""
        return line((mark, "$accent"), (name or OWN, "$ink-strong"), (about, "$ink-muted"))
