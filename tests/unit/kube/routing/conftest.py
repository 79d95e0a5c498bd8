"""For whole tables of cells."""

from __future__ import annotations

from functools import cache

import pytest

from ktui.kube.routing import list_case


@pytest.fixture
def each_refusal_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A 422 follows from options and version, so the cells that differ in the cache's state share it.

    To make its message takes longer than the decision, and two of three cells are refused.
    """
    monkeypatch.setattr(list_case, "invalid_options", cache(list_case.invalid_options))
