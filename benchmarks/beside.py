"""Send GETs on a separate connection from a separate process, while something else is measured.

usage: python -m benchmarks.beside PORT; ends with its standard input, and prints the milliseconds of each GET
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from types import TracebackType

from benchmarks.http import Client
from benchmarks.pods import name_of, namespace_of
from benchmarks.server import TOKEN

GET = f"/api/v1/namespaces/{namespace_of(7)}/pods/{name_of(7)}?resourceVersion=0"
_PAUSE_SECONDS = 0.002


class GetsBeside:
    """A context manager that sends GETs during its block; `took` then has their milliseconds, sorted."""

    def __init__(self, port: int) -> None:
        self.took: list[float] = []
        self._port = port

    def __enter__(self) -> GetsBeside:
        words = [sys.executable, "-m", "benchmarks.beside", str(self._port)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()  # the first GET is done
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        output, _ = self._process.communicate()
        self.took = sorted(json.loads(output))


def _main(port: int) -> None:
    client = Client(port, TOKEN)
    client.get(GET)
    print("asking", flush=True)
    took = []
    while not select.select([sys.stdin], [], [], _PAUSE_SECONDS)[0]:
        took.append(client.get(GET).total)
    print(json.dumps(took))


if __name__ == "__main__":
    _main(int(sys.argv[1]))
