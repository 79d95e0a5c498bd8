"""Lab: compose a LIST field by field, see what the rules foresee, fire it, race its forms, compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from ktui.core.lab.form import ListForm, added_to, form_of_read
from ktui.core.lab.predict import Prediction, predict
from ktui.core.lab.server import server_version
from ktui.core.references import Read, Reference
from ktui.core.selection import InHand
from ktui.core.state import State
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.aiming import Aiming
from ktui.tui.lab.composing import ComposingPane
from ktui.tui.lab.desk import Desk
from ktui.tui.lab.document import result_pages
from ktui.tui.lab.field_form import FieldForm
from ktui.tui.lab.firing import Firing
from ktui.tui.lab.learning import Known
from ktui.tui.lab.pages import PagesScreen
from ktui.tui.lab.proving import Proving
from ktui.tui.lab.results import ResultDetail, ResultsPane
from ktui.tui.lab.rounds import Rounds
from ktui.tui.screens.asking import AskingScreen
from ktui.tui.table.vtable import VTable


class LabScreen(AskingScreen):
    """The form is the question; everything else on the screen follows from it."""

    MODE = "lab"
    CSS_PATH = "lab.tcss"
    AUTO_FOCUS = "#results"  # not the form: what is typed there is no key
    BINDINGS: ClassVar[list[BindingType]] = keys.LAB

    def __init__(self) -> None:
        super().__init__()
        self.composing = ComposingPane(self._candidates)
        self.results = ResultsPane()
        desk = Desk(
            self, lambda: self.form, lambda: self.results.result, self.composing.take_page, self.changed
        )
        self.known = Known(self)
        self.aiming = Aiming(desk, lambda: self.firing.bench.running)
        self.firing = Firing(desk, self.known, self.aiming)
        self.rounds = Rounds(desk, self.known, self.aiming, self.firing)
        self.proving = Proving(desk, self.known, self.aiming)
        self.prediction = Prediction()
        self._shown: tuple[Any, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield self.composing
        yield self.results
        yield ResultDetail()

    @property
    def form(self) -> ListForm:
        """The LIST as it stands in the form."""
        return self.composing.form

    # What others ask and tell.

    def visit(self, reference: Reference | None) -> None:
        """A LIST: it is put into the form, to be looked at before it is fired."""
        known = self.known.table
        form = form_of_read(reference.in_hand, self.form, known) if isinstance(reference, Read) else None
        if isinstance(reference, Read) and form is not None:
            self.composing.take(form)
            self.results.table.focus()
            if added := added_to(reference.in_hand.target, form):
                fires = f"{key_of('lab.fire')} fires it as a WatchList, so that it ends"
                self.notify(f"{fires}: {', '.join(added)} added", markup=False)
        elif reference is not None:
            self.notify("the Lab fires LISTs, and WATCHes that begin with all objects", markup=False)

    def references(self) -> Sequence[Reference]:
        in_hand = self.request_in_hand()
        return () if in_hand is None else (Read(in_hand),)

    def active_table(self) -> VTable[Any] | None:
        return self.results.table

    def request_in_hand(self) -> InHand | None:
        path, level = self.prediction.path, "" if self.aiming.aim else "exempt"
        return InHand(self.composing.verb, path, "from the Lab", level) if path else None

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.composing.fields.set_value("resource", "pods")
        self.firing.recall()
        self.results.table.focus()
        if self.ktui.preferences.aim:
            self.aiming.aim_at(self.ktui.preferences.aim)

    def on_resize(self) -> None:
        self.results.fit(self.size.width)
        self.call_after_refresh(self._paint_results)  # the panel has come, or gone

    def paint_tables(self, state: State) -> None:
        bench = self.firing.bench
        now = (tuple(bench.results), bench.streamed if bench.running else 0)
        if now != self._shown:
            self._shown = now
            self.results.show(*now)
            self._paint_results()

    def paint_panels(self, state: State) -> None:
        self.known.learn()
        self.firing.outdate()
        self.foresee(state)

    def changed(self) -> None:
        """Something has begun or ended."""
        if self.firing.bench.running or self.firing.begun:
            self.results.table.following = True
        self.refresh_bindings()
        if self.paintable:
            self.paint_tables(self.ktui.state)
            self.foresee(self.ktui.state)
            self._paint_results()

    def foresee(self, state: State) -> None:
        """Predict what the form says now, and show it."""
        elsewhere, table, form = self.aiming.elsewhere, self.known.table, self.form
        self.prediction = predict(form, table, state, elsewhere=elsewhere)
        followed = elsewhere.world.behaviour.version if elsewhere else server_version(state)
        self.composing.show(self.prediction, form.kube_version or followed, self.aiming.aim, table)

    @on(VTable.Highlighted, "#results")
    def _paint_results(self) -> None:
        """The result under the cursor in its panel; where that has no room, the gist in the table's title."""
        bench = self.firing.bench
        self.results.give_room(len(bench.results))
        gist = self.query_one(ResultDetail).take_apart(self.results.result, bench)
        self.results.entitle(len(bench.results), gist or self.proving.proof)
        self.refresh_bindings()

    # Keys.

    def action_send(self) -> None:
        self.rounds.fire()

    def action_compare(self) -> None:
        """The app's key for restarting a server is the Lab's for a race: of a server that has stopped."""
        if self.ktui.link.broken and self.aiming.aim is None:
            self.ktui.action_restart()
        else:
            self.rounds.race()

    def action_try_cheaper(self) -> None:
        self.rounds.undercut()

    def action_next_page(self) -> None:
        self.rounds.next_page()

    def action_check_consistency(self) -> None:
        self.proving.prove()

    def action_choose_target(self) -> None:
        self.aiming.choose()

    def action_stop(self) -> None:
        self.firing.stop()

    def action_clear(self) -> None:
        self.firing.clear()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.firing.bench.running
        if action == "next_page":
            result = self.results.result
            measured = result.measured if result is not None else None
            return measured is not None and bool(measured.continue_token)
        if action == "edit":
            return not isinstance(self.focused, Input)  # there it is a letter
        if action == "leave":
            return self.focused is not None and self.composing.fields in self.focused.ancestors
        return super().check_action(action, parameters)

    @on(VTable.Selected, "#results")
    def action_show_pages(self) -> None:
        """The result in full, and the same request from elsewhere."""
        result = self.results.result
        if result is None:
            self.notify("nothing was fired yet", markup=False)
            return
        pages = result_pages(result, self.known.table.by_name(result.form.resource))
        self.app.push_screen(PagesScreen(f"#{result.number} {result.label}", pages))

    # The form.

    def _candidates(self, field: str) -> list[str]:
        known = self.known
        return list(known.candidates.of(field, self.form.resource, known.table, self.ktui.state))

    @on(FieldForm.Changed)
    def _typed(self) -> None:
        self.foresee(self.ktui.state)

    @on(FieldForm.Submitted)
    def _submitted(self) -> None:
        self.rounds.fire()

    def action_edit(self) -> None:
        self.composing.fields.focus_field("resource")

    def action_leave(self) -> None:
        self.set_focus(self.results.table)  # at once, too: the next key is no text
