"""What the Lab does: fire, race, page, undercut, compare with etcd, and at whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import work
from textual.worker import Worker

from ktui.client.burden import Burdens, burdens_of
from ktui.client.connection import ClientError
from ktui.client.target import KtuiTarget, Target
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.tui.lab_history import LabHistory
from ktui.tui.model.foresee import cheaper_of
from ktui.tui.model.format import integer, long_bytes
from ktui.tui.model.lab import ListForm, RaceForm, form_of, next_page, path_of, race_forms
from ktui.tui.model.lab_bench import PREVIOUS, Bench, Shot
from ktui.tui.model.lab_predict import Elsewhere, Prediction, predict
from ktui.tui.model.lab_result import LabResult
from ktui.tui.screens.asking import AskingScreen
from ktui.tui.screens.lab.aim import Aim, AimScreen, contexts, take_aim
from ktui.tui.screens.lab.confirm import ConfirmScreen
from ktui.tui.screens.lab.fields import Candidates
from ktui.tui.screens.lab.proof import headline, proof_text
from ktui.tui.screens.text import TextScreen

BUSY = "one request at a time: x stops the one that runs"
# Of an etcd that is not ours so many objects are not read without a question.
MANY_OBJECTS = 5_000


class FiringScreen(AskingScreen):
    """Subclasses draw: they say which form and which result are meant, and follow `bench`."""

    def __init__(self) -> None:
        super().__init__()
        self.history = LabHistory()
        self.bench = Bench(clock=lambda: self.ktui.clock(), done=self._keep)
        self.table: ResourceTable = BUILTIN
        self.prediction = Prediction()
        self.candidates = Candidates()
        self.aim: Aim | None = None
        self.proof = ""
        self._run: Worker[None] | None = None

    @property
    def form(self) -> ListForm:
        raise NotImplementedError

    @property
    def result(self) -> LabResult | None:
        """The result under the cursor."""
        raise NotImplementedError

    def show_progress(self) -> None:
        """Something has begun or ended."""
        raise NotImplementedError

    def compose_page(self, form: ListForm) -> None:
        """Put what goes on from a page into the form."""
        raise NotImplementedError

    @property
    def elsewhere(self) -> Elsewhere | None:
        return self.aim.elsewhere if self.aim is not None else None

    @property
    def server(self) -> str:
        return self.aim.context if self.aim is not None else ""

    @property
    def target(self) -> Target:
        """Raises ClientError while there is no server."""
        return self.aim.target if self.aim is not None else KtuiTarget(self.client)

    # Forms to fire.

    def action_fire(self) -> None:
        self.start([(RaceForm("as composed", self.form), 0)])

    def action_race(self) -> None:
        namespace = "" if self.aim is not None else self.candidates.busy_namespace
        races = race_forms(self.form, self._current_rv(), namespace)
        self.start([(race, 0) for race in races])

    def action_next_page(self) -> None:
        result = self.result
        if result is not None and result.measured is not None:
            form = next_page(result.form, result.measured.continue_token)
            self.compose_page(form)
            self.start([(RaceForm(f"page after #{result.number}", form), 0)])

    def action_undercut(self) -> None:
        """Fire the next cheaper form of the result under the cursor, or of what is composed."""
        result = self.result
        usable = result if result is not None and result.ok and self._same_server(result) else None
        dear = usable.form if usable is not None else self.form
        found = self._cheaper(dear, usable.number if usable is not None else 0)
        if found is None:
            what = f"#{usable.number}" if usable is not None else "what is composed"
            self.notify(f"no cheaper form of {what} is known that was not tried", markup=False)
            return
        if usable is not None:
            self.start([(found, usable.number)])
        else:
            self.start([(RaceForm("as composed", dear), 0), (found, PREVIOUS)])

    def _same_server(self, result: LabResult) -> bool:
        return result.server == self.server and not result.past

    def _cheaper(self, dear: ListForm, number: int) -> RaceForm | None:
        """The first cheaper form that was not tried against that result."""
        tried = {
            (each.path, each.form.accept) for each in self.bench.results if number and each.dear == number
        }
        resource = self.table.by_name(dear.resource)
        prediction = self._foresee(dear)
        explanation = prediction.explanation
        if resource is None or explanation is None or explanation.decision.error is not None:
            return None
        forms = [
            (cheaper_of(prediction.path, advice).change, form_of(advice.path, dear))
            for advice in explanation.advice
        ]
        if dear.accept == "json":
            forms.append(("metadata only", replace(dear, accept="metadata")))
        for label, form in forms:
            if (path_of(form, resource), form.accept) not in tried:
                return RaceForm(label, form, all_pages=form.pages and not dear.pages)
        return None

    def _current_rv(self) -> int:
        """Where NotOlderThan and Exact are put: the cache's revision, else etcd's; elsewhere the last one."""
        if self.aim is not None:
            seen = [each.measured.rv for each in self.bench.results
                    if each.measured is not None and self._same_server(each)
                    and each.form.resource == self.form.resource]  # fmt: skip
            return max((int(rv) for rv in seen if rv.isdigit()), default=0)
        resource = self.table.by_name(self.form.resource)
        state = self.ktui.state
        row = state.caches.get(resource.id) if resource is not None else None
        return row.rv if row is not None and row.rv else state.head.revision

    # Firing.

    def start(self, races: Sequence[tuple[RaceForm, int]]) -> None:
        """Fire forms, each with the number of the result that it undercuts (0: none)."""
        if self.bench.running:
            self.notify(BUSY, markup=False)
            return
        known = [(race, dear) for race, dear in races if self.table.by_name(race.form.resource) is not None]
        if not known:
            problem = self.prediction.problem
            self.notify(problem.message if problem is not None else "nothing to send", markup=False)
            return
        self._run = self._fire(known)
        self.show_progress()

    def _foresee(self, form: ListForm) -> Prediction:
        """Under the rules that the server follows, whatever the form plays with."""
        return predict(replace(form, kube_version=""), self.table, self.ktui.state, elsewhere=self.elsewhere)

    def _shot(self, race: RaceForm, dear: int) -> Shot:
        prediction = self._foresee(race.form)
        foreseen = prediction.figures
        if foreseen is None:
            return Shot(race, prediction.path, dear=dear)
        return Shot(race, prediction.path, foreseen, dear)

    @work(group="fire", exclusive=True)
    async def _fire(self, races: Sequence[tuple[RaceForm, int]]) -> None:
        try:
            if await self._agreed([race for race, _ in races]):
                shots = [self._shot(race, dear) for race, dear in races]
                await self.bench.run(self.target, shots, self.server)
        except ClientError as error:
            self.notify(str(error), severity="error", markup=False)
        finally:
            self.show_progress()

    async def _agreed(self, races: Sequence[RaceForm]) -> bool:
        """A real apiserver is only made to work hard if somebody wants that. Raises ClientError."""
        aim = self.aim
        if aim is None:
            return True
        paths = [self._foresee(race.form).path for race in races]
        world, sizes = aim.elsewhere.world, aim.elsewhere.sizes
        burdens = await burdens_of(aim.target.client, paths, world, sizes)
        if not burdens.heavy:
            return True
        agreed: bool = await self.app.push_screen_wait(ConfirmScreen("a large LIST", _question(burdens, aim)))
        return agreed

    def _keep(self, result: LabResult) -> None:
        if problem := self.history.add(result):
            self.notify(problem, severity="warning", markup=False)

    def action_stop(self) -> None:
        if self._run is not None:
            self._run.cancel()

    def action_clear(self) -> None:
        """Forget all results, those on disk too."""
        self.bench.clear()
        if problem := self.history.clear():
            self.notify(problem, severity="warning", markup=False)
        self.show_progress()

    # Comparing the cache with etcd.

    @work(group="proof", exclusive=True)
    async def action_prove(self) -> None:
        """Compare the cache of the resource in the form with etcd at the cache's own revision."""
        resource = self.table.by_name(self.form.resource)
        if self.aim is not None or resource is None:
            text = (
                "only ktui's own server compares its caches with etcd"
                if resource
                else "name a resource first"
            )
            self.notify(text, markup=False)
            return
        row = self.ktui.state.caches.get(resource.id)
        objects = row.cache.objects if row is not None else 0
        server = self.ktui.state.server
        if objects > MANY_OBJECTS and server is not None and server.etcd_kind == "external":
            text = f"This reads {integer(objects)} objects from an etcd that is not ours. Go on?"
            if not await self.app.push_screen_wait(ConfirmScreen("compare with etcd", text)):
                return
        try:
            answer = await self.client.send_json("POST", f"/ktui/v1/caches/{resource.id}/check", {})
        except ClientError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.proof = headline(resource.id, answer)
        self.show_progress()
        self.app.push_screen(TextScreen(f"{resource.id}, cache and etcd", proof_text(resource.id, answer)))

    # Whom to fire at.

    @work(group="aim", exclusive=True)
    async def action_aim(self) -> None:
        """Choose ktui's own server or a context of the user's kubeconfig."""
        if self.bench.running:
            self.notify(BUSY, markup=False)
            return
        try:
            names, current = contexts()
        except ClientError as error:
            self.notify(str(error), severity="warning", markup=False)
            names, current = [], ""
        chosen = await self.app.push_screen_wait(AimScreen(names, current, self.server))
        if chosen is None or chosen == self.server:
            return
        try:
            aim = await take_aim(chosen) if chosen else None
        except ClientError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        await self._leave_target()
        self.aim = aim
        for warning in aim.warnings if aim is not None else ():
            self.notify(warning, severity="warning", markup=False)
        self.show_progress()

    async def _leave_target(self) -> None:
        if self.aim is not None:
            await self.aim.target.client.close()
            self.aim = None


def _question(burdens: Burdens, aim: Aim) -> str:
    count = len(burdens.each)
    what = "This LIST goes" if count == 1 else f"These {count} LISTs, one after the other, go"
    return (
        f"{what} over {integer(burdens.objects)} objects, about {long_bytes(burdens.bytes)} as JSON, "
        f"of {aim.context} ({aim.target.client.connection.url}).\n\nFire?"
    )
