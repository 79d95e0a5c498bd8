"""One key of etcd as JSON: what is stored, what it means, what the watch cache says to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.pages.secrets import holds_secret, redacted
from ktui.apiserver.ports import KeyRow, KeyValue

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

HEX_BYTES = 4096
TEXT_BYTES = 64 << 10
_METADATA = (
    "key",
    "mod_revision",
    "create_revision",
    "version",
    "lease",
    "ttl",
    "encoding",
    "api_version",
    "kind",
)
_ROW = ("key", "mod_revision", "create_revision", "version", "lease", "bytes")


def describe(value: KeyValue, *, reveal: bool) -> dict[str, Any]:
    """A key as JSON. A Secret's bytes tell its values, so they are withheld as well."""
    described = {name: getattr(value, name) for name in _METADATA}
    withheld = holds_secret(value.key, value.kind) and not reveal
    described["json"] = redacted(value.json) if withheld and value.json is not None else value.json
    described["hex"] = "" if withheld else value.raw[:HEX_BYTES].hex()
    described["raw_bytes"] = len(value.raw)
    described["redacted"] = withheld
    described["sizes"] = [
        {"path": field.path, "size": field.size, "share": round(field.share, 4)} for field in value.sizes
    ]
    if value.error:
        described["error"] = value.error
    if value.json is None and not withheld and (text := _text(value.raw)):
        described["text"] = text
    return described


def rows(keys: Sequence[KeyRow]) -> list[dict[str, Any]]:
    """Keys' metadata, or the revisions of one key."""
    return [{name: getattr(row, name) for name in _ROW} for row in keys]


def cached_copy(registry: Registry, value: KeyValue) -> dict[str, Any] | None:
    """What the watch cache holds for a key: `rv` (0: nothing), as of `cache_rv`. None: no cache is filled."""
    for cacher in registry:
        if cacher.fed is not None and value.key.startswith(cacher.store.prefix):
            state = cacher.fed.state()
            if state.state != "ready":
                return None
            found = cacher.fed.memory.store.get(value.key)
            same = found is not None and found.rv == value.mod_revision and found.raw == value.raw
            rv = found.rv if found is not None else 0
            return {"resource": state.resource, "rv": rv, "cache_rv": state.rv, "same": same}
    return None


def _text(raw: bytes) -> str:
    """A value that is plain text, "" for any other."""
    try:
        text = raw[:TEXT_BYTES].decode()
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char in "\t\r\n" for char in text) else ""
