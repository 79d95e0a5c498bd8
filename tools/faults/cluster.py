"""An etcd cluster of one or three members, whose clients and peers connect through proxies."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp

from ktui.etcd.injection import Proxy

START_SECONDS = 60.0
CALL_SECONDS = 4.0


def free_ports(number: int) -> list[int]:
    """Return different ports that were free a moment ago."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class Member:
    """One etcd process with the ports `client` and `peer`; others use `client_proxy` and `peer_proxy`."""

    def __init__(self, number: int, binary: Path, directory: Path, ports: list[int]) -> None:
        self.number = number
        self.client, self.peer, self.client_proxy, self.peer_proxy = ports
        self.stopped = False
        self._binary, self._directory = binary, directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The member's URL that bypasses the proxy."""
        return f"http://127.0.0.1:{self.client}"

    @property
    def peer_url(self) -> str:
        return f"http://127.0.0.1:{self.peer_proxy}"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None and not self.stopped

    def start(self, cluster: str) -> None:
        log = (self._directory / f"m{self.number}.log").open("ab")
        self._process = subprocess.Popen(
            [
                str(self._binary),
                f"--name=m{self.number}",
                f"--data-dir={self._directory / f'm{self.number}'}",
                *(f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}"),
                f"--listen-peer-urls=http://127.0.0.1:{self.peer}",
                f"--initial-advertise-peer-urls={self.peer_url}",
                f"--initial-cluster={cluster}",
                *("--unsafe-no-fsync", "--log-level=error"),
                *("--heartbeat-interval=100", "--election-timeout=700"),
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ.get("PATH", "")},
        )
        log.close()
        self.stopped = False

    def stop(self) -> None:
        """Send SIGSTOP: the process exists but answers nothing."""
        self._signal(signal.SIGSTOP)
        self.stopped = True

    def resume(self) -> None:
        self._signal(signal.SIGCONT)
        self.stopped = False

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self.stopped = False

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


class Cluster:
    """The members, and the proxies in front of each (`clients`, `peers`)."""

    def __init__(self, size: int, binary: Path, directory: Path) -> None:
        ports = free_ports(4 * size)
        self.members = [Member(n, binary, directory, ports[4 * n : 4 * n + 4]) for n in range(size)]
        self.clients = [Proxy(member.client_proxy, member.client) for member in self.members]
        self.peers = [Proxy(member.peer_proxy, member.peer, self._peer_at) for member in self.members]
        self._http: aiohttp.ClientSession | None = None

    @property
    def endpoints(self) -> str:
        """The proxies' URLs, for ktui."""
        return ",".join(f"http://127.0.0.1:{member.client_proxy}" for member in self.members)

    async def start(self) -> None:
        self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        for proxy in (*self.clients, *self.peers):
            await proxy.start()
        for member in self.members:
            self.start_member(member)
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                await self.call("/v3/kv/range", {"key": encoded("x")})
                return
            except (aiohttp.ClientError, TimeoutError, RuntimeError):
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.2)

    def start_member(self, member: Member) -> None:
        member.start(",".join(f"m{other.number}={other.peer_url}" for other in self.members))

    async def call(
        self, path: str, body: dict[str, Any], member: Member | None = None, seconds: float = CALL_SECONDS
    ) -> dict[str, Any]:
        """Send a request to a member (default: any running one), bypassing the proxies and ktui."""
        assert self._http is not None
        if member is None:
            member = random.choice([one for one in self.members if one.running] or self.members)
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._http.post(member.url + path, json=body, timeout=timeout) as response:
            answer: dict[str, Any] = await response.json(content_type=None)
            if response.status != 200:
                raise RuntimeError(f"{path}: {response.status} {answer}")
            return answer

    async def disagreement(self) -> str:
        """Return what differs between members that have applied the same log; "" if nothing is known to.

        etcd 3.5.0 to 3.5.2 can lose writes on a member that was killed under load (etcd-io/etcd#13766).
        """
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError, RuntimeError):  # it is starting again
                found = [await self.call("/v3/maintenance/status", {}, member) for member in self.members]
                if len({status.get("raftAppliedIndex") for status in found}) == 1:
                    revisions = [status["header"]["revision"] for status in found]
                    if len(set(revisions)) == 1:
                        return ""
                    return f"members of etcd {found[0]['version']} are at revisions {revisions}"
            await asyncio.sleep(0.2)
        return ""  # not known

    async def put(self, key: str, value: str) -> int:
        """Write a key, and return the revision."""
        answer = await self.call("/v3/kv/put", {"key": encoded(key), "value": encoded(value)})
        return int(answer["header"]["revision"])

    def partition(self, number: int) -> None:
        """Cut one member off from the others; clients still reach it."""
        for proxy, member in zip(self.peers, self.members, strict=True):
            others = {one.number for one in self.members} - {number}
            proxy.blocked = others if member.number == number else {number}

    def heal(self) -> None:
        """End all faults: the proxies forward everything, and all members run."""
        for proxy in (*self.clients, *self.peers):
            proxy.heal()
        for member in self.members:
            if member.stopped:
                member.resume()
            elif not member.running:
                self.start_member(member)

    async def close(self) -> None:
        for member in self.members:
            member.kill()
        for proxy in (*self.clients, *self.peers):
            await proxy.close()
        if self._http is not None:
            await self._http.close()

    def _peer_at(self, port: int) -> int:
        """Return the number of the member that connected from `port`; -1 if there is none."""
        inode = next((line[9] for line in _tcp_table() if line[1].endswith(f":{port:04X}")), "")
        for member in self.members:
            try:
                for descriptor in os.scandir(f"/proc/{member.pid}/fd"):
                    if str(Path(descriptor.path).readlink()) == f"socket:[{inode}]":
                        return member.number
            except OSError:
                continue
        return -1


def _tcp_table() -> list[list[str]]:
    return [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
