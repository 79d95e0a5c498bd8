"""How long a fixture lives that the tests of a package share, as a scope of `pytest.fixture`."""

from __future__ import annotations

import os
from typing import Any, Literal


def while_in_use(fixture_name: str, config: Any) -> Literal["package", "session"]:
    """Until the last test of its package in a row.

    Shuffled tests (KTUI_SHUFFLE) would start it again and again: for them, until the worker ends.
    """
    return "session" if os.environ.get("KTUI_SHUFFLE") else "package"
