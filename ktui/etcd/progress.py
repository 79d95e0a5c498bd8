"""Which etcd versions can be trusted when they answer a watch progress request."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)([-+].*)?")


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Major, minor, patch of a semantic version; None when it is none."""
    found = _VERSION.fullmatch(text.strip())
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def supports_progress(version: str) -> bool:
    """Whether RequestWatchProgress is reliable: 3.4.31+ within 3.4, 3.5.13+ within 3.5, all of 3.6+.

    kube-apiserver 1.31+ asks each endpoint once; a version that it cannot parse counts as unsupported.
    Earlier etcds may answer before they have sent the events up to the revision that they name.
    """
    parsed = parse_version(version)
    if parsed is None:
        return False
    if parsed[:2] == (3, 4):
        return parsed >= (3, 4, 31)
    return parsed >= (3, 5, 13)
