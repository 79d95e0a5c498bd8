"""The server under test: `ktui serve` over an etcd that is restored from a snapshot for this run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ktui.etcd.embedded import EmbeddedEtcd

TOKEN = "tok-ktui"  # the one in the recorded requests
_NOTIFIES_IDLE_CACHES = "experimental-watch-progress-notify-interval"
START_SECONDS = 120.0
# The recorded servers ran without ServiceAccount: no pod in the recordings has a token's volume.
_SERVE = (
    "serve",
    "--allow-writes",
    "--warm=all",
    "--etcd-prefix=/registry",
    "--disable-admission-plugins=ServiceAccount",
)


class _Etcd(EmbeddedEtcd):
    """An etcd that tells idle caches its revision as rarely as the recorded one: only when they ask."""

    def _flags(self, peer_port: int, tuning: dict[str, str]) -> list[str]:
        rare = {name: value for name, value in tuning.items() if name != _NOTIFIES_IDLE_CACHES}
        return super()._flags(peer_port, rare)


class ServerError(Exception):
    """The server has not started or has ended; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A running server with its etcd."""

    url: str
    etcd_url: str


@contextlib.asynccontextmanager
async def serving(snapshot: Path, options: Sequence[str] = ()) -> AsyncIterator[Target]:
    """Start etcd on a copy of the snapshot and a server over it; stop both and remove the copy at the end.

    The server treats this etcd as a cluster's own, as it would a real one.
    """
    with tempfile.TemporaryDirectory(prefix="ktui-fidelity-") as home:
        etcd = await _Etcd.start(snapshot=snapshot)
        try:
            async with _server(etcd.endpoint, options, Path(home)) as url:
                yield Target(url, etcd.endpoint)
        finally:
            await etcd.stop()


@contextlib.asynccontextmanager
async def _server(etcd_url: str, options: Sequence[str], home: Path) -> AsyncIterator[str]:
    errors = home / "errors"
    with errors.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ktui", *_SERVE, f"--etcd={etcd_url}", *options),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=file,
            env=_environment(home),
        )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _end_with, process)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = (await process.stdout.readline()).decode()
        if not line.startswith("serving "):
            await process.wait()
            raise ServerError(f"ktui serve does not start: {errors.read_text(errors='replace')[:2000]}")
        yield line.split()[1]
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _end_with(process: asyncio.subprocess.Process) -> None:
    """End at once on SIGTERM, and leave no server behind. (etcd ends with its parent by itself.)"""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    os._exit(128 + signal.SIGTERM)


def _environment(home: Path) -> dict[str, str]:
    """Return an environment without the user's own settings of ktui and etcd."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ETCDCTL_", "KTUI_"))}
    return {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "KTUI_TOKEN": TOKEN}
