"""Everything that could differ between two runs is fixed before Textual is imported."""

from __future__ import annotations

import os
import tempfile

_HOME = tempfile.mkdtemp(prefix="ktui-tests-")
for _name in ("NO_COLOR", "TEXTUAL", "COLUMNS", "LINES", "TEXTUAL_THEME", "TEXTUAL_DEBUG"):
    os.environ.pop(_name, None)
os.environ.update(
    TEXTUAL_ANIMATIONS="none",
    TEXTUAL_SMOOTH_SCROLL="0",
    TEXTUAL_SPEEDUPS="0",
    TEXTUAL_COLOR_SYSTEM="truecolor",
    TZ="UTC",
    HOME=_HOME,
    XDG_CONFIG_HOME=f"{_HOME}/config",
    XDG_STATE_HOME=f"{_HOME}/state",
)

import time  # noqa: E402

import pytest  # noqa: E402

time.tzset()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
