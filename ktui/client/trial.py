"""Send requests in alternation, so that other load affects all of them equally."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ktui.client.measure import ApiRequest, Keep
    from ktui.client.target import Target
    from ktui.core.lab.measured import Measured


async def alternate(
    target: Target,
    requests: Sequence[ApiRequest],
    runs: int,
    begun: Callable[[int, int], object] = lambda run, place: None,
    keep: Keep | None = None,
    enough: Callable[[list[list[Measured]]], bool] = lambda found: False,
) -> list[list[Measured]]:
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
