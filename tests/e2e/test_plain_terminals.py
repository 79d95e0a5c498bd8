"""What the real program writes to terminals that can, or may, show less: every byte of it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.terminal import HANGS

pytestmark = pytest.mark.terminal

DEMO = Path(__file__).parents[1] / "tui" / "data" / "demo.ndjson"
SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
ESCAPES = re.compile(
    rb"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|P.*?\x1b\\|[=>()][0-9A-B]?|[78cM])"
)
PLAIN = {0, 1, 2, 3, 4, 7, 22, 23, 24, 27}  # reset, and attributes on and off


@contextmanager
def replayed(home: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A replay in a pseudo-terminal of 120×40 that controls no process, and its other end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    hidden = ("NO_COLOR", "COLORTERM", "LC_ALL", "LC_CTYPE", "KTUI_SYMBOLS", "KTUI_THEME", "COLUMNS", "LINES")
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("TEXTUAL")  # the picture tests set some
    }
    program = subprocess.Popen(
        [sys.executable, "-m", "ktui", "--replay", str(DEMO), "--speed", "1000"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**inherited, "XDG_CONFIG_HOME": str(home), "LANG": "C.UTF-8", **environment},
    )
    os.close(slave)
    try:
        yield program, master
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
        os.close(master)


def written(home: Path, shows: Callable[[bytes], bool], **environment: str) -> bytes:
    """All that a replay writes until its end is painted, with all that it is to show.

    Quiet alone would not do: between two panels a busy machine is quiet, too.
    """
    with replayed(home, **environment) as (_, master):
        return _read_until(master, lambda got: b"48,213" in ESCAPES.sub(b"", got) and shows(got))


def _read_until(master: int, enough: Callable[[bytes], bool]) -> bytes:
    """Until enough has come and nothing follows it for a moment."""
    got = b""
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.5)
        if ready:
            got += os.read(master, 65536)
        elif enough(got):
            return got
    raise AssertionError(f"never saw all of it in {got[-2000:]!r}")


def colours_in(output: bytes) -> set[bytes]:
    """The SGR sequences that say a colour."""
    return {
        found
        for found in SGR.findall(output)
        if any(int(part or 0) not in PLAIN for part in re.split(rb"[;:]", found))
    }


def reverses(output: bytes) -> bool:
    """As the cursor's row does."""
    return b"\x1b[7m" in output or b";7m" in output


def test_no_color_means_none(tmp_path: Path) -> None:
    output = written(tmp_path, reverses, NO_COLOR="1", TERM="xterm-256color", COLORTERM="truecolor")
    assert not colours_in(output)


def test_colours_are_there_without_it(tmp_path: Path) -> None:
    def shows(output: bytes) -> bool:
        rgb = any(found.startswith(b"38;2;") or b";38;2;" in found for found in colours_in(output))
        return rgb and "●".encode() in output

    assert written(tmp_path, shows, TERM="xterm-256color", COLORTERM="truecolor")


@pytest.mark.parametrize("terminal", ["linux", "dumb"])
def test_an_old_terminal_gets_ascii_only(tmp_path: Path, terminal: str) -> None:
    def shows(output: bytes) -> bool:
        text = ESCAPES.sub(b"", output)
        return b"watch caches" in text and b"+-" in text

    output = written(tmp_path, shows, TERM=terminal)
    text = ESCAPES.sub(b"", output)
    assert not [byte for byte in text if byte > 126]
    # Sixteen colours at the most, and the cursor's row still shows among them.
    assert not any(b"38;2" in found or b"38;5" in found for found in colours_in(output))


def test_a_terminal_that_is_gone_ends_the_program(tmp_path: Path) -> None:
    """Without a signal from the kernel, too."""
    with replayed(tmp_path, TERM="xterm-256color") as (program, master):
        _read_until(master, lambda got: b"48,213" in ESCAPES.sub(b"", got))
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, master)  # closes this end of the terminal
        os.close(nowhere)
        assert program.wait(HANGS) == -signal.SIGHUP
