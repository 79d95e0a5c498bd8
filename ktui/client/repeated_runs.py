"""Send requests several times: one repeatedly (the median run represents all), or several in alternation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING, Any

from ktui.core.prediction.prediction import Prediction, predict_path
from ktui.kube.access_pattern import JSON, AccessPattern

if TYPE_CHECKING:
    from ktui.client.measure import ApiRequest, Keep
    from ktui.client.target import Target
    from ktui.core.lab.measured import Measured


async def alternate(
    target: Target, requests: Sequence[ApiRequest], runs: int,
    begun: Callable[[int, int], object] = lambda run, place: None, keep: Keep | None = None,
    enough: Callable[[list[list[Measured]]], bool] = lambda found: False,
) -> list[list[Measured]]:  # fmt: skip
    """Send A B A B …: each request once uncounted, then `runs` times. Return the runs of each request.

    After each counted round `enough` gets the runs so far; if it returns True, no round follows.
    A request whose first response is an error is not repeated: that response is its only run.
    `begun(run, place)` is called before each request (run 0 is not counted), `keep` with every chunk
    of a body. Raises ClientError.
    """
    found: list[list[Measured]] = [[] for _ in requests]
    for run in range(runs + 1):
        for place, request in enumerate(requests):
            before = found[place]
            if before and not _answered(before[0]):
                continue
            begun(run, place)
            measured = await target.measure(request, keep)
            if run == 1:
                before.clear()
            before.append(measured)
        if run and enough(found):
            break
    return found


def _answered(measured: Measured) -> bool:
    """True if the request succeeded; a WATCH that fails after its 200 has a message."""
    return measured.ok and not measured.message


@dataclass(frozen=True, slots=True)
class Runs:
    """Several runs of a request. `measured` is the run with the median time, `ms` the times of all.

    `predicted` was made before the first run, and `first_route` is that run's route:
    the first LIST of a cold cache warms it for the others.
    """

    measured: Measured
    predicted: Prediction
    first_route: str
    ms: tuple[float, ...]

    @property
    def agrees(self) -> bool | None:
        """True if the first run took the predicted route; None if either is unknown."""
        if not self.first_route and self.measured.from_storage:
            return None  # answered, but without the route
        return self.predicted.agrees(self.first_route)

    def document(self) -> dict[str, Any]:
        """Return the median run, all times, and the prediction as a JSON object."""
        return {
            **self.measured.document(),
            "runs": {"count": len(self.ms), "ms": [round(ms, 3) for ms in self.ms]},
            "predicted": {**self.predicted.document(), "agrees": self.agrees},
        }


async def run_often(
    target: Target,
    request: ApiRequest,
    repeat: int,
    kept: Callable[[], AbstractContextManager[Keep | None]] = nullcontext,
) -> Runs:
    """Predict a request, then send it `repeat` times. `kept` is entered for each run. Raises ClientError."""
    server = await target.assumptions()
    predicted = predict_path(request.path, server.of, AccessPattern(accept=request.accept or JSON))
    runs = []
    for _ in range(repeat):
        with kept() as keep:
            runs.append(await target.measure(request, keep))
    await target.settle(runs)
    measured = middle(runs)
    if not measured.average_bytes and measured.counters.get("fetched"):
        # The size of the objects is known now if the cache was cold before.
        if not target.real and not server.average_bytes(request.path):
            server = await target.assumptions()
        measured.average_bytes = server.average_bytes(request.path)
    return Runs(measured, predicted, runs[0].first_route, tuple(run.total_ms for run in runs))


def middle(runs: list[Measured]) -> Measured:
    """Return the run with the median time (with an even number of runs the lower one)."""
    middle = median_low([run.total_ms for run in runs])
    return next(run for run in runs if run.total_ms == middle)
