"""The choice of the Lab's server: ktui's own, or a kube-apiserver of a kubeconfig."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from ktui import __version__
from ktui.client.kubeconfig_reader import kubeconfig_files, read_kubeconfig
from ktui.client.target import target_of
from ktui.tui.dialogs.dialog import Menu
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.lab.context import KubeServer
from ktui.tui.widgets.lines import line

if TYPE_CHECKING:
    from ktui.traces.receiver import OtlpReceiver


OWN = "ktui's own server"


async def connect(context: str) -> KubeServer:
    """Connect to a context's kube-apiserver and read its version. Raises ClientError."""
    # In a thread, as an exec plugin may have to provide the credentials.
    connection = await asyncio.to_thread(read_kubeconfig, kubeconfig_files(), context)
    target = target_of(connection, f"ktui/{__version__}")
    try:
        assumptions = await target.assumptions()
    except BaseException:
        await target.client.close()
        raise
    return KubeServer(context, target, assumptions, tuple(connection.warnings))


def judged_by_traces(server: KubeServer, receiver: OtlpReceiver | None) -> KubeServer:
    """Return the server, whose requests are judged by their own traces where these are received."""
    if receiver is None:
        return server
    from ktui.client.traced_target import TracedTarget  # start-up time

    return replace(server, target=TracedTarget(server.target, receiver))


class TargetDialog(Menu[str]):
    """Returns a context's name, "" for ktui's own server, None for no change."""

    DEFAULT_CSS = """
    TargetDialog > Vertical { width: 60; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.DIALOGS["lab server"]

    def __init__(self, names: Sequence[str], current: str, chosen: str) -> None:
        every = ["", *names]
        hint = f"enter chooses · {key_hints(('target.close', 'cancels')).plain}"
        entries = [("", _prompt(name, current, chosen), name) for name in every]
        super().__init__("send to", hint, entries, every.index(chosen) if chosen in every else 0)


def _prompt(name: str, current: str, chosen: str) -> Content:
    mark = "● " if name == chosen else "  "
    about = "  (current context)" if name and name == current else ""
    return line((mark, "$accent"), (name or OWN, "$ink-strong"), (about, "$ink-muted"))
