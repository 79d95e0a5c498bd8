"""What the parts of the Lab know of its screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ktui.core.lab.form import ListForm
from ktui.core.lab.result import LabResult
from ktui.tui.screens.asking import AskingScreen


@dataclass(frozen=True, slots=True)
class Desk:
    """`form` is the LIST as it stands in the form, `result` the one under the cursor.

    `take_page` puts what goes on from a page into the form; `changed` is to be called when something
    has begun or ended.
    """

    screen: AskingScreen
    form: Callable[[], ListForm]
    result: Callable[[], LabResult | None]
    take_page: Callable[[ListForm], None]
    changed: Callable[[], None]

    def say(self, text: str) -> None:
        self.screen.notify(text, markup=False)

    def warn(self, problem: str) -> None:
        self.screen.notify(problem, severity="warning", markup=False)

    def fail(self, problem: str) -> None:
        self.screen.notify(problem, severity="error", markup=False)
