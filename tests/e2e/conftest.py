"""A terminal of its own for each test, with a home of its own."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal


@dataclass(frozen=True, slots=True)
class Home:
    """Environment of one program under test; `marker` finds its processes again."""

    path: Path
    marker: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.path),
            "XDG_STATE_HOME": str(self.path / "state"),
            "XDG_CONFIG_HOME": str(self.path / "config"),
            "KTUI_TEST_MARKER": self.marker,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, uuid.uuid4().hex)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("no tmux on PATH")
    made = Terminal(tmp_path / "tmux", width=120, height=40)
    yield made
    made.close()
