"""The connection has to work in both event loops: the server runs in uvloop's, tests mostly in asyncio's."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(params=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": request.param == "uvloop"}
