"""The Lab's bench: fires forms one after the other, in order, and keeps what came back.

No screen: whoever draws asks for `results` when it paints.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ktui.client.connection import ClientError
from ktui.client.measure import Question
from ktui.client.target import Target
from ktui.core.lab.figures import NOTHING, Figures
from ktui.core.lab.form import RaceForm
from ktui.core.lab.result import LabResult

PREVIOUS = -1


@dataclass(frozen=True, slots=True)
class Shot:
    """One form to fire and what is foreseen of it.

    `dear` is the number of the result that it undercuts, PREVIOUS: of the one fired before it.
    """

    race: RaceForm
    path: str
    foreseen: Figures = NOTHING
    dear: int = 0


class Bench:
    """Results in the order in which they were fired; at most one request is out at a time."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        done: Callable[[LabResult], None] = lambda result: None,
    ) -> None:
        """`done` is told of each result that was answered."""
        self.results: list[LabResult] = []
        self.running = False
        self.streamed = 0  # bytes of the answer that is coming in
        self._clock = clock
        self._done = done
        self._number = 0

    def recall(self, past: Iterable[LabResult]) -> None:
        """Begin with the results of earlier lives."""
        self.results = [replace(result, past=True) for result in past]
        self._number = max((result.number for result in self.results), default=0)

    def outdate(self, server: str) -> None:
        """`server` is another one now, or its etcd has another history: its results are of the past."""
        self.results = [
            replace(result, past=True) if result.server == server and not result.past else result
            for result in self.results
        ]

    async def run(self, target: Target, shots: Sequence[Shot], server: str = "") -> None:
        """Fire every shot; an unreachable server ends the run (ClientError), an error answer does not."""
        self.running = True
        try:
            for shot in shots:
                await self._fire(target, shot, server)
        finally:
            self.running = False
            self._settle()

    async def _fire(self, target: Target, shot: Shot, server: str) -> None:
        result = self._begin(shot, server)
        form = shot.race.form
        question = Question(shot.path, shot.race.all_pages, accept=form.accept_header)
        self.streamed = 0
        try:
            measured = await target.measure(question, self._count)
        except ClientError as error:
            self._put(replace(result, error=str(error), pending=False))
            raise
        result = replace(result, measured=measured, pending=False)
        self._put(result)
        self._done(result)

    def result(self, number: int) -> LabResult | None:
        return next((result for result in self.results if result.number == number), None)

    def _count(self, chunk: bytes) -> None:
        self.streamed += len(chunk)

    def _begin(self, shot: Shot, server: str) -> LabResult:
        self._number += 1
        result = LabResult(
            number=self._number,
            label=shot.race.label,
            path=shot.path,
            form=shot.race.form,
            foreseen=shot.foreseen,
            server=server,
            at=self._clock(),
            dear=self._number - 1 if shot.dear == PREVIOUS else shot.dear,
            pending=True,
        )
        self.results.append(result)
        return result

    def _put(self, result: LabResult) -> None:
        self.results = [
            replace(result, past=old.past) if old.number == result.number else old for old in self.results
        ]

    def _settle(self) -> None:
        """What was cut off is not pending any more."""
        self.results = [
            replace(old, pending=False, error=old.error or "stopped") if old.pending else old
            for old in self.results
        ]

    def clear(self) -> None:
        """Forget what has ended."""
        self.results = [result for result in self.results if result.pending]
