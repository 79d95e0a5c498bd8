"""Parse the dumps of API Priority and Fairness: text in padded columns separated by commas."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from ktui.contract.events.live import LevelSample, QueueSample, RunningRequest

MOST_REQUESTS = 5_000  # read of a dump: a kube-apiserver admits a few hundred at a time
OWN_PATHS = "/debug/api_priority_and_fairness"
_READ_VERBS = ("get", "list", "watch", "head", "options", "proxy", "connect")
_WRITE_VERBS = ("create", "update", "patch", "delete", "deletecollection", "post", "put")
_VERBS = frozenset((*_READ_VERBS, *_WRITE_VERBS))
_BEHIND = 5  # columns after APIPath
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]+)")
_NANOSECONDS = re.compile(r"(\.\d{6})\d*")


def requests_of(dump: str) -> list[RunningRequest]:
    """Return the requests of `dump_requests?includeRequestDetails=1`; invalid lines are left out.

    User names and paths may contain commas; the verb between them shows where they end.
    """
    found: list[RunningRequest] = []
    for text in dump.splitlines()[1:]:
        parts = [part.strip() for part in text.split(",")]
        if len(found) >= MOST_REQUESTS:
            break
        if (request := _request(parts)) is not None and not request.path.startswith(OWN_PATHS):
            found.append(request)
    return found


def levels_of(dump: str) -> list[LevelSample]:
    """Return the priority levels of `dump_priority_levels`; invalid lines are left out."""
    found = []
    for parts in _rows(dump, 6):
        numbers = [int(part[:15]) for part in (parts[1], parts[4], parts[5]) if part.isdecimal()]
        if len(numbers) == 3:
            queues, waiting, executing = numbers
            found.append(
                LevelSample(parts[0], queues, parts[2] == "true", parts[3] == "true", waiting, executing)
            )
    return found


def queues_of(dump: str) -> list[QueueSample]:
    """Return the queues of `dump_queues` that have requests."""
    found = []
    for parts in _rows(dump, 5):
        if all(part.isdecimal() for part in parts[1:5]):
            numbers = [int(part[:15]) for part in parts[1:5]]
            if any(numbers[1:]):
                found.append(QueueSample(parts[0], *numbers))
    return found


def _rows(dump: str, columns: int) -> Iterator[list[str]]:
    for text in dump.splitlines()[1 : MOST_REQUESTS + 1]:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) >= columns:
            yield parts


def _request(parts: list[str]) -> RunningRequest | None:
    arrived = next((at for at in range(5, len(parts)) if _TIME.fullmatch(parts[at])), 0)
    if not arrived or arrived + 5 > len(parts) or not parts[arrived + 1].isdecimal():
        return None
    more = parts[arrived + 5 :]
    user, verb, path = _details(more[:-_BEHIND]) if len(more) > _BEHIND else ("", "", "")
    return RunningRequest(
        level=parts[0],
        schema=parts[1],
        user=user or ",".join(parts[4:arrived]),
        verb=verb,
        path=path,
        resource=more[-2] if verb else "",
        namespace=more[-5] if verb else "",
        seats=int(parts[arrived + 1][:9]),
        queued=parts[3].isdecimal(),  # the place in the queue; -1 for an executing request
        arrived=_time(parts[arrived]),
    )


def _details(parts: list[str]) -> tuple[str, str, str]:
    """Return user, verb and path."""
    for at, part in enumerate(parts):
        if at and part in _VERBS:
            return ",".join(parts[:at]), part, ",".join(parts[at + 1 :])
    return "", "", ""


def _time(text: str) -> float:
    try:
        return max(0.0, datetime.datetime.fromisoformat(_NANOSECONDS.sub(r"\1", text)).timestamp())
    except (ValueError, OverflowError):
        return 0.0
