"""The well-behaved client beside each case: `python -m tools.hostile.canary PORT TOKEN PATH`.

A process of its own, so that preparing a hostile request does not delay it. It asks for `/healthz` on a new
connection, and for PATH on a kept one, every PAUSE_SECONDS. For each line of standard input it prints one of
JSON: the worst latency of both since the last, in milliseconds, and what went wrong.
"""

from __future__ import annotations

import http.client
import json
import queue
import ssl
import subprocess
import sys
import threading
import time
from typing import Any

PAUSE_SECONDS = 0.02
MOST_SECONDS = 60.0  # waited for an answer


class Canary:
    """The client's side of the process."""

    def __init__(self, port: int, token: str, path: str) -> None:
        words = [sys.executable, "-m", "tools.hostile.canary", str(port), token, path]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def worst(self) -> dict[str, Any]:
        """Return `{"healthz_ms", "other_ms", "requests", "problems"}` since the last call; blocks."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.terminate()
        self._process.wait()


def main(port: int, token: str, path: str) -> None:
    asked = queue.SimpleQueue[bool]()
    threading.Thread(target=_read, args=(asked,), daemon=True).start()
    context = ssl._create_unverified_context()
    kept = http.client.HTTPSConnection("127.0.0.1", port, timeout=MOST_SECONDS, context=context)
    found = _nothing()
    while True:
        fresh = http.client.HTTPSConnection("127.0.0.1", port, timeout=MOST_SECONDS, context=context)
        _measure(fresh, "/healthz", "", "healthz_ms", found)
        fresh.close()
        _measure(kept, path, token, "other_ms", found)
        try:
            wanted = asked.get(timeout=PAUSE_SECONDS)
        except queue.Empty:
            continue
        if not wanted:
            return
        print(json.dumps(found), flush=True)
        found = _nothing()


def _nothing() -> dict[str, Any]:
    return {"healthz_ms": 0.0, "other_ms": 0.0, "requests": 0, "problems": []}


def _measure(
    connection: http.client.HTTPSConnection, path: str, token: str, name: str, found: dict[str, Any]
) -> None:
    began = time.perf_counter()
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        answer.read()
        problem = "" if answer.status == 200 else f"GET {path}: {answer.status}"
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        problem = f"GET {path}: {error!r}"
    found["requests"] += 1
    found[name] = max(found[name], (time.perf_counter() - began) * 1000)
    if problem and len(found["problems"]) < 5:
        found["problems"].append(problem)


def _read(asked: queue.SimpleQueue[bool]) -> None:
    for _ in sys.stdin:
        asked.put(True)
    asked.put(False)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
