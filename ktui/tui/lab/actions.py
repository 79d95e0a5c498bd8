"""The Lab's keys that send requests: the form, its variants, the next page, a cheaper variant."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from textual import on, work
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from ktui.client.large_lists import unbounded_lists
from ktui.client.target import Target
from ktui.contract.cache_documents import ConsistencyCheck
from ktui.core.format import integer, long_bytes, many, milliseconds
from ktui.core.lab.form import (
    ORIGINAL,
    ListForm,
    Variant,
    cheaper_form,
    cheaper_label,
    path_of,
    sendable,
    variants_of,
    why_not,
)
from ktui.core.lab.form_prediction import NOTHING
from ktui.core.lab.result import LabResult
from ktui.core.lab.trial import Polling
from ktui.core.prediction.prediction import cheaper_of
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.lab.context import LabContext
from ktui.tui.lab.form_pane import FieldForm, FormPane
from ktui.tui.lab.results import ResultsPane
from ktui.tui.lab.runner import PREVIOUS, Planned
from ktui.tui.screen_bases.server_screen import ServerScreen

# From this many objects on, the user is asked before an etcd that ktui did not start is read.
MANY_OBJECTS = 5_000


def report(resource_id: str, answer: ConsistencyCheck) -> str:
    """Return the text on the result of `POST /ktui/v1/caches/…/check`."""
    read = f"{many(answer.etcd.rpcs, 'RPC')}, {long_bytes(answer.etcd.bytes)}"
    cache, etcd = (
        f"  {name:<12} {integer(side.objects):>10}   {side.digest}   {cost}"
        for name, side, cost in (("watch cache", answer.cache, "from memory"), ("etcd", answer.etcd, read))
    )
    text = f"""{headline(resource_id, answer)}

  {"":<12} {"objects":>10}   {"digest":<16}
{cache}
{etcd}

The digest is FNV-1 (64 bit) over namespace/name/resourceVersion of every object in key
order, as kube-apiserver's own consistency check makes it. etcd was read at exactly the
resourceVersion that the cache had, in pages."""
    if answer.consistent:
        return text
    dropped = "The cache's snapshots were dropped: LISTs at an exact resourceVersion go to etcd."
    return f"{text}\n\nFirst difference: {answer.difference}.\n\n{dropped}"


def headline(resource_id: str, answer: ConsistencyCheck) -> str:
    """`pods: cache = etcd at rv 48,102 (3,000 objects, 41 ms)`."""
    sign, rv = "=" if answer.consistent else "≠", integer(int(answer.rv))
    cost = f"{integer(answer.etcd.objects)} objects, {milliseconds(answer.ms)} ms"
    return f"{resource_id}: cache {sign} etcd at RV {rv} ({cost})"


class LabActions(ServerScreen):
    """Makes the variants to send from the form or from the result under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.lab = LabContext(self)
        self.form_pane = FormPane(self.lab.candidates)
        self.results = ResultsPane()
        self._run: Worker[None] | None = None

    @property
    def sending(self) -> bool:
        """True from the key that sends requests to their end."""
        return self._run is not None and not self._run.is_finished

    async def finish_sending(self) -> None:
        """Wait until what is being sent has been answered, stopped or has failed."""
        if self._run is not None:
            with suppress(WorkerCancelled, WorkerFailed):
                await self._run.wait()

    @on(FieldForm.Submitted)
    def action_send(self) -> None:
        self._start([_original(self.lab.form)])

    def action_compare(self) -> None:
        """Compare variants; while ktui's own server is stopped, restart it (the app has the same key)."""
        lab = self.lab
        if self.ktui.link.broken and lab.kube is None:
            self.ktui.action_restart()
        else:
            namespace = "" if lab.kube is not None else lab.busy_namespace
            self._start(variants_of(lab.form, self._current_rv(), namespace))

    def action_next_page(self) -> None:
        """Send the next page of the result under the cursor, and put its continue token into the form."""
        if (result := self.results.result) is not None:
            # The token contains the revision: no other may be given.
            token = result.answer.continue_token
            form = replace(result.form, continue_token=token, resource_version="", match="")
            for name in ("continue_token", "resource_version", "match"):
                self.form_pane.fields.set_value(name, getattr(form, name))
            self._start([Variant(f"page after #{result.number}", form)])

    def action_try_cheaper(self) -> None:
        """Compare the result under the cursor, or the form, with its next cheaper variant."""
        result = self.results.result
        if result is not None and result.ok and self._same_server(result):
            original = Variant(ORIGINAL, result.form, result.answer.pages > 1)
            self.try_original(original, number=result.number)
        else:
            self.try_original(_original(self.lab.form))

    def action_stop(self) -> None:
        if self._run is not None:
            self._run.cancel()

    def action_check_consistency(self) -> None:
        """Compare the cache of the form's resource with etcd at the cache's own revision."""
        resource = self.lab.table.by_name(self.lab.form.resource)
        if resource is None:
            self.notify("name a resource first")
        elif self.lab.kube is not None:
            self.notify("only ktui's own server compares its caches with etcd")
        else:
            self._check(resource.id)

    @work(group="consistency", exclusive=True)
    async def _check(self, resource: str) -> None:
        row, server = self.lab.state.caches.get(resource), self.lab.state.server
        objects = row.cache.objects if row is not None else 0
        if objects > MANY_OBJECTS and server is not None and server.etcd_kind == "external":
            text = f"This reads {many(objects, 'object')} from an etcd that ktui did not start. Go on?"
            if not await self.app.push_screen_wait(ConfirmScreen("compare with etcd", text)):
                return
        with self.ktui.notifying_errors():
            answer = await self.server.check(resource)
            self.lab.consistency = headline(resource, answer)
            self.lab.changed()
            self.app.push_screen(TextScreen(f"{resource}, cache and etcd", report(resource, answer)))

    def try_original(self, original: Variant, variant: Variant | None = None, *, number: int = 0) -> None:
        """Compare a request with `variant`, or its first cheaper variant; without one, send it alone.

        `number` is that of its result if it has been sent.
        """
        found = variant or self._cheaper(original.form, number)
        if found is not None:
            whole = original.all_pages or not original.form.pages
            found = replace(found, all_pages=found.form.pages and whole)
            if not self._refuses(original, found):
                self._begin(partial(self._compare, original, found, number))
        elif number:
            self.notify(f"no untried cheaper variant of #{number} left{self._untried(original.form)}")
        else:
            self.notify(f"no cheaper variant can be tried{self._untried(original.form)}: sent alone")
            self._start([original])

    def _untried(self, form: ListForm) -> str:
        """Return why the existing advice cannot be sent: ` (…)`; "" without such advice."""
        explanation = self.lab.predict_answer(form).explanation
        reasons = [why_not(advice) for advice in explanation.advice] if explanation is not None else []
        return next((f" ({reason})" for reason in reasons if reason), "")

    def _same_server(self, result: LabResult) -> bool:
        return result.server == self.lab.server_name and not result.previous

    def _cheaper(self, form: ListForm, number: int) -> Variant | None:
        """Return the first cheaper variant that was not compared with result `number`; None without one."""
        lab = self.lab
        compared = [each for each in lab.runner.results if number and each.baseline == number]
        tried = {(each.path, each.form.accept) for each in compared}
        resource, prediction = lab.table.by_name(form.resource), lab.predict_answer(form)
        explanation = prediction.explanation
        if resource is None or explanation is None or explanation.plan.error is not None:
            return None
        for advice in filter(sendable, explanation.advice):
            cheaper = cheaper_form(advice, form)
            if (path_of(cheaper, resource), cheaper.accept) not in tried:
                label = cheaper_label(advice) or cheaper_of(prediction.path, advice).change
                return Variant(label, cheaper)
        return None

    def _current_rv(self) -> int:
        """Return the resourceVersion for NotOlderThan and Exact.

        The cache's revision, or else etcd's; with a kube-apiserver the last one that it answered with.
        """
        lab, wanted = self.lab, self.lab.form.resource
        if lab.kube is not None:
            of = (each for each in lab.runner.results if each.form.resource == wanted)
            seen = [each.answer.rv for each in of if self._same_server(each)]
            return max((int(rv) for rv in seen if rv.isdigit()), default=0)
        resource = lab.table.by_name(wanted)
        row = lab.state.caches.get(resource.id) if resource is not None else None
        return row.rv if row is not None and row.rv else lab.state.head.revision

    # Sending.

    def _start(self, variants: Sequence[Variant]) -> None:
        lab = self.lab
        if self._refuses(*variants):
            return
        known = [each for each in variants if lab.table.by_name(each.form.resource) is not None]
        if known:
            self._begin(partial(self._send, known))
        else:
            problem = lab.predict_answer(lab.form).problem
            self.notify(problem.message if problem is not None else "nothing to send")

    def _begin(self, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.lab.mark_previous()
        self._run = self.in_background(send, "send")
        self.lab.changed()

    def _refuses(self, *variants: Variant) -> bool:
        """Return True, and notify the user of the reason: something runs, or a shard would be ignored."""
        if self.lab.refuses_more():
            return True
        for variant in variants:
            problem = self.lab.predict_answer(variant.form).problem if variant.form.shard else None
            if problem is not None and not problem.code and problem.field == "shard":
                self.notify(f"not sent: {problem.message}")
                return True
        return False

    async def _compare(self, original: Variant, variant: Variant, number: int) -> None:
        lab = self.lab

        async def send(target: Target) -> None:
            first, second = self._plan(original), self._plan(variant, number or PREVIOUS)
            polling = self._polling(original.form) if variant.form.stream else None
            await lab.runner.compare(target, first, second, lab.server_name, polling)

        await self._once_agreed([original, variant], send)

    def _polling(self, form: ListForm) -> Polling | None:
        """Return a client's polls and the bytes of events per minute; None if it does not repeat the LIST."""
        lab = self.lab
        every = lab.state.access_patterns.of_target(lab.predict_answer(form).path).repeated_every
        resource = lab.table.by_name(form.resource)
        if not every or form.stream or resource is None or lab.kube is not None:
            return None
        row = lab.state.caches.get(resource.id)
        average = row.cache.bytes / row.cache.objects if row is not None and row.cache.objects else 0.0
        return Polling(60 / every, 60 * lab.state.events_per_second(resource.id) * average)

    async def send_once(self, label: str) -> None:
        """Send the form and wait for the answer."""
        variant = Variant(label, self.lab.form)
        if not self._refuses(variant):
            await self._send([variant])

    async def _send(self, variants: Sequence[Variant]) -> None:
        lab = self.lab

        async def send(target: Target) -> None:
            await lab.runner.run(target, [self._plan(each) for each in variants], lab.server_name)

        await self._once_agreed(variants, send)

    async def _once_agreed(
        self, variants: Sequence[Variant], send: Callable[[Target], Coroutine[Any, Any, None]]
    ) -> None:
        """Send if the user agrees. Plans are made then: the check before learns the number of objects."""
        lab = self.lab
        try:
            with self.ktui.notifying_errors():
                if await self.agreed([lab.predict_answer(each.form).path for each in variants]):
                    await send(lab.target)
        finally:
            lab.changed()

    def _plan(self, variant: Variant, baseline: int = 0) -> Planned:
        prediction = self.lab.predict_answer(variant.form)
        return Planned(variant, prediction.path, prediction.figures or NOTHING, baseline)

    async def agreed(self, paths: Sequence[str]) -> bool:
        """Ask the user before an expensive LIST is sent to a real kube-apiserver. Raises ClientError."""
        kube = self.lab.kube
        if kube is None:
            return True
        found = await unbounded_lists(kube.target.client, paths, kube.assumptions)
        if not found.large:
            return True
        count, url = len(found.each), kube.target.client.connection.url
        what = "This LIST goes" if count == 1 else f"These {count} LISTs, one after the other, go"
        question = (
            f"{what} over {integer(found.objects)} objects, about {long_bytes(found.bytes)} as JSON, "
            f"of {kube.context} ({url}).\n\nSend?"
        )
        agreed = await self.app.push_screen_wait(ConfirmScreen("a large LIST", question))
        return bool(agreed)


def _original(form: ListForm) -> Variant:
    """Return the form's variant; a WATCH is sent with the parameters of a WatchList."""
    return Variant("WatchList" if form.stream else ORIGINAL, form)
