"""SIGTERM quits like `q`: the terminal is restored and the server stopped."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable

from textual.app import App


def leave_on_signals(app: App[int], leave: Callable[[], Awaitable[None]]) -> None:
    """Call `leave` on SIGTERM, if the app runs in the main thread of a terminal's process."""
    if app.is_headless or threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    # SIGHUP keeps its default and ends the process: Textual would block on the terminal, which is gone.
    loop.add_signal_handler(signal.SIGTERM, lambda: app.call_later(leave))
