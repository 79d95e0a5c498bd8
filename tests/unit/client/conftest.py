"""Coroutines under `pytest.mark.anyio` run on asyncio."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
