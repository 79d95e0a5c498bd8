"""Whether an etcd can be asked how far a watch is (RequestWatchProgress)."""

from __future__ import annotations

import re

_SEMANTIC = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def is_etcd_version(version: str) -> bool:
    """Whether it is a semantic version at all."""
    return _SEMANTIC.fullmatch(version.strip()) is not None


def etcd_supports_progress(version: str) -> bool:
    """kube-apiserver 1.31 on: from etcd 3.4.31 within 3.4, else from 3.5.13; unparsable means no.

    Below these, a progress answer could overtake events of the same watch. 1.28–1.30 did not check.
    """
    found = _SEMANTIC.fullmatch(version.strip())
    if not found:
        return False
    release = int(found[1]), int(found[2]), int(found[3])
    needed = (3, 4, 31) if release[:2] == (3, 4) else (3, 5, 13)
    # A pre-release comes before its release.
    return release > needed or (release == needed and not found[4])
