"""What the parts of the Lab share: its server and the choice of it, the form, the results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from textual.message import Message

from ktui import __version__
from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import kubeconfig_files, read_kubeconfig
from ktui.client.target import KtuiTarget, Target, target_of
from ktui.core.lab.form import PAGE, ListForm
from ktui.core.lab.form_prediction import LabPrediction, predict_form
from ktui.core.prediction.assumptions import ServerAssumptions, server_behaviour
from ktui.core.state import State
from ktui.kube.crd import resources_of
from ktui.kube.gates import SHARDED
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.kube.versions import BehaviourError
from ktui.tui.dialogs.dialog import Menu
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.form_pane import FormPane
from ktui.tui.lab.runner import Runner
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.widgets.lines import line

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0"


class _Definitions(msgspec.Struct):
    """The part of a CustomResourceDefinitionList that is decoded."""

    items: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class KubeServer:
    """The kube-apiserver of a kubeconfig's context, and what predictions assume of it."""

    context: str
    target: Target
    assumptions: ServerAssumptions
    warnings: tuple[str, ...] = ()


class LabContext:
    """`kube` is the kube-apiserver that the Lab sends to, None for ktui's own server.

    `table` has the server's resources, `consistency` the result of the last comparison with etcd.
    """

    class Changed(Message):
        """A request has been started or has ended."""

    def __init__(self, screen: ServerScreen) -> None:
        self.screen = screen
        self.kube: KubeServer | None = None
        self.table: ResourceTable = BUILTIN
        self.namespaces: list[str] = []
        self.consistency = ""
        self.runner = Runner(lambda: screen.ktui.clock(), self._warn)
        self.learnt = False  # True once `table` has the server's custom resources
        self._learnt_from: object = None
        # Of the current results: the server's URL and pid, and its etcd's count of histories.
        self._served: tuple[str, int, int] | None = None

    @property
    def form(self) -> ListForm:
        """The LIST in the form."""
        return self.screen.query_one(FormPane).form

    @property
    def state(self) -> State:
        return self.screen.ktui.state

    @property
    def server_name(self) -> str:
        """The context's name, "" for ktui's own server."""
        return self.kube.context if self.kube is not None else ""

    @property
    def target(self) -> Target:
        """The server to send to. Raises ClientError while there is none."""
        return self.kube.target if self.kube is not None else KtuiTarget(self.screen.client)

    def predict(self, form: ListForm) -> LabPrediction:
        """Predict by the rules that `form` selects, or else by the server's."""
        server = self.kube.assumptions if self.kube is not None else None
        return predict_form(form, self.table, self.state, server=server)

    def predict_answer(self, form: ListForm) -> LabPrediction:
        """Predict by the server's rules, whatever the form selects."""
        return self.predict(replace(form, kube_version=""))

    @property
    def shards(self) -> bool:
        """True if the server serves shards: the gate is on."""
        if self.kube is not None:
            return self.kube.assumptions.behaviour.enabled(SHARDED)
        try:
            return server_behaviour(self.state).enabled(SHARDED)
        except BehaviourError:
            return False

    # Messages.

    def changed(self) -> None:
        """Post `Changed`; called when a request has been started or has ended."""
        self.screen.post_message(self.Changed())

    def refuses_more(self) -> bool:
        """Return True while a request runs, and notify the user of that."""
        if self.runner.running:
            self.screen.notify(f"one request at a time: {key_of('lab.stop')} stops the one that runs")
        return self.runner.running

    def _warn(self, problem: str) -> None:
        if problem:
            self.screen.notify(problem, severity="warning")

    def forget(self) -> None:
        """Drop all results, saved ones too."""
        self.runner.clear()
        self.changed()

    def mark_previous(self) -> None:
        """Mark the results of ktui's own server as previous after a restart or a new history of etcd."""
        client, state = self.screen.ktui.client, self.state
        if client is None or state.server is None or not state.head.revision:
            return
        before, self._served = self._served, (client.connection.url, state.server.pid, state.head.histories)
        if before not in (None, self._served):
            self.runner.mark_previous("")

    # Resources and namespaces of the server.

    def learn(self) -> None:
        """Start reading custom resources and namespaces, once per server."""
        client = self.screen.ktui.client
        if client is not None and client is not self._learnt_from:
            self._learnt_from, self.learnt = client, False
            self.screen.in_background(self.read_resources, "learn")

    async def read_resources(self) -> None:
        """Read custom resources and namespaces; on errors, completions for them are missing."""
        try:
            definitions = msgspec.convert(await self.screen.client.get_json(CRDS), _Definitions)
            custom = []
            for crd in definitions.items or ():
                with suppress(AttributeError, KeyError, TypeError, ValueError):
                    custom += resources_of(crd)  # kube-apiserver serves no incomplete definition either
            self.table = BUILTIN.plus(custom)
            page = await self.screen.server.cached_objects("namespaces", limit=500)
            self.namespaces = [each.name for each in page.objects]
            self.learnt = True
        except (ClientError, msgspec.ValidationError):
            return  # the form reports a custom resource that it does not know

    @property
    def busy_namespace(self) -> str:
        """A namespace that is likely to have objects; "" if none is known."""
        own = [name for name in self.namespaces if name != "default" and not name.startswith("kube-")]
        return next(iter(own or self.namespaces), "")

    def candidates(self, field: str) -> Iterable[str]:
        resource = self.table.by_name(self.form.resource)
        if field == "resource":  # those that etcd holds, then all others, each by name
            held = {prefix.resource for prefix in self.state.prefixes.values() if prefix.resource}
            others = (each.id for each in self.table.preferred() if each.stored and each.id not in held)
            return [*sorted(held | self.state.caches.keys()), *sorted(others)]
        if field == "namespace":
            return self.namespaces
        if field == "field_selector":
            return [f"{name}=" for name in resource.field_selectors] if resource is not None else ()
        if field == "resource_version":
            row = self.state.caches.get(resource.id) if resource is not None else None
            return ["0", *([str(row.rv)] if row is not None else [])]
        return [str(PAGE)] if field == "limit" else ()


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


class TargetDialog(Menu[str], bindings="lab server"):
    """Returns a context's name, "" for ktui's own server, None for no change."""

    DEFAULT_CSS = """
    TargetDialog > Vertical { width: 60; }
    """

    def __init__(self, names: Sequence[str], current: str, chosen: str) -> None:
        entries, every = [], ["", *names]
        for name in every:
            mark = "● " if name == chosen else "  "
            about = "  (current context)" if name and name == current else ""
            text = line((mark, "$accent"), (name or OWN, "$ink-strong"), (about, "$ink-muted"))
            entries.append(("", text, name))
        at = every.index(chosen) if chosen in every else 0
        super().__init__("send to", "enter chooses", ("target.close", "cancels"), entries, at)
