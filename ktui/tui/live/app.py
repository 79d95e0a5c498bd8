"""The dashboard's app over a kube-apiserver's metrics and traces, or over a recording of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from ktui.contract.events import AnyEvent
from ktui.kube.versions import Behaviour
from ktui.traces.feed import address_of, traced_events, traces_server
from ktui.traces.receiver import OtlpReceiver
from ktui.tui.app import KtuiApp
from ktui.tui.keys import bindings as keys
from ktui.tui.navigation.modes import LIVE_MODES, MODES
from ktui.tui.screen_bases.first_screen import opening
from ktui.tui.source import Report, TelemetrySource

if TYPE_CHECKING:
    from ktui.tui.commands.all_commands import Commands


class LiveApp(KtuiApp, inherit_bindings=False):
    """The same screens and keys. All but the Lab and Versions show metrics; 7 is Flow control."""

    MODES: ClassVar[dict[str, Any]] = {mode.name: opening(mode) for mode in LIVE_MODES}
    BINDINGS: ClassVar[list[BindingType]] = keys.LIVE_APP

    @property
    def commands(self) -> Commands:
        from ktui.tui.commands.all_commands import LIVE_COMMANDS  # start-up time

        return LIVE_COMMANDS


class TracesApp(LiveApp, inherit_bindings=False):
    """Requests, Watches and Versions show the single requests of the traces; other screens show metrics."""

    MODES: ClassVar[dict[str, Any]] = LiveApp.MODES | {
        mode.name: opening(mode) for mode in MODES if mode.name in ("requests", "watches", "versions")
    }
    BINDINGS = LiveApp.BINDINGS


class TracesOnlyApp(TracesApp, inherit_bindings=False):
    """The same with traces as the only source, so it begins on Requests."""

    DEFAULT_MODE = "requests"
    no_server = (
        "with --otlp alone there is no server to send to: start `ktui --kubeconfig FILE --otlp`, "
        "or choose one in the Lab"
    )
    BINDINGS = LiveApp.BINDINGS


class OtlpSource(TelemetrySource):
    """The traces of a kube-apiserver as the dashboard's only source: it listens, and needs no connection."""

    def __init__(self, receiver: OtlpReceiver, behaviour: Behaviour) -> None:
        self._receiver = receiver
        self._behaviour = behaviour

    async def connect(self, report: Report) -> None:
        report(f"listening for OTLP on {address_of(self._receiver)}")

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield [traces_server(self._receiver, self._behaviour)]
        async for batch in traced_events(self._receiver, self._behaviour):
            yield batch
