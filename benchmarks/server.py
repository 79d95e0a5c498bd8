"""The server under test: an embedded etcd with many pods, and a `ktui serve` over it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import grpc.aio
from aetcd import rpc

from benchmarks.http import NO_MATCH, Client
from benchmarks.pods import seeded, template
from ktui.etcd.embedded import QUOTA_BYTES, EmbeddedEtcd

TOKEN = "benchmark"
_KEYS_A_TXN = 50
_STORED_BYTES = 12_000  # of etcd's database for each pod, and for the writes of a benchmark


@dataclass(frozen=True, slots=True)
class Serving:
    """The running server. `ready_seconds`: from starting the process to the first LIST from its cache."""

    port: int
    pid: int
    etcd: str
    ready_seconds: float

    def client(self) -> Client:
        return Client(self.port, TOKEN)

    def cpu(self) -> float:
        """Return the milliseconds of CPU time so far, of all threads."""
        return cpu_of(self.pid)

    def memory(self) -> float:
        """Return the resident megabytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1000
        raise RuntimeError("this system does not report a process' memory")


def cpu_of(pid: int) -> float:
    """Return the milliseconds of CPU time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def serving(pods: int, stored: bytes | None = None) -> AsyncIterator[Serving]:
    """Yield a server over an etcd with `pods` copies of `stored`, whose cache of pods is filled."""
    etcd = await EmbeddedEtcd.start(quota=max(QUOTA_BYTES, pods * _STORED_BYTES))
    try:
        await fill(etcd.endpoint, seeded(stored or template(), pods))
        async with serving_over(etcd.endpoint) as server:
            yield server
    finally:
        await etcd.stop()


@asynccontextmanager
async def serving_over(endpoint: str) -> AsyncIterator[Serving]:
    """Yield a server over the etcd at `endpoint`, whose cache of pods is filled."""
    started = time.perf_counter()
    process = _serve(endpoint)
    try:
        port = await asyncio.to_thread(_port_of, process)
        await asyncio.to_thread(_await_ready, port)
        yield Serving(port, process.pid, endpoint, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait()


async def fill(endpoint: str, pods: Iterable[tuple[bytes, bytes]]) -> None:
    limit = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(endpoint.removeprefix("http://"), options=limit) as channel:
        store, remaining = rpc.KVStub(channel), iter(pods)
        while batch := list(islice(remaining, _KEYS_A_TXN)):
            puts = [rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value)) for key, value in batch]
            await store.Txn(rpc.TxnRequest(success=puts))


def _serve(endpoint: str) -> subprocess.Popen[str]:
    about_etcd = ["--etcd", endpoint, "--etcd-prefix=/registry", "--allow-writes", "--assume-watch-progress"]
    words = [sys.executable, "-m", "ktui", "serve", *about_etcd, "--warm=pods", f"--token={TOKEN}"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("serving "):
            return int(line.rpartition(":")[2])
    raise RuntimeError("ktui serve did not start")


def _await_ready(port: int) -> None:
    """Repeat a request until the cache answers; before, the server answers 429."""
    client = Client(port, TOKEN)
    while True:
        with suppress(RuntimeError):
            client.get(NO_MATCH)
            return
        time.sleep(0.02)  # the server sends no signal to wait for
