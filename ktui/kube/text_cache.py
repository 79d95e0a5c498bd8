"""Cached results for short texts: client input is bounded in length before it is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def cached_by_text(maxsize: int, longest: int = 1024) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache the results of a function for the last `maxsize` texts of at most `longest` characters."""

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        remembered = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def choose(text: str) -> T:
            return remembered(text) if len(text) <= longest else function(text)

        return choose

    return decorate
