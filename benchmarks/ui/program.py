"""ktui as it is measured: with directories of its own, so that no other server is found."""

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
FOOTER = "2 Requests"  # of the footer


@contextmanager
def own_directories() -> Iterator[dict[str, str]]:
    """An environment in which configuration, state and sockets are empty."""
    with tempfile.TemporaryDirectory(prefix="ktui-benchmark-") as place:
        names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")
        for name in names:
            (Path(place) / name).mkdir(mode=0o700)
        yield {name: str(Path(place) / name) for name in names}


@contextmanager
def dashboard(environment: dict[str, str], *words: str) -> Iterator[Terminal]:
    """The dashboard, once its first frame is there."""
    with Terminal([*KTUI, *words], environment) as terminal:
        terminal.wait_for(FOOTER)
        yield terminal
