"""Read the log files of `ktui audit` with a progress bar."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ktui.audit.cluster import read_on_dask
from ktui.audit.grouped import read_grouped
from ktui.audit.reading.files import Log, Stopped, read_logs, total_size
from ktui.audit.workers import read_all

if TYPE_CHECKING:
    from rich.progress import Progress

    from ktui.audit.request_list import RequestList
    from ktui.audit.tally import Tally


def list_with_bar(logs: list[Log], requests: RequestList) -> bool:
    """Read every record of the logs in turn; False after Ctrl-C."""
    with _progress() as bar, _until_ctrl_c() as pressed:
        task = bar.add_task("reading", total=total_size(logs) or None)

        def report(name: str, taken: int) -> None:
            if pressed:
                raise Stopped
            bar.update(task, description=_label(name), completed=taken)

        try:
            read_logs(logs, requests, report)
        except Stopped:
            return False
    return True


def read_with_bar(logs: list[Log], tally: Tally, *, grouped: bool = False, dask: str = "") -> None:
    """Count every record of the logs (`grouped`: every row of a query's result) in `tally`.

    A stream that breaks off is noted as the problem of its file. Ctrl-C ends only the reading, between
    two blocks of records; a second Ctrl-C ends the program.
    """
    with _progress() as bar, _until_ctrl_c() as pressed, _without_collector():
        task = bar.add_task("reading", total=total_size(logs) or None)

        def report(name: str, taken: int) -> None:
            if pressed:
                raise Stopped
            bar.update(task, description=_label(name), completed=taken)

        try:
            read = read_grouped if grouped else partial(read_on_dask, dask) if dask else read_all
            read(logs, tally, report)
        except Stopped:
            tally.stopped = True


@contextmanager
def _until_ctrl_c() -> Iterator[list[int]]:
    """Yield a list that is not empty after Ctrl-C. A KeyboardInterrupt could interrupt counting a request."""
    pressed: list[int] = []

    def press(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(number, before)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch the garbage collector off: counting makes no cycles, and it took a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _label(name: str) -> str:
    from rich.markup import escape  # start-up time

    from ktui.printable import escaped

    return escape(escaped(name)[-40:])


def _progress() -> Progress:
    """Return a progress bar on standard error, which shows only on a terminal."""
    from rich.progress import (  # start-up time
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from ktui.cli.printing import Printer

    console = Printer(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
