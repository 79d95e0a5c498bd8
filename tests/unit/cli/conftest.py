"""Coroutines under `pytest.mark.anyio` run on asyncio; no user's settings reach a test."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No config file, no KTUI_* variable, no server record; returns where a config file would be."""
    for name in os.environ:
        if name.startswith("KTUI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return tmp_path / "config-home" / "ktui" / "config.toml"
