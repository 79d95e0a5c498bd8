"""The server under test: a `ktui serve` process over the cluster's proxies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp

from tools.faults.cluster import Cluster, free_ports
from tools.faults.objects import RESOURCES
from tools.faults.records import clock

STOP_SECONDS = 10.0


class Server:
    """The server's process. `starts` counts its starts; `log` and `errors` are the files that it writes."""

    def __init__(self, cluster: Cluster, version: str, directory: Path) -> None:
        self.version = version
        self.starts = 0
        self.log, self.errors = directory / "ktui.log", directory / "ktui.err"
        self._cluster = cluster
        self._directory = directory
        (self._port,) = free_ports(1)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def exit_status(self) -> int | None:
        """The exit status; None while the process runs."""
        return self._process.poll() if self._process is not None else None

    def start(self) -> None:
        home = self._directory / "home"
        home.mkdir(exist_ok=True)
        command = [
            *(sys.executable, "-m", "ktui", "serve", "--insecure-http", "--allow-writes", "--warm=all"),
            *(f"--etcd={self._cluster.endpoints}", "--etcd-prefix=/registry", "--assume-watch-progress"),
            *(f"--listen=127.0.0.1:{self._port}", f"--kube-version={self.version}", f"--log-file={self.log}"),
        ]
        with self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, "HOME": str(home)}
            )
        self.starts += 1

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    async def stop(self) -> bool:
        """Send SIGTERM; return False if the process does not end within STOP_SECONDS and is killed."""
        if self._process is None or self._process.poll() is not None:
            return True
        self._process.send_signal(signal.SIGTERM)
        end = clock() + STOP_SECONDS
        while self._process.poll() is None and clock() < end:
            await asyncio.sleep(0.05)
        ended = self._process.poll() is not None
        self.kill()
        return ended

    async def ready(self, http: aiohttp.ClientSession, within: float) -> tuple[float | None, str]:
        """Return the seconds until reads and /readyz succeed, None if they do not, and the last problem."""
        began, problem = clock(), ""
        while clock() < began + within:
            found = await self._problem(http)
            if not found:
                return clock() - began, problem
            problem = found
            if self.exit_status is not None:
                return None, f"the server has ended with status {self.exit_status}"
            await asyncio.sleep(0.15)
        return None, problem

    async def _problem(self, http: aiohttp.ClientSession) -> str:
        paths = [
            f"/api/v1/{name}?{query}" for name in RESOURCES for query in ("limit=1", "resourceVersion=0")
        ]
        for path in (*paths, "/readyz"):
            try:
                timeout = aiohttp.ClientTimeout(total=5)
                async with http.get(self.url + path, timeout=timeout) as answer:
                    text = await answer.text()
                    if answer.status != 200:
                        return f"{path}: {answer.status} {text[:200]}"
            except (aiohttp.ClientError, TimeoutError) as error:
                return f"{path}: {error!r}"
        return ""

    def traceback(self) -> str:
        """Return the first traceback in the log or on standard error; "" without one."""
        for path in (self.errors, self.log):
            text = path.read_text(errors="replace") if path.exists() else ""
            if "Traceback" in text:
                at = text.index("Traceback")
                return text[max(0, at - 300) : at + 2500]
        return ""


class Api:
    """Sends the requests of a schedule's clients, and counts statuses."""

    def __init__(self, http: aiohttp.ClientSession, server: Server, statuses: Any) -> None:
        self.http, self.server = http, server
        self._statuses = statuses

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        seconds: float = 12.0,
    ) -> tuple[int, dict[str, Any]]:
        """Return status and document. Raises OSError, TimeoutError or aiohttp's errors without an answer."""
        data = json.dumps(body) if body is not None else None
        headers = {"Content-Type": content_type} if data else {}
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self.http.request(
            method, self.server.url + path, data=data, headers=headers, timeout=timeout
        ) as answer:
            raw = await answer.read()
            self._statuses[f"{method} {answer.status}"] += 1
            try:
                document = json.loads(raw)
            except ValueError:
                document = {"message": raw[:200].decode(errors="replace")}
            return answer.status, document
