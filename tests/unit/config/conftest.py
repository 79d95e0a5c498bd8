"""A config file to write into."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from ktui.config.document import Config, read_config

Write = Callable[[str], Config]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def config(path: Path) -> Write:
    """Write a file (mode 0600) and read it."""

    def write(text: str) -> Config:
        path.write_text(dedent(text))
        path.chmod(0o600)
        return read_config(path)

    return write
