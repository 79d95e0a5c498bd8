"""Whether an etcd's progress notifications (RequestWatchProgress) can be trusted, by its version."""

from __future__ import annotations

import re

_NUMBER = r"(0|[1-9]\d{0,17})"
_PART = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMANTIC = re.compile(
    rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

# A release, or with False a pre-release of it, which sorts before it.
_Version = tuple[int, int, int, bool]
_FIXED_IN_3_4: _Version = (3, 4, 31, True)
_BROKEN_AGAIN: _Version = (3, 5, 0, True)
_FIXED_IN_3_5: _Version = (3, 5, 13, True)


def is_etcd_version(version: str) -> bool:
    """True for a semantic version."""
    return _SEMANTIC.fullmatch(version.strip()) is not None


def etcd_supports_progress(version: str) -> bool:
    """kube-apiserver's rule since 1.31: 3.4.31 and later in 3.4, and 3.5.13 and later; not if unparsable.

    Older versions may answer before they have sent all events up to the revision they name.
    Pre-releases compare as semantic versions do: 3.5.13-rc.1 comes before 3.5.13.
    """
    found = _SEMANTIC.fullmatch(version.strip())
    if not found:
        return False
    asked: _Version = int(found[1]), int(found[2]), int(found[3]), not found[4]
    return _FIXED_IN_3_4 <= asked < _BROKEN_AGAIN or asked >= _FIXED_IN_3_5
