"""The real program in a real terminal: tmux types, and the screen is read back."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

HANGS = 90.0  # seconds: the bound of a wait that never ends, no measure of speed
SHELL = b"sh\0"  # the command line of the shell that the program runs in


class Terminal:
    """One tmux server with one window of a given size, gone with `close`."""

    def __init__(self, socket: Path, width: int, height: int) -> None:
        self._tmux = [shutil.which("tmux") or "tmux", "-S", str(socket), "-f", os.devnull]
        self._size = ["-x", str(width), "-y", str(height)]

    def run(self, command: str, environment: dict[str, str], raw: Path | None = None) -> None:
        """Start a shell, and `command` in it (the shell stays when the command has ended).

        `raw` gets every byte that is written to the terminal.
        """
        words = [f"{name}={value}" for name, value in environment.items()]
        self._call(
            "new-session",
            "-d",
            *self._size,
            "env",
            "-u",
            "COLUMNS",
            "-u",
            "LINES",
            *words,
            "PS1=ready$ ",
            "sh",
        )
        if raw is not None:
            self._call("pipe-pane", f"exec cat >{shlex.quote(str(raw))}")
        self.type(command, "Enter")

    def type(self, *keys: str) -> None:
        self._call("send-keys", *keys)

    def screen(self) -> str:
        return self._call("capture-pane", "-p")

    def colours(self) -> set[str]:
        """Every background on the screen, as `48;2;R;G;B` or a shorter form."""
        return set(re.findall(r"48;[25];[\d;]+\d", self._call("capture-pane", "-p", "-e")))

    def modes(self) -> dict[str, str]:
        """What a program may have changed and must give back."""
        names = ("alternate_on", "cursor_flag", "mouse_any_flag")
        said = self._call("display-message", "-p", " ".join(f"#{{{name}}}" for name in names))
        return dict(zip(names, said.split(), strict=True))

    def wait_for(self, seen: Callable[[str], bool], what: str, seconds: float = HANGS) -> str:
        """Read the screen until `seen` says yes; fails with the last screen."""
        screen = ""

        def look() -> bool:
            nonlocal screen
            screen = self.screen()
            return seen(screen)

        if not eventually(look, seconds):
            raise AssertionError(f"never saw {what}; the screen was:\n{screen}")
        return screen

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def _call(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True)
        return done.stdout


def eventually(holds: Callable[[], bool], seconds: float = HANGS) -> bool:
    """Whether `holds` becomes true in time. Another process sends no signal: look, and look again."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def processes_of(marker: str) -> list[str]:
    """Command lines of living processes whose environment holds `marker`."""
    found = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit():
            continue
        try:
            environment = (directory / "environ").read_bytes()
            command = (directory / "cmdline").read_bytes()
        except OSError:
            continue  # gone, or another user's
        if marker.encode() in environment and command not in (SHELL, b""):
            found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
