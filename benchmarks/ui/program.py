"""Run ktui for measurements, with separate directories, so that it finds no other server."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.ui.terminal import Terminal

PYTHON = sys.executable
BARE = (PYTHON, "-m", "benchmarks.ui.bare")
KTUI = (PYTHON, "-m", "ktui")
FOOTER = "q quit"  # a text of the footer of every screen and source


@contextmanager
def own_directories() -> Iterator[dict[str, str]]:
    """Yield environment variables that name empty directories for configuration, state and sockets."""
    with tempfile.TemporaryDirectory(prefix="ktui-benchmark-") as place:
        names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")
        for name in names:
            (Path(place) / name).mkdir(mode=0o700)
        yield {name: str(Path(place) / name) for name in names}


@contextmanager
def dashboard(environment: dict[str, str], *words: str) -> Iterator[Terminal]:
    """Yield the dashboard in a terminal, once its first frame is shown."""
    with Terminal([*KTUI, *words], environment) as terminal:
        terminal.wait_for(FOOTER)
        yield terminal
