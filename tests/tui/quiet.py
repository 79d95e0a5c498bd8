"""When an app has nothing left to do: known by its loop, not by how little time the processor spent on it."""

from __future__ import annotations

import asyncio
from typing import Any

from textual._wait import wait_for_idle
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout

from ktui.tui.screen_bases.first_screen import FirstScreen

from .frames import paint_due

FRAME = 0.02  # seconds: what a timer does by then (the next picture, the next step of a table) is waited for
MOST = 100  # frames: a timer that never rests is not waited for


async def until_quiet(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Textual's `wait_for_idle`; then until no callback waits for its turn and no timer for the next frame,
    and what has changed is painted.

    By itself that one takes a machine that stalls for an app that is idle: neither uses the processor.
    """
    await wait_for_idle(min_sleep, max_sleep)
    for _ in range(MOST):
        if _quiet(asyncio.get_running_loop()) and not paint_due():
            return
        await asyncio.sleep(FRAME)  # Textual paints with a timer, and sends no signal when it is done
    paint_due()


def _quiet(loop: Any) -> bool:
    """Whether the loop would sleep for a frame and more, as far as it knows."""
    soon = loop.time() + FRAME
    due = any(timer.when() <= soon and not timer.cancelled() for timer in loop._scheduled)
    return not loop._ready and not due


async def until_handled(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Textual's `Pilot._wait_for_screen`: the screen's widgets have handled all messages that they have now.

    That one sends a message to each widget; here only those get one that do not wait for their next, and the
    screen is that of the app's mode, which follows the one of the first frame.
    False if an exception has ended the app before.
    """
    begins = False
    while pilot.app.screen_stack and isinstance(pilot.app.screen, FirstScreen):
        if pilot.app._exception_event.is_set():
            return False
        begins = True
        await asyncio.sleep(0)
    if begins:
        await until_quiet()  # it has painted what the app knows
    if not pilot.app.screen_stack:
        return False
    pumps = (pilot.app, *pilot.app.screen.walk_children(with_self=True))
    handled = [asyncio.Event() for _ in pumps]
    waited = [
        done.wait()
        for pump, done in zip(pumps, handled, strict=True)
        if not _waits(pump) and pump.call_later(done.set)
    ]
    if not waited:
        await asyncio.sleep(0)
        return True
    all_handled = asyncio.gather(*waited)
    broken = asyncio.ensure_future(pilot.app._exception_event.wait())
    await asyncio.wait((all_handled, broken), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    broken.cancel()
    if all_handled.done():
        return True
    all_handled.cancel()
    if not pilot.app._exception_event.is_set():
        raise WaitForScreenTimeout("widgets have not handled their messages")
    return False


def _waits(pump: MessagePump) -> bool:
    """Whether its task waits for a message: it has handled all before."""
    ready = pump._message_queue.ready_event
    return not ready.is_set() and bool(ready._waiters)
