"""One run of a workload in a process of its own: reads its output, sends it commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ktui.client.connection import ServerConnection
from ktui.workloads.running.summary import DECODER, Finished, LiveSecond, Refused, Tables

KEPT = 600  # seconds shown in the charts
STOP_SECONDS = 20.0  # for the process to end, before it is killed
LONGEST_LINE = 4 * 1024 * 1024  # bytes; the summary is one line


class Session:
    """`seconds` grow while the run lasts; `summary` is set at its end, `problem` if it failed.

    `changed` is called after each line.
    """

    def __init__(self, workload: str, changed: Callable[[], None], *, compares: bool = False) -> None:
        """`compares`: some knobs are set twice, for the two sides of a comparison."""
        self.workload = workload
        self.compares = compares
        self.seconds: deque[LiveSecond] = deque(maxlen=KEPT)
        self.tables: list[dict[str, Any]] = []  # the workload's tables so far
        self.summary: dict[str, Any] | None = None
        self.problem = ""
        self.running = False
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None

    @property
    def last(self) -> LiveSecond | None:
        return self.seconds[-1] if self.seconds else None

    async def run(self, connection: ServerConnection, settings: Sequence[str], seconds: float) -> None:
        """Start the process and read its output to the end."""
        words = ["workload", "run", self.workload, "--stream", f"--for={seconds:g}s"]
        words += [f"--set={setting}" for setting in settings]
        words += ["--compare"] if self.compares else []
        words += ["--attach", connection.url, "--yes"]
        words += ["--server-ca", str(connection.ca_file)] if connection.ca_file is not None else []
        self.running = True
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ktui", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={**os.environ, "KTUI_TOKEN": connection.token},
            start_new_session=True,  # Ctrl-C in the terminal is the dashboard's
        )
        try:
            assert process.stdout is not None and process.stderr is not None
            errors = asyncio.create_task(process.stderr.read(65536))
            async for line in process.stdout:
                with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
                    match DECODER.decode(line):
                        case LiveSecond() as second:
                            self.seconds.append(second)
                        case Tables(tables):
                            self.tables = tables
                        case Refused(message):
                            self.problem = message
                        case Finished(summary):
                            self.summary = summary
                self._changed()
            status = await process.wait()
            if status and self.summary is None:
                output = (await errors).decode("utf-8", "replace").strip().splitlines()
                self.problem = (
                    output[-1].removeprefix("ktui: ") if output else f"it ended with status {status}"
                )
        finally:
            self.running = False
            await self._end(process)
            self._changed()

    def send(self, command: str) -> None:
        """Send `set KNOB VALUE`, `fault KIND` or `stop` to the process, if it runs."""
        self.problem = ""
        process = self._process
        if self.running and process is not None and process.stdin is not None:
            process.stdin.write(f"{command}\n".encode())

    def mark(self, text: str) -> None:
        """Mark the newest second: something that the run does not know of was done to its server."""
        if self.seconds:
            second = self.seconds[-1]
            self.seconds[-1] = msgspec.structs.replace(second, marker=f"{second.marker} {text}".lstrip())
            self._changed()

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """End the process: close its standard input, and after STOP_SECONDS kill it."""
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            if process.stdin is not None:
                process.stdin.close()
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
