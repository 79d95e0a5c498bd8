"""SIGTERM quits as `q` does: the terminal is restored, the server stopped."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable

from textual.app import App


def leave_on_signals(app: App[int], leave: Callable[[], Awaitable[None]]) -> None:
    """Have SIGTERM call `leave`, where the app is the one that the process is for."""
    if app.is_headless or threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    # A hangup is left to end the process: Textual would block on the terminal that is gone.
    loop.add_signal_handler(signal.SIGTERM, lambda: app.call_later(leave))
