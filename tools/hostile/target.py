"""The server that the cases are sent to, and how they send."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.hostile.client import Client
from tools.hostile.requests import Request

ADMIN, MALLORY, BYSTANDER = "admin", "mallory", "bystander"
TERMINATE_SECONDS = 10.0
BESIDE = "/api/v1/namespaces/beside/configmaps/well-behaved"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Broken(Exception):
    """A bound is broken, or an answer is wrong."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is 0 if the server closed the connection, -1 if it did not answer."""

    status: int
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """The message of a Status, or the beginning of the body."""
        try:
            return str(json.loads(self.body)["message"])
        except (ValueError, KeyError, TypeError):
            return self.body[:200].decode("utf-8", "replace")

    def __str__(self) -> str:
        return f"{self.status} after {self.seconds:.2f} s: {self.message[:200]}"


class Target:
    """A running `ktui serve` (TLS, RBAC). Users: admin, mallory and bystander; their tokens are their names.

    Mallory has the role `admin` in the namespace `mallory`, and nothing else.
    """

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.port = port
        self.pid = process.pid
        self.tls = ssl._create_unverified_context()
        self._process = process

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str = ADMIN,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> Answer:
        """Send one request on a new connection. A body that is not bytes or a string is sent as JSON."""
        sent = {"Content-Type": content_type, **(headers or {})}
        if user:
            sent["Authorization"] = f"Bearer {user}"
        if body is None:
            content = b""
        else:
            text = body if isinstance(body, bytes | str) else json.dumps(body)
            content = text if isinstance(text, bytes) else text.encode()
        request = Request("", method, path, tuple(sent.items()), content)
        return await self._exchange(request, seconds)

    async def send_raw(self, sent: bytes, *, seconds: float = 90.0) -> Answer:
        """Send bytes as they are, and read one answer."""
        return await self._exchange(Request("", "", "", raw=sent), seconds)

    async def _exchange(self, request: Request, seconds: float) -> Answer:
        client = Client("127.0.0.1", self.port, tls=self.tls, seconds=seconds)
        began = time.perf_counter()
        try:
            status, body = await client.send(request)
        finally:
            client.close()
        return Answer(status, body, time.perf_counter() - began)

    async def create(self, path: str, body: Any, **options: Any) -> Answer:
        """Create an object that a case needs, if it does not exist."""
        answer = await self.send("POST", path, body, **options)
        self.expect(answer.status in (201, 409), f"{path}: {answer}")
        return answer

    def expect(self, holds: bool, found: object) -> None:
        """Raise Broken unless something holds."""
        if not holds:
            raise Broken(str(found))

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> int:
        """Resident memory of the server's process."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def loop(self) -> tuple[float, str]:
        """Return the longest CPU time (ms) of the loop without a pause since the last call, and where."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        busy = json.loads(self._process.stdout.readline())["busy"]
        return (busy[0][0], busy[0][1]) if busy else (0.0, "")

    def running(self) -> bool:
        return self._process.poll() is None

    def terminate(self) -> float:
        """Send SIGTERM; return the seconds until the end. Raises Broken if it is not heard."""
        began = time.perf_counter()
        self._process.terminate()
        try:
            self._process.wait(TERMINATE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Broken(f"SIGTERM was not heard for {TERMINATE_SECONDS:.0f} s") from None
        return time.perf_counter() - began


@contextlib.asynccontextmanager
async def serving(directory: Path, *options: str) -> AsyncIterator[Target]:
    """A server with the users; ended, and killed if need be."""
    tokens = directory / "tokens.csv"
    tokens.write_text(f"{ADMIN},{ADMIN},1,system:masters\n{MALLORY},{MALLORY},2\n{BYSTANDER},{BYSTANDER},3\n")
    words = [sys.executable, "-m", "tools.hostile.server", "--listen=127.0.0.1:0", "--warm=none"]
    words += [f"--token-auth-file={tokens}", "--authorization-mode=RBAC", *options]
    process = _start(words, {**os.environ, "XDG_STATE_HOME": str(directory)})
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("serving ")), "")
        if not line:
            raise Broken(f"the server did not start with {' '.join(options)}")
        target = Target(process, int(line.rpartition(":")[2]))
        await _prepare(target)
        yield target
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                await asyncio.to_thread(process.wait, TERMINATE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(words: list[str], environ: Mapping[str, str]) -> subprocess.Popen[str]:
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nothing, text=True, env=environ)


async def _prepare(target: Target) -> None:
    for name in ("default", "beside", MALLORY):
        await target.create("/api/v1/namespaces", {"metadata": {"name": name}})
    body = {"metadata": {"name": "well-behaved"}, "data": {"a": "b"}}
    await target.create(BESIDE.rpartition("/")[0], body)
    for user, namespace, role in ((MALLORY, MALLORY, "admin"), (BYSTANDER, "beside", "view")):
        binding = {
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
        }
        await target.create(f"{RBAC}/namespaces/{namespace}/rolebindings", binding)
    async with asyncio.timeout(30):
        for user, namespace in ((MALLORY, MALLORY), (BYSTANDER, "beside")):
            while (await target.send("GET", f"/api/v1/namespaces/{namespace}/pods", user=user)).status != 200:
                await asyncio.sleep(0.1)
