"""Requests sent in alternation, so that other load on the machine affects all of them alike."""

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
) -> list[list[Measured]]:
    """Send A B A B …: each request once uncounted, then all of them `runs` times.

    Returns the runs of each request. If the first response of one is an error, only that
    response: it is not sent again. `begun(run, place)` is called before each request (run 0
    is not counted), `keep` gets the chunks of every body. Raises ClientError.
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
    return found


def _answered(measured: Measured) -> bool:
    """A WATCH may fail after its 200: then it has a message."""
    return measured.ok and not measured.message
