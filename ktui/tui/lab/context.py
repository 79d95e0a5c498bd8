"""What the parts of the Lab share: its server and what is known of it, the form, the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.client.target import KtuiTarget, Target
from ktui.core.lab.form import PAGE, ListForm
from ktui.core.lab.predict import LabPrediction, predict_form
from ktui.core.lab.result import LabResult
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.core.state import State
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.form_pane import FormPane
from ktui.tui.lab.history import LabHistory
from ktui.tui.lab.results import ResultsPane
from ktui.tui.lab.runner import Runner
from ktui.tui.screen_bases.server_screen import ServerScreen

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0"


class _Definitions(msgspec.Struct):
    """The part of a CustomResourceDefinitionList that is read."""

    items: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class KubeServer:
    """The kube-apiserver of a kubeconfig's context, and what a prediction may assume of it."""

    context: str
    target: Target
    assumptions: ServerAssumptions
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.context}, kube-apiserver {self.assumptions.behaviour.version}"


class LabContext:
    """`kube` is the kube-apiserver that the Lab sends to, None for ktui's own server.

    `table` has the resources that can be asked for, `consistency` the last comparison with etcd.
    """

    class Changed(Message):
        """Something has begun or ended."""

    def __init__(self, screen: ServerScreen) -> None:
        self.screen = screen
        self.kube: KubeServer | None = None
        self.table: ResourceTable = BUILTIN
        self.namespaces: list[str] = []
        self.consistency = ""
        self._history = LabHistory()
        self.runner = Runner(lambda: screen.ktui.clock(), self._keep, self._history.next_number)
        self.learnt = False  # whether `table` has the server's custom resources
        self._learnt_from: object = None
        self._served: tuple[str, int, int] | None = None  # what the results of ktui's own server are of

    @property
    def form_pane(self) -> FormPane:
        return self.screen.query_one(FormPane)

    @property
    def form(self) -> ListForm:
        """The LIST as it stands in the form."""
        return self.form_pane.form

    @property
    def result(self) -> LabResult | None:
        """The one under the cursor."""
        return self.screen.query_one(ResultsPane).result

    @property
    def state(self) -> State:
        return self.screen.ktui.state

    @property
    def server_name(self) -> str:
        """The context's name, "" for ktui's own server."""
        return self.kube.context if self.kube is not None else ""

    @property
    def target(self) -> Target:
        """Raises ClientError while there is no server."""
        return self.kube.target if self.kube is not None else KtuiTarget(self.screen.client)

    def predict(self, form: ListForm) -> LabPrediction:
        """Predict by the rules that `form` names, else by those of the server."""
        server = self.kube.assumptions if self.kube is not None else None
        return predict_form(form, self.table, self.state, server=server)

    def predict_answer(self, form: ListForm) -> LabPrediction:
        """Predict by the rules that the server follows, whatever the form names."""
        return self.predict(replace(form, kube_version=""))

    # Messages.

    def changed(self) -> None:
        """To be called when something has begun or ended."""
        self.screen.post_message(self.Changed())

    def say(self, text: str) -> None:
        self.screen.notify(text, markup=False)

    def warn(self, problem: str) -> None:
        self.screen.notify(problem, severity="warning", markup=False)

    def fail(self, problem: str) -> None:
        self.screen.notify(problem, severity="error", markup=False)

    def refuses_more(self) -> bool:
        """Whether something is being sent; the user is notified if so."""
        if self.runner.running:
            self.say(f"one request at a time: {key_of('lab.stop')} stops the one that runs")
        return self.runner.running

    # Results on disk, and whether they can still be compared.

    def recall(self) -> None:
        """Begin with the results of earlier runs of the dashboard."""
        self.runner.recall(self._history.read())

    def forget(self) -> None:
        """Drop all results, those on disk too."""
        self.runner.clear()
        if problem := self._history.clear():
            self.warn(problem)
        self.changed()

    def _keep(self, result: LabResult) -> None:
        if problem := self._history.add(result):
            self.warn(problem)

    def mark_previous(self) -> None:
        """Mark the results of ktui's own server once it is another process, or etcd has another history."""
        served = self._serving()
        if served is None or served == self._served:
            return
        if self._served is not None:
            self.runner.mark_previous("")
        self._served = served

    def _serving(self) -> tuple[str, int, int] | None:
        """URL and pid of ktui's own server and which history its etcd has; None while that is not known."""
        client, state = self.screen.ktui.client, self.state
        if client is None or state.server is None or not state.head.revision:
            return None
        return client.connection.url, state.server.pid, state.head.histories

    # Resources and namespaces of the server.

    def learn(self) -> None:
        """Read custom resources and namespaces, once for each server."""
        client = self.screen.ktui.client
        if client is not None and client is not self._learnt_from:
            self._learnt_from, self.learnt = client, False
            self.screen.in_background(self.read_resources, "learn")

    async def read_resources(self) -> None:
        """Read what `learn` begins to."""
        try:
            definitions = msgspec.convert(await self.screen.ask(CRDS), _Definitions)
            self.table = _with_custom(definitions.items or [])
            page = await self.screen.server.cached_objects("namespaces", limit=500)
            self.namespaces = [each.name for each in page.objects]
            self.learnt = True
        except (ClientError, msgspec.ValidationError):
            return  # only completions and custom resources are missing: the form says so when one is named

    @property
    def busy_namespace(self) -> str:
        """One that is likely to hold objects; "" when none is known."""
        own = [name for name in self.namespaces if name != "default" and not name.startswith("kube-")]
        return next(iter(own or self.namespaces), "")

    def candidates(self, field: str) -> Iterable[str]:
        """What a field of the form may be completed to."""
        resource = self.table.by_name(self.form.resource)
        if field == "resource":
            return self._resources()
        if field == "namespace":
            return self.namespaces
        if field == "field_selector":
            return [f"{name}=" for name in resource.field_selectors] if resource is not None else ()
        if field == "resource_version":
            row = self.state.caches.get(resource.id) if resource is not None else None
            return ["0", *([str(row.rv)] if row is not None else [])]
        return [str(PAGE)] if field == "limit" else ()

    def _resources(self) -> list[str]:
        """Those that etcd holds first, then every other by name."""
        held = {prefix.resource for prefix in self.state.prefixes.values() if prefix.resource}
        known = sorted(held | self.state.caches.keys())
        return [*known, *sorted(r.id for r in self.table.preferred() if r.stored and r.id not in held)]


def _with_custom(crds: list[dict[str, Any]]) -> ResourceTable:
    """The built-in resources and those of well-formed CustomResourceDefinitions."""
    custom = []
    for crd in crds:
        try:
            custom += resources_of(crd)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue  # an unfinished definition: kube-apiserver serves nothing for it either
    return BUILTIN.plus(custom)
