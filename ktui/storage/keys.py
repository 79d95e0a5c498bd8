"""The etcd keys of a resource's objects."""

from __future__ import annotations

import re

from ktui.kube.resources import Resource


class ResourceKeys:
    """Keys of one resource: `<--etcd-prefix>/<resource>[/<namespace>]/<name>`.

    `prefix` ends with a slash, so that `/a` does not match `/ab`. `root` is the same without the slash:
    normally no such key exists, so reading it for etcd's revision is cheap.
    """

    def __init__(self, resource: Resource, etcd_prefix: str = "/registry") -> None:
        self.prefix = f"{etcd_prefix.rstrip('/')}/{resource.prefix}"
        self.root = self.prefix.rstrip("/").encode()

    def collection(self, namespace: str | None) -> str:
        """Return the common prefix of all keys of a namespace (None: of all namespaces)."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    def of(self, namespace: str | None, name: str) -> bytes:
        """Return the key of one object."""
        return f"{self.collection(namespace)}{name}".encode()


def range_end(prefix: bytes) -> bytes:
    """Return the end of the range of all keys with this prefix: the prefix with its last byte plus one.

    Bytes 0xff at the end are dropped first; an empty prefix (or only 0xff) ends at b"\\0", etcd's "no end".
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b"\0"


_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|\\)")


def key_text(key: bytes) -> str:
    r"""A key as text: bytes that are not UTF-8 as `\xff`, a backslash doubled; others unchanged."""
    return key.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def key_bytes(text: str) -> bytes:
    """Return the key for a text from `key_text`."""
    whole, parts, at = text, [], 0
    for escape in _ESCAPE.finditer(whole):
        parts.append(whole[at : escape.start()].encode())
        parts.append(bytes([int(escape[1], 16)]) if escape[1] else b"\\")
        at = escape.end()
    return b"".join([*parts, whole[at:].encode()])
