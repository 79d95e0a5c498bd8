"""Count the steps of a function, to see how they grow with its input, without a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(function: Callable[..., object], *args: Any) -> int:
    """Return the number of Python lines that a call executes. Steps within C code do not count."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return count


def growth(function: Callable[..., object], make: Callable[[int], tuple[Any, ...]], size: int) -> float:
    """Return how many times as many steps the double size takes: 2 if linear, 4 if quadratic."""
    function(*make(2))  # fills caches
    return steps(function, *make(2 * size)) / steps(function, *make(size))


class Compared(str):
    """A text that counts how often it is compared, which C code does without a step."""

    count = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__
