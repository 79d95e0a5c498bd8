"""Reads all values of an etcd, or watches its changes, on request and after a question about the load."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.contract.etcd_documents import Churn
from ktui.core.format import duration, integer, long_bytes, many
from ktui.core.state import State
from ktui.core.stored import Survey
from ktui.tui.dashboard import OnDashboard

READING, WATCHING = "survey", "churn"  # groups of workers


class StoredReads:
    """The results so far, and the workers that read; `show` is called after each change."""

    def __init__(self, pane: OnDashboard, show: Callable[[], None]) -> None:
        self._pane = pane
        self._show = show
        self.survey = Survey()
        self.churn: Churn | None = None
        self._under = ""  # the prefix that is watched
        self._running: set[str] = set()

    # What the tables show.

    @property
    def read_text(self) -> str:
        if not self.survey.keys:
            return " · reading" if READING in self._running else ""
        of = sum(prefix.count for prefix in self._state.prefixes.values())
        going = "reading, " if READING in self._running else ""
        read = f"{integer(self.survey.keys)} of {integer(max(of, self.survey.keys))} keys"
        return f" · {going}{read}, {long_bytes(self.survey.bytes)}"

    @property
    def watched_text(self) -> str:
        churn = self.churn
        if churn is None:
            return " · the watch is being opened" if WATCHING in self._running else ""
        still = "" if WATCHING in self._running else "stopped, "
        leases = f", {many(churn.leases, 'lease')} on {many(churn.leased, 'key')}" if churn.leases else ""
        return f" · {still}{self._under or '/registry'} for {duration(churn.seconds)}{leases}"

    @property
    def _state(self) -> State:
        return self._pane.ktui.state

    @property
    def own_etcd(self) -> bool:
        """True for an etcd that ktui started, on which nothing else depends."""
        server = self._state.server
        return server is None or server.etcd_kind != "external"

    # Starting and stopping.

    def start_or_stop(self, prefix: str, *, watch: bool) -> None:
        group = WATCHING if watch else READING
        if group in self._running:
            self._pane.workers.cancel_group(self._pane, group)
            self._running.discard(group)
            self._show()
            return
        if self._pane.ktui.client is None:
            self._pane.notify("a recording has no etcd to read")
            return

        def go(yes: bool | None) -> None:
            if yes:
                work = self._watch(prefix) if watch else self._read(prefix)
                self._running.add(group)
                self._pane.run_worker(work, group=group, exclusive=True)

        if self.own_etcd:
            go(True)
            return
        from ktui.tui.dialogs.dialog import ConfirmScreen  # start-up time

        text = load_of_watch(self._state, prefix) if watch else load_of_reading(self._state, prefix)
        title = "watch what changes" if watch else "read all values"
        self._pane.app.push_screen(ConfirmScreen(title, text), go)

    async def _read(self, prefix: str) -> None:
        """Read all values below `prefix` in pieces, between which it can be stopped."""
        self.survey = Survey()
        api = self._api
        chosen = [
            item for item in self._state.prefixes.values() if item.prefix.startswith(prefix) and item.count
        ]
        try:
            for item in sorted(chosen, key=lambda found: -found.bytes):
                after = ""
                while True:
                    page = await api.survey(item.prefix, after)
                    self.survey.add(item.resource or item.prefix, page)
                    self._show()
                    after = page.next
                    if not after:
                        break
        except ClientError as error:
            self._pane.notify(str(error), title="reading values", severity="error")
        finally:
            self._running.discard(READING)
        self._show()

    async def _watch(self, prefix: str) -> None:
        self.churn, self._under = None, prefix
        try:
            async with aclosing(self._api.churn(prefix or None)) as reports:
                async for report in reports:
                    self.churn = report
                    self._show()
        except ClientError as error:
            self._pane.notify(str(error), title="watching etcd", severity="error")
        finally:
            self._running.discard(WATCHING)

    @property
    def _api(self) -> KtuiApi:
        client = self._pane.ktui.client
        assert client is not None  # checked before it was started
        return KtuiApi(client)


def load_of_reading(state: State, prefix: str = "") -> str:
    """Return a sentence on the load on etcd of reading all values below `prefix`."""
    keys, size = _held(state, prefix)
    under = prefix or "all prefixes"
    return (
        f"Reads the values under {under} once: {many(keys, 'key')}, about {long_bytes(size)}, in Ranges of "
        "at most 512 kB, one after the other. Values of Secrets are left out. Nothing is written; x stops it."
    )


def load_of_watch(state: State, prefix: str = "") -> str:
    """Return a sentence on a watch's load on etcd, predicted from its revisions and mean object size."""
    keys, size = _held(state, prefix)
    rate = state.revisions_per_second
    average = size / keys if keys else 0.0
    most = "up to " if prefix else ""
    return (
        f"Opens one watch of {prefix or '/registry'}: etcd sends every change with its whole value, "
        f"{most}{rate:.1f} a second now, about {long_bytes(rate * average)} a second by the mean size. "
        "Nothing is written; x ends the watch."
    )


def _held(state: State, prefix: str) -> tuple[int, int]:
    found = [item for item in state.prefixes.values() if item.prefix.startswith(prefix)]
    return sum(item.count for item in found), sum(item.bytes for item in found)
