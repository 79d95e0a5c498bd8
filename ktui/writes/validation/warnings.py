"""Warnings about objects that are accepted although the client can hardly mean them."""

from __future__ import annotations

import base64
from typing import Any

from ktui.writes.validation.updates import services

Obj = dict[str, Any]
TLS = "kubernetes.io/tls"
PEM = b"-----BEGIN "


def object_warnings(resource: str, obj: Obj) -> list[str]:
    """Return the warnings for a new or changed object; `resource` is the resource's id."""
    if resource == "services":
        return services.warnings(obj)
    return _tls_secret(obj) if resource == "secrets" else []


def _tls_secret(secret: Obj) -> list[str]:
    """Return upstream's warnings for a TLS Secret that Go cannot load; here only for missing PEM data."""
    if secret.get("type") != TLS:
        return []
    data = secret.get("data") or {}
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if PEM not in base64.b64decode(data.get(name) or ""):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []
