"""What of a Secret may be shown before it is revealed."""

from __future__ import annotations

from typing import Any

# kubectl apply keeps a copy of all that was applied there, values included.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MASK = "<redacted>"


def holds_secret(key: str, kind: str) -> bool:
    """Also by its key: a Secret that cannot be decoded is a Secret still."""
    return kind == "Secret" or "/secrets/" in key


def redacted(secret: dict[str, Any]) -> dict[str, Any]:
    """A copy with the values masked; names of the entries stay."""
    shown = dict(secret)
    for name in ("data", "stringData"):
        if isinstance(secret.get(name), dict):
            shown[name] = dict.fromkeys(secret[name], MASK)
    metadata = secret.get("metadata")
    if isinstance(metadata, dict) and LAST_APPLIED in (metadata.get("annotations") or {}):
        shown["metadata"] = {**metadata, "annotations": {**metadata["annotations"], LAST_APPLIED: MASK}}
    return shown
