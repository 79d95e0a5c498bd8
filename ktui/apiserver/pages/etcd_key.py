"""Describe one key of etcd as JSON: its stored value, its decoded object, the watch cache's copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ktui.apiserver.pages.secrets import may_hold_secret, redact
from ktui.contract.etcd import CachedCopy, KeyDetail
from ktui.storage.browser import KeyValue

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

HEX_BYTES = 4096
TEXT_BYTES = 64 << 10


def describe(value: KeyValue, cached: CachedCopy | None, *, reveal: bool) -> KeyDetail:
    """Return a key as a document. A Secret's raw bytes contain its values, so they are withheld too."""
    json, withheld = (value.json, False) if reveal else _shown(value)
    return KeyDetail(
        key=value.key,
        mod_revision=value.mod_revision,
        create_revision=value.create_revision,
        version=value.version,
        lease=value.lease,
        ttl=value.ttl,
        encoding=value.encoding,
        api_version=value.api_version,
        kind=value.kind,
        json=json,
        hex="" if withheld else value.raw[:HEX_BYTES].hex(),
        raw_bytes=len(value.raw),
        redacted=withheld,
        sizes=list(value.sizes),
        error=value.error,
        text="" if withheld or value.json is not None else _text(value.raw),
        cache=cached,
    )


def _shown(value: KeyValue) -> tuple[Any, bool]:
    """Return the document without a Secret's values, and whether anything is withheld."""
    secret = "/secrets/" in value.key or value.kind == "Secret"
    if value.json is None:
        return None, secret or may_hold_secret(value.raw)
    return redact(value.json, secret=secret)


def cached_copy(registry: Registry, value: KeyValue) -> CachedCopy | None:
    """Return the watch cache's copy of a key: `rv` (0: no copy) at `cache_rv`; None if no cache is ready."""
    for cacher in registry:
        if cacher.cache is not None and value.key.startswith(cacher.store.prefix):
            state = cacher.cache.state()
            if state.state != "ready":
                return None
            found = cacher.cache.memory.store.get(value.key)
            same = found is not None and found.rv == value.mod_revision and found.raw == value.raw
            rv = found.rv if found is not None else 0
            return CachedCopy(state.resource, rv, state.rv, same)
    return None


def _text(raw: bytes) -> str:
    """Return the value as plain text, "" if it is not text."""
    try:
        text = raw[:TEXT_BYTES].decode()
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char in "\t\r\n" for char in text) else ""
