"""Columns as filters see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.core.table.columns import Column


def field_of(name: str, value: Callable[[Any], Any], title: str = "", **more: Any) -> Column[Any]:
    return Column(name, title, str, value, **more)
