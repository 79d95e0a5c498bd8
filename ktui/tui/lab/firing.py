"""Firing forms one after the other, and keeping what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual.worker import Worker

from ktui.client.burden import Burdens, burdens_of
from ktui.client.connection import ClientError
from ktui.core.format import integer, long_bytes
from ktui.core.lab.form import ListForm, RaceForm
from ktui.core.lab.predict import Prediction, predict
from ktui.core.lab.result import LabResult
from ktui.tui.lab.aim import Aim
from ktui.tui.lab.aiming import Aiming, busy_text
from ktui.tui.lab.bench import Bench, Shot
from ktui.tui.lab.confirm import ConfirmScreen
from ktui.tui.lab.desk import Desk
from ktui.tui.lab.history import LabHistory
from ktui.tui.lab.learning import Known

OWN = ""  # the name of ktui's own server among results


class Firing:
    """`bench` has the results; those of earlier runs are recalled from the disk."""

    def __init__(self, desk: Desk, known: Known, aiming: Aiming) -> None:
        self.bench = Bench(clock=lambda: desk.screen.ktui.clock(), done=self._keep)
        self._desk = desk
        self._known = known
        self._aiming = aiming
        self._history = LabHistory()
        self._run: Worker[None] | None = None
        self._served: tuple[str, int, int] | None = None  # what the own server's results are of

    @property
    def begun(self) -> bool:
        """Whether anything was fired in this run."""
        return self._run is not None

    def start(self, races: Sequence[tuple[RaceForm, int]]) -> None:
        """Fire forms, each with the number of the result that it undercuts (0: none)."""
        if self.bench.running:
            self._desk.say(busy_text())
            return
        self.outdate()
        table = self._known.table
        known = [(race, dear) for race, dear in races if table.by_name(race.form.resource) is not None]
        if not known:
            problem = self.foresee(self._desk.form()).problem
            self._desk.say(problem.message if problem is not None else "nothing to send")
            return
        self._run = self._desk.screen.aside(partial(self._fire, known), "fire")
        self._desk.changed()

    def stop(self) -> None:
        if self._run is not None:
            self._run.cancel()

    def recall(self) -> None:
        """The results of earlier runs."""
        self.bench.recall(self._history.read())

    def outdate(self) -> None:
        """Results of ktui's own server are past once it is another process or etcd's history another one."""
        served = self._serving()
        if served is None or served == self._served:
            return
        if self._served is not None:
            self.bench.outdate(OWN)
        self._served = served

    def _serving(self) -> tuple[str, int, int] | None:
        """URL and pid of ktui's own server and which history its etcd has; None while that is not known."""
        app = self._desk.screen.ktui
        if app.client is None or app.state.server is None or not app.state.head.revision:
            return None
        return app.client.connection.url, app.state.server.pid, app.state.head.histories

    def clear(self) -> None:
        """Forget all results, those on disk too."""
        self.bench.clear()
        if problem := self._history.clear():
            self._desk.warn(problem)
        self._desk.changed()

    def foresee(self, form: ListForm) -> Prediction:
        """Under the rules that the server follows, whatever the form plays with."""
        state = self._desk.screen.ktui.state
        plain = replace(form, kube_version="")
        return predict(plain, self._known.table, state, elsewhere=self._aiming.elsewhere)

    def _shot(self, race: RaceForm, dear: int) -> Shot:
        prediction = self.foresee(race.form)
        foreseen = prediction.figures
        if foreseen is None:
            return Shot(race, prediction.path, dear=dear)
        return Shot(race, prediction.path, foreseen, dear)

    async def _fire(self, races: Sequence[tuple[RaceForm, int]]) -> None:
        try:
            if await self._agreed([race for race, _ in races]):
                shots = [self._shot(race, dear) for race, dear in races]
                await self.bench.run(self._aiming.target, shots, self._aiming.server)
        except ClientError as error:
            self._desk.fail(str(error))
        finally:
            self._desk.changed()

    async def _agreed(self, races: Sequence[RaceForm]) -> bool:
        """A real apiserver is only made to work hard if somebody wants that. Raises ClientError."""
        aim = self._aiming.aim
        if aim is None:
            return True
        paths = [self.foresee(race.form).path for race in races]
        world, sizes = aim.elsewhere.world, aim.elsewhere.sizes
        burdens = await burdens_of(aim.target.client, paths, world, sizes)
        if not burdens.heavy:
            return True
        question = ConfirmScreen("a large LIST", _question(burdens, aim))
        agreed: bool = await self._desk.screen.app.push_screen_wait(question)
        return agreed

    def _keep(self, result: LabResult) -> None:
        if problem := self._history.add(result):
            self._desk.warn(problem)


def _question(burdens: Burdens, aim: Aim) -> str:
    count = len(burdens.each)
    what = "This LIST goes" if count == 1 else f"These {count} LISTs, one after the other, go"
    return (
        f"{what} over {integer(burdens.objects)} objects, about {long_bytes(burdens.bytes)} as JSON, "
        f"of {aim.context} ({aim.target.client.connection.url}).\n\nFire?"
    )
