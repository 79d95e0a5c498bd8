"""An etcd child process: on loopback only, on free ports, stopped with ktui."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ktui.etcd import warden
from ktui.etcd.binary import Binary, find_binary
from ktui.etcd.errors import EmbeddedEtcdError
from ktui.etcd.server_log import EtcdLog
from ktui.etcd.snapshot import damaged, restore
from ktui.etcd.temporary_etcd import TemporaryEtcd, locked, sweep
from ktui.supervision import Supervisor, stop

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
NAME = "ktui"
READY_TIMEOUT = 30.0  # seconds; restored or foreign data may take long to open
STOP_TIMEOUT = 10.0
SPACE_SECONDS = 5.0  # between two starts of an etcd that had no space on its disk
LOG_TIMEOUT = 5.0  # seconds for the rest of the log of an etcd that has ended
_PORT_TRIES = 5

# A single-member cluster has no election: its member leads after --election-timeout.
QUOTA_BYTES = 8 << 30  # of its database; etcd recommends no more
_TUNING = {
    "heartbeat-interval": "20",
    "election-timeout": "100",
    "snapshot-count": "10000",
    "auto-compaction-retention": "0",
    # As kubeadm sets it: idle caches learn etcd's revision without requests.
    "experimental-watch-progress-notify-interval": "5s",
}


class EmbeddedEtcd:
    """A running etcd. `failed` resolves with an EmbeddedEtcdError if etcd ends before `stop`.

    etcd ends when its disk is full. It is then started again until there is space, on the same port, and
    `problem` says so: the caches go on answering meanwhile.
    """

    def __init__(self, binary: Binary, data_dir: Path | None, supervisor: Supervisor, quota: int) -> None:
        self.binary = binary
        self._quota = quota
        self._supervisor = supervisor
        self.endpoint = ""
        self.log = EtcdLog()
        self.failed: asyncio.Future[EmbeddedEtcdError] = asyncio.get_running_loop().create_future()
        self.warnings: list[str] = []
        self.problem = ""
        self.on_problem: Callable[[str], None] = lambda sentence: None  # also when it is over
        self._flags_used: list[str] = []
        self._throwaway = TemporaryEtcd() if data_dir is None else None
        self.data_dir = data_dir or self._own.path / "data"
        self._process: asyncio.subprocess.Process | None = None
        self._ordering = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None
        self._stopping = False

    @classmethod
    async def start(
        cls,
        data_dir: Path | None = None,
        binary: Path | None = None,
        snapshot: Path | None = None,
        port: int | None = None,
        supervisor: Supervisor | None = None,
        quota: int = QUOTA_BYTES,
    ) -> EmbeddedEtcd:
        """Start an etcd and wait until it serves. Raises EmbeddedEtcdError or SnapshotError.

        Without `data_dir` the data is removed at the end. A `snapshot` is first restored into such a
        temporary directory. `port` is the client port, `quota` the most bytes of the database.
        """
        await asyncio.to_thread(sweep)
        self = cls(await find_binary(binary), data_dir, supervisor or Supervisor(), quota)
        try:
            try:
                self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
                held = locked(self.data_dir / "member" / "snap" / "db")
            except OSError as error:
                raise EmbeddedEtcdError(f"data directory {self.data_dir}: {error.strerror}.") from error
            if held:
                raise EmbeddedEtcdError(f"data directory {self.data_dir} is in use by another etcd.")
            if snapshot is not None:
                self.warnings += await restore(snapshot, self.data_dir, self._own.path, self.binary)
            await self._start(port)
        except BaseException as error:
            await self.stop()
            if snapshot is not None and isinstance(error, EmbeddedEtcdError) and self.log.crash:
                raise damaged(snapshot, self.log) from error
            raise
        return self

    @property
    def pid(self) -> int:
        """Process id of the warden, which is the parent of etcd."""
        return self._process.pid if self._process else 0

    async def stop(self) -> None:
        """Stop etcd, and remove temporary data. May be called twice."""
        self._stopping = True
        if self._process is not None:
            await self._end(self._process)
        if self._throwaway is not None:
            await asyncio.to_thread(self._throwaway.remove)

    async def order(self, order: bytes) -> None:
        """Pause, continue, kill or start etcd (`warden.PAUSE` …), and wait until that is done.

        Raises EmbeddedEtcdError if etcd has ended.
        """
        process = self._process
        async with self._ordering:
            if process is not None and process.returncode is None and process.stdin and process.stdout:
                process.stdin.write(order)
                if await process.stdout.read(1):
                    return
        raise EmbeddedEtcdError("the embedded etcd does not run.")

    @property
    def _own(self) -> TemporaryEtcd:
        if self._throwaway is None:
            raise EmbeddedEtcdError(
                "a snapshot is restored into a throwaway directory: leave out --data-dir."
            )
        return self._throwaway

    async def _start(self, port: int | None) -> None:
        tuning = {**_TUNING, "quota-backend-bytes": str(self._quota)}
        for _ in range(_PORT_TRIES + len(_TUNING)):
            client_port, peer_port = _free_ports(port)
            self.endpoint = f"http://{HOST}:{client_port}"
            self._flags_used = self._flags(peer_port, tuning)
            await self._spawn(self._flags_used)
            if await self._ready():
                return
            if self.log.unknown_flag in tuning:  # a newer etcd has removed the flag: start without it
                del tuning[self.log.unknown_flag]
            elif not self.log.port_in_use or (port and _in_use(port)):
                break  # another attempt would not help
            self.log = EtcdLog()
        raise EmbeddedEtcdError(self._why())

    def _flags(self, peer_port: int, tuning: dict[str, str]) -> list[str]:
        peer = f"http://{HOST}:{peer_port}"
        settings = {
            "name": NAME,
            "data-dir": str(self.data_dir),
            "listen-client-urls": self.endpoint,
            "advertise-client-urls": self.endpoint,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"{NAME}={peer}",
            "logger": "zap",
            "log-outputs": "stderr",
            "log-level": "info",
            **tuning,
        }
        flags = [f"--{name}={value}" for name, value in settings.items()]
        return [*flags, "--unsafe-no-fsync"] if self._throwaway else flags

    async def _spawn(self, flags: list[str]) -> None:
        """Start the warden in its own session: a Ctrl-C in the terminal must not stop it before ktui."""
        throwaway = self._throwaway
        lock_fd = throwaway.lock_fd if throwaway else -1
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", warden.__file__, str(os.getpid()), str(lock_fd)),
            *(str(throwaway.path) if throwaway else "-", "--", str(self.binary.path), *flags),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(lock_fd,) if throwaway else (),
            start_new_session=True,
            env={key: value for key, value in os.environ.items() if not key.startswith("ETCD_")},
        )

    async def _ready(self) -> bool:
        """Read the log until etcd serves (True) or ends (False); then continue reading in the background."""
        process = self._process
        assert process is not None and process.stderr is not None
        try:
            async with asyncio.timeout(READY_TIMEOUT):
                while not self.log.ready:
                    line = await _line(process.stderr)
                    if line is None:
                        await self._end(process)
                        return False
                    self.log.add(line)
        except TimeoutError:
            await self._end(process)
            raise EmbeddedEtcdError(
                f"etcd is not ready after {READY_TIMEOUT:.0f} s: {self.log.cause}"
            ) from None
        follow = partial(self._follow, process, process.stderr)
        self._reader = self._supervisor.start("the reader of etcd's log", follow)
        return True

    async def _follow(self, process: asyncio.subprocess.Process, stderr: asyncio.StreamReader) -> None:
        while (line := await _line(stderr)) is not None:
            self.log.add(line)
        await process.wait()
        if self._stopping or self.failed.done():
            return
        if self.log.no_space:
            self._reader = None
            self._supervisor.start("the restart of etcd", self._restart)
        else:
            self.failed.set_result(EmbeddedEtcdError(self._why("ended")))

    async def _restart(self) -> None:
        """Start etcd again until its disk has space."""
        self.problem = f"{self._why('ended').removesuffix('.')}; it is started again when there is space"
        log.error("%s", self.problem)
        self.on_problem(self.problem)
        while self.log.no_space:
            await asyncio.sleep(SPACE_SECONDS)
            if self._stopping:
                return
            self.log = EtcdLog()
            await self._spawn(self._flags_used)
            try:
                if await self._ready():
                    self.problem = ""
                    log.warning("etcd runs again: there is space on the disk of %s", self.data_dir)
                    self.on_problem(f"etcd runs again: there is space on the disk of {self.data_dir}")
                    return
            except EmbeddedEtcdError as error:
                self.failed.set_result(error)
                return
        self.failed.set_result(EmbeddedEtcdError(self._why()))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Close the warden's standard input, which stops it just as the end of this process would."""
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):  # the process has ended, and the notification comes late
                process.kill()
            await process.wait()
        if self._reader is not None:
            await asyncio.wait((self._reader,), timeout=LOG_TIMEOUT)
            await stop(self._reader)
            self._reader = None

    def _why(self, what: str = "does not start") -> str:
        if self.log.no_space:
            return f"etcd {what}: no space is left on the disk of {self.data_dir}."
        if self.log.port_in_use:
            return f"etcd {what}: port {urlsplit(self.endpoint).port} is in use by another program."
        status = (self._process.returncode if self._process is not None else None) or 0
        with suppress(ValueError):  # the warden reports a signal as shells do
            killer = signal.Signals(status - 128).name
            return f"etcd was killed by {killer}; unless a person did that, the system was out of memory."
        return f"{self.binary.path} {what}: {self.log.cause or 'it said nothing'}"


async def _line(stream: asyncio.StreamReader) -> bytes | None:
    """Return the next line, None at the end. A line longer than the stream's limit is skipped."""
    while True:
        try:
            return await stream.readline() or None
        except ValueError:
            continue


def _free_ports(port: int | None) -> tuple[int, int]:
    """Return the client port (`port`, or a free one) and a peer port that are free now, but not reserved."""
    with closing(socket.socket()) as client, closing(socket.socket()) as peer:
        peer.bind((HOST, 0))
        if port is None:
            client.bind((HOST, 0))
        return port or client.getsockname()[1], peer.getsockname()[1]


def _in_use(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
