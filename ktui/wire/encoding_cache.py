"""Cache encodings of parts of objects.

A write encodes an object twice: to find what its type keeps of it, and to store it. Between the two, and
between the pods of a ReplicaSet, most parts are equal, so a part is looked up by its value before it is
written field by field.
"""

import marshal
from collections.abc import Callable
from typing import Any

from ktui.wire.transcode_cache import OVERHEAD, Budget

Write = Callable[[Any, str, list[str]], bytes]

LONGEST = 16 << 10
"""Maximum bytes of a cached value: larger ones hardly ever repeat."""

_BUDGET = Budget(4 << 20)
# marshal's last format without references: equal values have equal bytes, and 1, 1.0 and true differ.
_FORMAT = 2


def remembering(write: Write) -> Write:
    """Return the same writer with a cache: (value, its path, paths of unknown members) → bytes.

    Values with unknown members are not cached, because their paths are reported each time.
    """
    written: dict[bytes, bytes] = {}
    _BUDGET.register(written)

    def look_up(value: Any, path: str, unknown: list[str]) -> bytes:
        if _has_many(value):
            return write(value, path, unknown)
        try:
            key = marshal.dumps(value, _FORMAT)
        except ValueError:  # not a plain JSON value, or nested too deeply: the writer raises the right error
            return write(value, path, unknown)
        found = written.get(key)
        if found is None:
            reported = len(unknown)
            found = write(value, path, unknown)
            if len(unknown) == reported and len(key) <= LONGEST:
                _BUDGET.spend(len(key) + len(found) + OVERHEAD)
                written[key] = found
        return found

    return look_up


def _has_many(value: Any) -> bool:
    """Return True if the value is certainly longer than LONGEST, as computing its length would take long."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return len(value) > LONGEST or any(isinstance(p, dict | list) and len(p) > LONGEST // 8 for p in parts)


def forget() -> None:
    """Clear the cache, to measure the cost of writing, and for tests."""
    _BUDGET.clear()
