"""Names of container images: `registry:port/path:tag@digest` (upstream: distribution/reference)."""

from __future__ import annotations

import re

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_NAME = re.compile(rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?")
_ID = re.compile("[0-9a-f]{64}")
_LONGEST = 4096


def tag_of(image: str) -> str:
    """Return the tag of an image: `latest` without any, "" beside a digest or in an invalid name."""
    found = _NAME.fullmatch(image) if len(image) <= _LONGEST else None
    if found is None or _ID.fullmatch(image):
        return ""
    return found["tag"] or ("" if found["digest"] else "latest")
