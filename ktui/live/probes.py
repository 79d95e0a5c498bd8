"""Probes: two reads of one name that show the resourceVersions of a watch cache and of etcd."""

from __future__ import annotations

import msgspec

from ktui.client.connection import ClientError
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.kube.resources import BUILTIN

NAME = "ktui-probe"  # no object has this name


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


def collection_of(resource_id: str) -> str:
    """Return the path of a built-in resource (in one namespace if namespaced); "" for other resources."""
    known = next((item for item in BUILTIN.preferred() if item.id == resource_id), None)
    if known is None:
        return ""
    if not known.namespaced:
        return known.path
    base, _, plural = known.path.rpartition("/")
    return f"{base}/namespaces/default/{plural}"


def probe_paths(collection: str) -> tuple[str, str]:
    """Return a probe's two reads: from the cache as it is, then consistent. Each reads at most one key."""
    name = f"fieldSelector=metadata.name%3D{NAME}"
    return f"{collection}?{name}&resourceVersion=0", f"{collection}?{name}"


def decode_list(content: bytes, path: str) -> int:
    """Return the resourceVersion of a List. Raises ClientError."""
    try:
        found = decode_json(content, _List).metadata.resource_version
    except DocumentError as error:
        raise ClientError(f"the answer to {path} is not valid: {error}") from error
    if not found.isdecimal() or len(found) > 18:
        raise ClientError(f"the answer to {path} has no resourceVersion")
    return int(found)
