"""A terminal of its own for each test, with a home of its own."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal

ROOT = Path(__file__).parents[2]


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
            "PYTHONPATH": str(ROOT),  # the program under test, wherever its shell goes
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, uuid.uuid4().hex)


@pytest.fixture
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Of 120×40, or of the columns and rows that the test asks for."""
    if shutil.which("tmux") is None:
        pytest.skip("no tmux on PATH")
    width, height = getattr(request, "param", (120, 40))
    made = Terminal(tmp_path / "tmux", width, height)
    yield made
    made.close()
