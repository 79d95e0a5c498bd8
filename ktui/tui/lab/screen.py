"""The Lab: compose a LIST field by field, see its prediction, send it, compare variants."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize
from textual.widgets import Input

from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts
from ktui.core.format import many
from ktui.core.lab.form import LIST, WATCH, ListForm, Variant, added_to, form_of_read, original_of, path_of
from ktui.core.lab.form_prediction import LabPrediction
from ktui.core.lab.result import result_pages
from ktui.core.lab.trial import LEAST_RUNS
from ktui.core.prediction.assumptions import server_version
from ktui.core.references import CompareRef, Read, Reference, Selection
from ktui.core.state import State
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.dialogs.text import PagesScreen
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.actions import LabActions
from ktui.tui.lab.context import LabContext, TargetDialog, connect
from ktui.tui.lab.form_pane import FieldForm
from ktui.tui.lab.lab_columns import columns, result_lines
from ktui.tui.lab.results import ResultDetail
from ktui.tui.lab.saved import SavedRequests, SavedScreen
from ktui.tui.table.vtable import VTable

if TYPE_CHECKING:
    from ktui.client.api import ApiClient


class LabScreen(LabActions, mode="lab"):
    """The form, its prediction, and the results."""

    AUTO_FOCUS = "#results"  # not the form, in which keys would be typed

    def __init__(self) -> None:
        super().__init__()
        self.prediction = LabPrediction()
        self._shown: tuple[Any, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield self.form_pane
        yield self.results
        yield ResultDetail()

    # References.

    def visit(self, reference: Reference | None) -> None:
        """Put a LIST into the form without sending it; a comparison is sent."""
        if isinstance(reference, CompareRef):
            self._visit_comparison(reference)
            return
        read = reference.selection if isinstance(reference, Read) else None
        form = form_of_read(read, self.lab.form, self.lab.table) if read is not None else None
        if read is not None and form is not None:
            self.form_pane.put(form)
            self.results.table.focus()
            if added := added_to(read.target, form):
                sends = f"{key_of('lab.send')} sends it as a WatchList, which ends"
                self.notify(f"{sends}: {', '.join(added)} added")
        elif reference is not None:
            self.notify("the Lab sends LISTs, and WATCHes that begin with all objects")

    def _visit_comparison(self, reference: CompareRef) -> None:
        """Put the original into the form, and compare it with its cheaper variant."""
        self.results.table.focus()
        original = original_of(reference.original, self.lab.form, self.lab.table)
        if original is None:
            if not self.lab.learnt and self.ktui.client is not None:  # it may be a custom resource
                self._visit_later(reference)
            else:
                self.notify("the Lab compares LISTs, and WATCHes that begin with all objects")
            return
        self.form_pane.put(original.form)
        variant = reference.variant
        form = form_of_read(variant, original.form, self.lab.table) if variant is not None else None
        cheaper = Variant(reference.change or "cheaper", form) if form is not None else None
        self.try_original(original, cheaper)

    @work(group="take", exclusive=True)
    async def _visit_later(self, reference: CompareRef) -> None:
        await self.lab.read_resources()
        self.lab.learnt = True
        self._visit_comparison(reference)

    def active_table(self) -> VTable[Any] | None:
        return self.results.table

    def selected_request(self) -> Selection | None:
        server = self.ktui.state.server
        own = self.lab.kube is None and not (server is not None and server.scraped)
        path, level = self.prediction.path, "exempt" if own else ""
        return Selection(self.form_pane.verb, path, "from the Lab", level) if path else None

    def read_for_body(self) -> Selection | None:
        """Return the request of the result under the cursor, or else of the form."""
        result = self.results.result
        path, form = (result.path, result.form) if result else (self.prediction.path, self.lab.form)
        verb = WATCH if form.stream else LIST
        return Selection(verb, path, "from the Lab", accept=form.accept_header) if path else None

    def show_body(self, read: Selection, client: ApiClient) -> None:
        """Send the read to the Lab's server, with the Lab's question before a large LIST."""
        self.in_background(partial(self._show_body, read, client), "body")

    async def _show_body(self, read: Selection, client: ApiClient) -> None:
        kube = self.lab.kube
        with self.ktui.notifying_errors():
            if await self.agreed([read.target]):
                super().show_body(read, kube.target.client if kube is not None else client)

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.form_pane.fields.set_value("resource", "pods")
        self.lab.runner.recall()
        self.results.table.focus()
        if context := self.ktui.preferences.kube_context:
            self.in_background(partial(self._choose_target, context), "target")

    @on(Resize)
    def _resized(self) -> None:
        self.results.table.set_columns(columns(self.size.width))
        self.call_after_refresh(self._paint_result)  # the panel may have appeared or disappeared

    def paint_tables(self, state: State) -> None:
        runner = self.lab.runner
        results, streamed = tuple(runner.results), runner.streamed if runner.running else 0
        now = results, streamed, runner.run_of_trial, runner.waiting
        if now != self._shown:
            self._shown = now
            self.results.table.set_rows(result_lines(results, streamed))
            self._paint_result()

    def paint_panels(self, state: State) -> None:
        self.lab.learn()
        self.lab.mark_previous()
        self._paint_prediction()

    @on(LabContext.Changed)
    def _changed(self) -> None:
        if self._run is not None:
            self.results.table.following = True
        self.refresh_bindings()
        if self.paintable:
            self.paint_tables(self.ktui.state)
            self._paint_prediction()
            self._paint_result()

    @on(FieldForm.Changed)
    def _paint_prediction(self) -> None:
        lab, form = self.lab, self.lab.form
        self.prediction = lab.predict(form)
        followed = lab.kube.assumptions.behaviour.version if lab.kube else server_version(lab.state)
        server = f"{lab.kube.context}, kube-apiserver {followed}" if lab.kube else ""
        self.form_pane.show(
            self.prediction, form.kube_version or followed, server, lab.table, shards=lab.shards
        )

    @on(VTable.Highlighted, "#results")
    def _paint_result(self) -> None:
        """Show the result under the cursor in its panel, or its main fact in the table's title."""
        runner = self.lab.runner
        fact = self.query_one(ResultDetail).show_result(self.results.result)
        running = ""
        if runner.run_of_trial:
            so_far = f": so far {runner.so_far}" if runner.so_far else ""
            running = f"pair {runner.run_of_trial} of at most {LEAST_RUNS}{so_far}"
        if runner.waiting:
            running = "answered: waiting some seconds for the traces"
        newest = self.results.result is not None and self.results.result is runner.results[-1]
        winner = runner.winner if newest else ""
        self.results.entitle(len(runner.results), running or winner or fact or self.lab.consistency)
        self.refresh_bindings()

    # Keys.

    def action_clear(self) -> None:
        """Delete all results, saved ones too, after a question."""
        if count := len(self.lab.runner.results):
            question = ConfirmScreen("results", f"Delete {many(count, 'result')}, on disk too?")
            question.ask(self.app, lambda _: self.lab.forget())

    def action_saved(self) -> None:
        """Open the saved requests; the chosen one goes into the form, and may be sent."""
        form = replace(self.lab.form, continue_token="")
        SavedScreen(SavedRequests(), form, self._request_of).ask(self.app, self._take_saved)

    def _request_of(self, form: ListForm) -> str:
        resource = self.lab.table.by_name(form.resource)
        path = form.resource if resource is None else path_of(form, resource)
        return f"{WATCH if form.stream else LIST} {path}"

    def _take_saved(self, chosen: tuple[ListForm, bool]) -> None:
        form, send = chosen
        self.form_pane.put(form)
        self.results.table.focus()
        if send:
            self.action_send()

    @work(group="target", exclusive=True)
    async def action_choose_target(self) -> None:
        """Choose ktui's own server or one of the kubeconfig's contexts, but not while a request runs."""
        lab = self.lab
        if lab.refuses_more():
            return
        try:
            names, current = await asyncio.to_thread(read_contexts, kubeconfig_files())
        except ClientError as error:
            self.notify(str(error), severity="warning")
            names, current = [], ""
        chosen = await self.app.push_screen_wait(TargetDialog(names, current, lab.server_name))
        if chosen is not None and chosen != lab.server_name:
            await self._choose_target(chosen)

    async def _choose_target(self, context: str) -> None:
        """Switch to a context's kube-apiserver, or with "" to ktui's own server."""
        lab = self.lab
        try:
            server = await connect(context) if context else None
        except ClientError as error:
            self.notify(str(error), severity="error")
            return
        if lab.kube is not None:
            await lab.kube.target.client.close()
        lab.kube = server
        if server is not None and (receiver := self.ktui.receiver) is not None:
            # Received traces judge the requests.
            from ktui.client.traced_target import TracedTarget  # start-up time

            lab.kube = replace(server, target=TracedTarget(server.target, receiver))
        for warning in server.warnings if server is not None else ():
            self.notify(warning, severity="warning")
        lab.changed()

    @on(VTable.Selected, "#results")
    def action_show_pages(self) -> None:
        """Show the whole result, and its request for other clients."""
        result = self.results.result
        if result is None:
            self.notify("nothing was sent yet")
            return
        original = self.lab.runner.result(result.baseline)
        rules = server_version(self.lab.state) if not result.server else ""
        pages = result_pages(result, self.lab.table.by_name(result.form.resource), original, rules)
        self.app.push_screen(PagesScreen(f"#{result.number} {result.label}", pages))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.lab.runner.running
        if action == "next_page":
            return self.results.result is not None and bool(self.results.result.answer.continue_token)
        if action in ("edit", "saved"):
            return not isinstance(self.focused, Input)  # in an input these keys are letters
        if action == "leave":
            return self.focused is not None and self.form_pane.fields in self.focused.ancestors
        return super().check_action(action, parameters)

    # The focus moves now, not with the next message: the next key is meant for what has it.

    def action_edit(self) -> None:
        self.set_focus(self.form_pane.fields.inputs["resource"])

    def action_leave(self) -> None:
        self.set_focus(self.results.table)
