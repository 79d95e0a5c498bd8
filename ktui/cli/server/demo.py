"""Run the demo's clients in a separate process, so that their work is not counted as the server's."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable

from ktui.cli.child import lines_of
from ktui.cli.logs import log_of
from ktui.cli.output import tell

log = log_of(__name__)

# The process writes lines of standard error for the server; they begin with these words.
FILLING = "filling:"
FAILING = "failing clients: "  # a JSON list of sentences follows


class DemoEnded(Exception):
    """The process of the demo's clients has failed; the message is its last line."""


class Demo:
    """The process of the demo's clients. A supervisor calls `run`, again after it raised DemoEnded.

    The process starts with the server, and waits until `serve` tells the server's URL.

    `failing` has sentences about clients that fail while the process runs, `filling` the progress of
    creating the cluster as text; `changed` and `progressed` are called when they change.
    """

    def __init__(
        self, args: argparse.Namespace, changed: Callable[[], None], progressed: Callable[[], None]
    ) -> None:
        self.failing: list[str] = []
        self.filling = ""
        self._changed = changed
        self._progressed = progressed
        size = [f"--{name}={getattr(args, name)}" for name in ("pods", "nodes", "namespaces", "seed")]
        traffic = [] if args.quiet else ["--traffic"]
        output = "--silent" if args.quiet or args.parent else "--progress"
        words = ["seed", output, f"--parent={os.getpid()}", *size, *traffic]
        self._command = [sys.executable, "-m", "ktui", *words]
        self._url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        # A dashboard reports the last lines of its server's standard error as the cause of its end.
        self._forwards = not args.parent

    def serve(self, url: str) -> None:
        """Let the clients begin: the server serves at `url`."""
        self._url.set_result(url)

    async def run(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            assert process.stdin is not None
            process.stdin.write(f"{await self._url}\n".encode())
            process.stdin.close()
            last = await self._follow(process)
            if await process.wait():
                raise DemoEnded(last or f"status {process.returncode}")
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
            self._set_failing([])
            self._set_filling("")

    async def _follow(self, process: asyncio.subprocess.Process) -> str:
        """Read the process' standard error to the end; return the last line."""
        assert process.stderr is not None
        last = ""
        async for text in lines_of(process.stderr):
            if text.startswith(FAILING):
                failing: list[str] = []
                with contextlib.suppress(ValueError):
                    failing = [str(sentence) for sentence in json.loads(text.removeprefix(FAILING))]
                self._set_failing(failing)
                continue
            if text.startswith(FILLING):
                self._set_filling(text.removeprefix(FILLING).strip())
                continue
            last = text.removeprefix("ktui: ") or last
            if self._forwards:
                tell(text)
        return last

    def _set_failing(self, failing: list[str]) -> None:
        if failing != self.failing:
            self.failing = failing
            for text in failing:
                log.warning("%s", text)
            self._changed()

    def _set_filling(self, filling: str) -> None:
        if filling != self.filling:
            self.filling = filling
            self._progressed()
