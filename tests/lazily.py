"""Modules that are imported when first used, not by every worker that collects tests."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Lazily:
    """The module `name`; a worker that runs none of its tests never imports it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # pytest looks for them in all that a test module has
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)
