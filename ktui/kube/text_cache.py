"""Cache results for short texts: longer client input is never kept in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def cached_by_text(maxsize: int, longest: int = 1024) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache the results of a function for the last `maxsize` texts of at most `longest` characters."""

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def choose(text: str) -> T:
            return cached(text) if len(text) <= longest else function(text)

        return choose

    return decorate
