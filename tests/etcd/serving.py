"""`ktui serve` as a user runs it: a process of its own, spoken to over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx


def plain_client(url: str, **options: Any) -> httpx.AsyncClient:
    """A client of a server without TLS. By itself httpx loads all CA certificates of the machine (20 ms)."""
    return httpx.AsyncClient(base_url=url, verify=False, trust_env=False, **options)


@dataclass
class Served:
    """A server that answers; `said` is its standard error so far."""

    url: str
    http: httpx.AsyncClient
    home: Path
    said: list[str] = field(default_factory=list)

    async def json(self, path: str) -> Any:
        """The JSON answer of a GET that has to succeed."""
        answer = await self.http.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
        return answer.json()

    async def until(self, path: str, holds: Callable[[Any], bool], seconds: float = 60.0) -> Any:
        """Ask until the answer is as wanted: a process of its own sends no signal."""
        async with asyncio.timeout(seconds):
            while True:
                answer = await self.http.get(path)
                found = (
                    answer.json()
                    if answer.headers["content-type"].startswith("application/json")
                    else answer.text
                )
                if holds(found):
                    return found
                await asyncio.sleep(0.02)  # another process sends no signal


@contextlib.asynccontextmanager
async def serving(
    home: Path,
    *words: str,
    environ: Mapping[str, str] | None = None,
    on_error: Callable[[str], None] = lambda line: None,
    tls: bool = False,
) -> AsyncIterator[Served]:
    """A running server, stopped at the end. AssertionError with its words when it does not start.

    `on_error` gets each line of its standard error. With `tls`, clients bring their own certificates.
    """
    start = _start_any if tls else _start
    process = await start(home, *words, environ=environ)
    assert process.stdout is not None and process.stderr is not None
    said: list[str] = []
    reading = asyncio.create_task(_keep(process.stderr, said, on_error))
    try:
        async with asyncio.timeout(60):
            ready = (await process.stdout.readline()).decode()
        if not ready.startswith("serving "):
            await reading
            raise AssertionError("".join(said))
        url = ready.split()[1]
        async with plain_client(url, timeout=60) as http:
            yield Served(url, http, home, said)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        await reading


async def refused(home: Path, *words: str, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit status and standard error of a server that does not start."""
    process = await _start(home, *words, environ=environ)
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert not out, out
    return process.returncode or 0, err.decode()


async def _start(
    home: Path, *words: str, environ: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    return await _start_any(home, "--insecure-http", *words, environ=environ)


async def _start_any(
    home: Path, *words: str, environ: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ETCDCTL_", "KTUI_"))}
    env = {
        **kept,
        "XDG_RUNTIME_DIR": str(home),
        "XDG_STATE_HOME": str(home),
        "HOME": str(home),
        **(environ or {}),
    }
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ktui", "serve", *words, env=env, stdout=pipe, stderr=pipe
    )


async def _keep(stream: asyncio.StreamReader, said: list[str], on_error: Callable[[str], None]) -> None:
    async for line in stream:
        said.append(line.decode("utf-8", "replace"))
        on_error(said[-1])
