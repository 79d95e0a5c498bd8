"""Run a program in a pseudo-terminal; send it keys, read its output, and measure when it arrives."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence

ROWS, COLUMNS = 40, 120
_SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]")
# Textual asks whether the terminal supports synchronized output (mode 2026); this one does, as most do.
_SYNC_QUERY, _SYNC_REPLY = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_KEPT = 1 << 20  # bytes of output that can be searched
_STOP_SECONDS = 15.0


def plain(output: bytes) -> bytes:
    """Return the output without escape sequences."""
    return _SEQUENCE.sub(b"", output)


class Terminal:
    """A pseudo-terminal of 120 × 40 cells with one program. A context manager: the program ends with it."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self._output = b""
        self.received = 0  # bytes since the start
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        # They would be taken for the size; pytest's workers have them.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def now(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def forget(self) -> None:
        """Discard the output so far: later waits search new output only."""
        self.read(0.0)
        self._output = b""

    def wait_for(self, text: str, seconds: float = 60.0) -> float:
        """Read until `text` is in the output; return seconds since the start."""
        wanted = text.encode()
        return self.wait_until(lambda output: wanted in plain(output), repr(text), seconds)

    def wait_until(self, seen: Callable[[bytes], bool], what: str, seconds: float = 60.0) -> float:
        """Read until `seen` returns True for the output since `forget`; return seconds since the start."""
        deadline = time.perf_counter() + seconds
        while True:
            if self._output and seen(self._output):
                return self._at - self.started
            if not self.read(max(0.0, deadline - time.perf_counter())):
                raise TimeoutError(f"{what} did not appear; the last output:\n{self.text()[-2000:]}")

    def read(self, seconds: float) -> bool:
        """Read the first output within `seconds`; return False if there is none."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            chunk = os.read(self._master, 1 << 16)
        except OSError:  # the program has ended
            return False
        self._at = time.perf_counter()
        self.received += len(chunk)
        self._output = (self._output + chunk)[-_KEPT:]
        if _SYNC_QUERY in chunk:
            os.write(self._master, _SYNC_REPLY)
        return True

    def idle(self, seconds: float) -> None:
        """Let the program run for `seconds`, and read its output as a terminal does."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    @property
    def output(self) -> bytes:
        """The output since `forget`."""
        return self._output

    def text(self) -> str:
        """Return the output since `forget`, without escape sequences."""
        return plain(self._output).decode("utf-8", "replace")

    def close(self) -> None:
        """Send SIGTERM and read until the program ends; after a while send SIGKILL."""
        deadline = time.perf_counter() + _STOP_SECONDS
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None:
            self.read(0.05)
            if time.perf_counter() > deadline:
                self.process.kill()
        self.process.wait()
        os.close(self._master)
