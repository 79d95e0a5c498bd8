"""All that the dashboard is made of, loaded."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from ktui import tui


def load_screens() -> None:
    """Import every module of the dashboard: the program loads most of them when they are first used."""
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        import_module(module.name)


def subclasses(of: type) -> Iterator[type]:
    """Those of a class, and theirs."""
    below: type
    for below in of.__subclasses__():
        yield below
        yield from subclasses(below)
