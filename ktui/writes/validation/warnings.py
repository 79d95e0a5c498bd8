"""Warnings about objects that are accepted, and hardly what the client means."""

from __future__ import annotations

import base64
from typing import Any

from ktui.writes.validation.updates import services

Obj = dict[str, Any]
TLS = "kubernetes.io/tls"
PEM = b"-----BEGIN "


def object_warnings(resource: str, obj: Obj) -> list[str]:
    """Of a new or changed object, by the resource's id."""
    if resource == "services":
        return services.warnings(obj)
    return _tls_secret(obj) if resource == "secrets" else []


def _tls_secret(secret: Obj) -> list[str]:
    """Go's tls.X509KeyPair would not load it. Only what is no PEM at all is noticed here."""
    if secret.get("type") != TLS:
        return []
    data = secret.get("data") or {}
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if PEM not in base64.b64decode(data.get(name) or ""):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []
