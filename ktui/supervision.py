"""Background tasks: a failed one is logged, reported, and restarted after a growing pause."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from typing import Any

from msgspec import Struct

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())

PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)  # seconds before the next try; the last one repeats
STEADY_SECONDS = 60.0  # a task that has run for this long has recovered
MOST_LETTERS = 200  # of an error's own message

Work = Callable[[], Coroutine[Any, Any, None]]


class Failure(Struct, frozen=True):
    """One failed run of a task. `count` is the number of consecutive failures."""

    task: str
    error: Exception
    count: int
    pause: float

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" {self.count} times in a row"
        return f"{self.task} failed{times}, trying again every {self.pause:.0f} s: {describe(self.error)}"


class Supervisor:
    """Keeps tasks running until `stop`.

    `changed` is called when a task fails and when a failed one has recovered; `failures` holds
    those that have not. `pause` waits between two attempts.
    """

    def __init__(
        self,
        changed: Callable[[], None] = lambda: None,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._changed = changed
        self._pause = pause
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[str, Failure] = {}

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The newest failure of each task that has not recovered."""
        return tuple(self._failures.values())

    def start(self, name: str, work: Work) -> asyncio.Task[None]:
        """Run `work` until it returns; `name` completes the sentence "… failed".

        It runs in a context of its own: its cost is not added to the meter of the request that starts it.
        """
        task = asyncio.create_task(self._keep_running(name, work), name=name, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        await stop(*self._tasks)

    async def _keep_running(self, name: str, work: Work) -> None:
        while True:
            recovery = asyncio.get_running_loop().call_later(STEADY_SECONDS, self._recovered, name)
            try:
                await work()
            except Exception as error:
                failure = self._failed(name, error)
            else:
                self._recovered(name)
                return
            finally:
                recovery.cancel()
            await self._pause(failure.pause)

    def _failed(self, name: str, error: Exception) -> Failure:
        before = self._failures.get(name)
        count = before.count + 1 if before is not None else 1
        failure = Failure(name, error, count, PAUSES[min(count, len(PAUSES)) - 1])
        self._failures[name] = failure
        log.error("%s", failure, exc_info=error)
        self._changed()
        return failure

    def _recovered(self, name: str) -> None:
        if self._failures.pop(name, None) is not None:
            log.info("%s works again", name)
            self._changed()


async def stop(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel the tasks and wait until they have ended."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def describe(error: BaseException) -> str:
    """An error's first line, with its type if it has no message; of a group, its first error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    first = next(iter(str(error).splitlines()), "")
    first = first if len(first) <= MOST_LETTERS else f"{first[: MOST_LETTERS - 1]}…"
    return first if first and _is_sentence(error) else f"{type(error).__name__}: {first}".rstrip(": ")


def _is_sentence(error: BaseException) -> bool:
    """True if ktui raised it with a sentence for users: its own errors are not Python's."""
    return type(error).__module__.partition(".")[0] == "ktui"
