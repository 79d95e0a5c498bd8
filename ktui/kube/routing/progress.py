"""Tell by etcd's version whether its progress notifications (RequestWatchProgress) can be trusted."""

from __future__ import annotations

import re

_NUMBER = r"(0|[1-9]\d{0,17})"
_PART = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMANTIC = re.compile(
    rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

# Major, minor, patch; False for a pre-release, which sorts before its release.
_Version = tuple[int, int, int, bool]
_FIXED_IN_3_4: _Version = (3, 4, 31, True)
_BROKEN_AGAIN: _Version = (3, 5, 0, True)
_FIXED_IN_3_5: _Version = (3, 5, 13, True)


def is_etcd_version(version: str) -> bool:
    """Return True for a semantic version."""
    return _SEMANTIC.fullmatch(version.strip()) is not None


def etcd_supports_progress(version: str) -> bool:
    """Apply kube-apiserver's rule (1.31+): True for 3.4.31+ within 3.4 and for 3.5.13+; False if unparsable.

    Older versions may answer before they have sent all events up to the revision that the answer names.
    Pre-releases compare as semantic versions do: 3.5.13-rc.1 comes before 3.5.13.
    """
    found = _SEMANTIC.fullmatch(version.strip())
    if not found:
        return False
    parsed: _Version = int(found[1]), int(found[2]), int(found[3]), not found[4]
    return _FIXED_IN_3_4 <= parsed < _BROKEN_AGAIN or parsed >= _FIXED_IN_3_5
