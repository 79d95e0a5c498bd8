"""Sends variants of a request one after the other, and keeps their results in `results`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ktui.client.connection import ClientError
from ktui.client.measure import ApiRequest
from ktui.client.repeated_runs import alternate, middle
from ktui.client.target import Target
from ktui.core.lab.form import Variant
from ktui.core.lab.form_prediction import NOTHING, Figures
from ktui.core.lab.measured import Measured
from ktui.core.lab.result import LabResult, winner_text
from ktui.core.lab.trial import LEAST_RUNS, Polling, decided, trial_of
from ktui.tui.lab.saved import LabHistory

PREVIOUS = -1


@dataclass(frozen=True, slots=True)
class Planned:
    """One variant to send, with its prediction.

    `baseline` is the number of the result to compare it with; PREVIOUS is the one before it.
    """

    variant: Variant
    path: str
    predicted: Figures = NOTHING
    baseline: int = 0

    @property
    def question(self) -> ApiRequest:
        return ApiRequest(self.path, self.variant.all_pages, accept=self.variant.form.accept_header)


class Runner:
    """The results in the order of sending; one request at a time."""

    def __init__(self, clock: Callable[[], float], warn: Callable[[str], None]) -> None:
        """`warn` is called with what went wrong with the file of results, "" for nothing."""
        self.results: list[LabResult] = []
        self.running = False
        self.streamed = 0  # bytes received of the current answer
        self.run_of_trial = 0  # the pair that is being sent in a comparison; 0 while it warms up
        self.so_far = ""  # the verdict of the pairs up to now
        self.waiting = False  # for the traces of what was sent
        self.winner = ""  # of the variants sent last
        self._clock = clock
        self._warn = warn
        self._history = LabHistory()
        self._number = 0

    def recall(self) -> None:
        """Load the results of earlier runs of the dashboard."""
        self.results = [replace(result, previous=True) for result in self._history.read()]
        self._number = max((result.number for result in self.results), default=0)

    def mark_previous(self, server: str) -> None:
        """Mark the results of `server` as previous: it was restarted, or its etcd has another history."""
        self.results = [
            replace(each, previous=True) if each.server == server else each for each in self.results
        ]

    async def run(self, target: Target, planned: Sequence[Planned], server: str) -> None:
        """Send every variant. Raises ClientError for an unreachable server; error answers are results.

        Where the server's traces are received, the results are judged by them at the end.
        """
        self.running, self.winner = True, ""
        first = len(self.results)
        sent: list[LabResult] = []
        try:
            for each in planned:
                result, self.streamed = self._begin(each, server), 0
                try:
                    measured = await target.measure(each.question, self._count)
                except ClientError as error:
                    self._put(result, error=str(error), pending=False)
                    raise
                sent.append(self._put(result, measured=measured, pending=False))
            runs = await self._judged(target, [each.answer for each in sent])
            sent = [self._put(each, measured=run) for each, run in zip(sent, runs, strict=True)]
            self.winner = winner_text(self.results[first:])
        finally:
            self.running = False
            target.forget()
            self._settle()
            for result in sent:
                self._warn(self._history.add(result))

    async def _judged(self, target: Target, runs: list[Measured]) -> list[Measured]:
        """Return the runs as their traces tell them, if the server's traces are received."""
        if not target.settles_later:
            return runs
        copies = [replace(run, remarks=[*run.remarks]) for run in runs]
        self.waiting = True
        try:
            await target.settle(copies)
        finally:
            self.waiting = False
        return copies

    async def compare(
        self, target: Target, original: Planned, variant: Planned, server: str, polling: Polling | None
    ) -> None:
        """Send both in alternation and compare their cost.

        An original that has been sent (the variant's baseline is its number) gets no new row.
        After each pair the medians so far are shown; no pair follows once the difference is decisive.
        Raises ClientError if the server becomes unreachable.
        """
        self.running, self.so_far, self.winner = True, "", ""
        rows = [] if variant.baseline > 0 else [self._begin(original, server)]
        rows.append(self._begin(variant, server))
        try:
            questions = [original.question, variant.question]
            sent = partial(self._pair_sent, rows, polling, counted=not target.settles_later)
            found = await alternate(target, questions, LEAST_RUNS, self._next_run, self._count, sent)
            judged = iter(await self._judged(target, [run for each in found for run in each]))
            found = [[next(judged) for _ in each] for each in found]
        except ClientError as error:
            for row in rows:
                self._put(row, error=str(error), pending=False)
            raise
        else:
            trials = [None, trial_of(found[0], found[1], polling)][-len(rows) :]
            for row, runs, trial in zip(rows, found[-len(rows) :], trials, strict=True):
                result = self._put(row, measured=middle(runs), pending=False, trial=trial)
                self._warn(self._history.add(result))
        finally:
            self.running, self.run_of_trial, self.so_far = False, 0, ""
            target.forget()
            self._settle()

    def _pair_sent(
        self, rows: list[LabResult], polling: Polling | None, found: list[list[Measured]], *, counted: bool
    ) -> bool:
        """Show the medians so far; return True if they are decisive.

        Counters that other clients move decide nothing where traces will come (`counted` is False).
        """
        for row, runs in zip(rows, found[-len(rows) :], strict=True):
            self._put(row, measured=middle(runs))
        if not counted:
            return False
        originals, variants = found
        self.so_far = trial_of(originals, variants, polling).sentence
        return decided(originals, variants)

    def _next_run(self, run: int, place: int) -> None:
        self.run_of_trial, self.streamed = run, 0

    def result(self, number: int) -> LabResult | None:
        return next((result for result in self.results if result.number == number), None)

    def _count(self, chunk: bytes) -> None:
        self.streamed += len(chunk)

    def _begin(self, planned: Planned, server: str) -> LabResult:
        before, self._number = self._number, self._history.next_number(self._number)
        result = LabResult(
            number=self._number, label=planned.variant.label, path=planned.path, form=planned.variant.form,
            predicted=planned.predicted, server=server, at=self._clock(), pending=True,
            baseline=before if planned.baseline == PREVIOUS else planned.baseline,
        )  # fmt: skip
        self.results.append(result)
        return result

    def _put(self, result: LabResult, **changed: Any) -> LabResult:
        """Show `result` with what has changed of it, and return that."""
        result = replace(result, **changed)
        self.results = [
            replace(result, previous=old.previous) if old.number == result.number else old
            for old in self.results
        ]
        return result

    def _settle(self) -> None:
        """Mark requests that were interrupted as stopped."""
        self.results = [
            replace(old, pending=False, error=old.error or "stopped") if old.pending else old
            for old in self.results
        ]

    def clear(self) -> None:
        """Drop all results but those still pending, saved ones too."""
        self.results = [result for result in self.results if result.pending]
        self._warn(self._history.clear())
