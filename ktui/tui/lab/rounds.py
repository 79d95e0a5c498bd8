"""What a key fires: the form as composed, a race of its forms, the next page, a cheaper form."""

from __future__ import annotations

from ktui.core.lab.form import (
    ListForm,
    RaceForm,
    cheaper_form,
    cheaper_label,
    fireable,
    next_page,
    path_of,
    race_forms,
)
from ktui.core.lab.result import LabResult
from ktui.core.prediction.foresee import cheaper_of
from ktui.tui.lab.aiming import Aiming
from ktui.tui.lab.bench import PREVIOUS
from ktui.tui.lab.desk import Desk
from ktui.tui.lab.firing import Firing
from ktui.tui.lab.learning import Known


class Rounds:
    """Each makes the forms to fire out of what is composed, or of the result under the cursor."""

    def __init__(self, desk: Desk, known: Known, aiming: Aiming, firing: Firing) -> None:
        self._desk = desk
        self._known = known
        self._aiming = aiming
        self._firing = firing

    def fire(self) -> None:
        self._firing.start([(_composed(self._desk.form()), 0)])

    def race(self) -> None:
        namespace = "" if self._aiming.aim is not None else self._known.candidates.busy_namespace
        races = race_forms(self._desk.form(), self._current_rv(), namespace)
        self._firing.start([(race, 0) for race in races])

    def next_page(self) -> None:
        result = self._desk.result()
        if result is not None and result.measured is not None:
            form = next_page(result.form, result.measured.continue_token)
            self._desk.take_page(form)
            self._firing.start([(RaceForm(f"page after #{result.number}", form), 0)])

    def undercut(self) -> None:
        """Fire the next cheaper form of the result under the cursor, or of what is composed."""
        result = self._desk.result()
        usable = result if result is not None and result.ok and self._same_server(result) else None
        dear = usable.form if usable is not None else self._desk.form()
        found = self._cheaper(dear, usable.number if usable is not None else 0)
        if found is None:
            what = f"#{usable.number}" if usable is not None else "what is composed"
            self._desk.say(f"no cheaper form of {what} is known that was not tried")
        elif usable is not None:
            self._firing.start([(found, usable.number)])
        else:
            self._firing.start([(_composed(dear), 0), (found, PREVIOUS)])

    def _same_server(self, result: LabResult) -> bool:
        return result.server == self._aiming.server and not result.past

    def _cheaper(self, dear: ListForm, number: int) -> RaceForm | None:
        """The first cheaper form that was not tried against that result."""
        results = self._firing.bench.results
        tried = {(each.path, each.form.accept) for each in results if number and each.dear == number}
        resource = self._known.table.by_name(dear.resource)
        prediction = self._firing.foresee(dear)
        explanation = prediction.explanation
        if resource is None or explanation is None or explanation.plan.error is not None:
            return None
        forms = [
            (cheaper_label(advice) or cheaper_of(prediction.path, advice).change, cheaper_form(advice, dear))
            for advice in explanation.advice
            if fireable(advice)
        ]
        for label, form in forms:
            if (path_of(form, resource), form.accept) not in tried:
                return RaceForm(label, form, all_pages=form.pages and not dear.pages)
        return None

    def _current_rv(self) -> int:
        """Where NotOlderThan and Exact are put: the cache's revision, else etcd's; elsewhere the last one."""
        asked = self._desk.form().resource
        if self._aiming.aim is not None:
            seen = [each.measured.rv for each in self._firing.bench.results
                    if each.measured is not None and self._same_server(each)
                    and each.form.resource == asked]  # fmt: skip
            return max((int(rv) for rv in seen if rv.isdigit()), default=0)
        resource = self._known.table.by_name(asked)
        state = self._desk.screen.ktui.state
        row = state.caches.get(resource.id) if resource is not None else None
        return row.rv if row is not None and row.rv else state.head.revision


def _composed(form: ListForm) -> RaceForm:
    """Named after what is fired: a WATCH goes out with the parameters of a WatchList."""
    return RaceForm("WatchList" if form.stream else "as composed", form)
