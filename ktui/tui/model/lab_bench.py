"""The Lab's bench: fires forms one after the other, in order, and keeps what came back.

No screen: whoever draws asks for `results` when it paints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ktui.client.api import Fired
from ktui.client.connection import ClientError
from ktui.kube.resources import ResourceTable
from ktui.telemetry.events import RequestFinished
from ktui.tui.model.lab import ListForm, RaceForm, path_of
from ktui.tui.model.lab_result import LabResult, accounted, answered

# A page of so many objects is kept for its continue token; a body that may be larger is only counted.
KEPT_LIMIT = 5_000


class Firing(Protocol):
    """The part of ApiClient that the bench needs."""

    async def fire(
        self, path: str, *, headers: Any = None, keep_body: bool = False, on_bytes: Any = None
    ) -> Fired: ...


@dataclass(frozen=True, slots=True)
class Shot:
    """One form to fire, and the public route foreseen for it."""

    race: RaceForm
    path: str
    predicted: str


class Bench:
    """Results in the order in which they were fired; at most one request is out at a time."""

    def __init__(self) -> None:
        self.results: list[LabResult] = []
        self.running = False
        self.streamed = 0  # bytes of the answer that is coming in
        self._number = 0

    async def run(self, client: Firing, shots: Sequence[Shot], table: ResourceTable) -> None:
        """Fire every shot; an unreachable server ends the run, an error answer does not."""
        self.running = True
        try:
            for shot in shots:
                await self._fire(client, shot, table)
        finally:
            self.running = False
            self._settle()

    async def _fire(self, client: Firing, shot: Shot, table: ResourceTable) -> None:
        form, path = shot.race.form, shot.path
        result = self._begin(shot)
        while path:
            self.streamed = 0
            try:
                fired = await client.fire(
                    path,
                    headers={"Accept": form.accept_header},
                    keep_body=_kept(form) or shot.predicted == "none",
                    on_bytes=self._count,
                )
            except ClientError as error:
                self._put(replace(result, error=str(error), pending=False))
                raise
            result = answered(result, fired)
            path = self._next_path(shot, result, table)
            result = replace(result, pending=bool(path))
            self._put(result)

    def _next_path(self, shot: Shot, result: LabResult, table: ResourceTable) -> str:
        resource = table.by_name(shot.race.form.resource)
        if not (shot.race.all_pages and result.ok and result.continue_token and resource):
            return ""
        return path_of(next_page(shot.race.form, result.continue_token), resource)

    def _count(self, size: int) -> None:
        self.streamed = size

    def _begin(self, shot: Shot) -> LabResult:
        self._number += 1
        result = LabResult(
            number=self._number,
            label=shot.race.label,
            path=shot.path,
            form=shot.race.form,
            predicted=shot.predicted,
            pending=True,
        )
        self.results.append(result)
        return result

    def _put(self, result: LabResult) -> None:
        self.results = [result if old.number == result.number else old for old in self.results]

    def _settle(self) -> None:
        """What was cut off is not pending any more."""
        self.results = [
            replace(old, pending=False, error=old.error or "stopped") if old.pending else old
            for old in self.results
        ]

    def account(self, finished: Callable[[int], RequestFinished | None]) -> None:
        """Complete results with what telemetry tells of their requests by now."""
        self.results = [
            accounted(result, [event for each in result.request_ids if (event := finished(each)) is not None])
            if result.measures.etcd_keys is None and not result.pending
            else result
            for result in self.results
        ]

    def clear(self) -> None:
        self.results = [result for result in self.results if result.pending]


def next_page(form: ListForm, token: str) -> ListForm:
    """The form that goes on from `token`: the token pins the revision, so none may be named beside it."""
    return replace(form, continue_token=token, resource_version="", match="")


def _kept(form: ListForm) -> bool:
    return form.pages and int(form.limit) <= KEPT_LIMIT
