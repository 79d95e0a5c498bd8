"""The etcd keys of a resource's objects."""

from __future__ import annotations

from ktui.kube.resources import Resource


class ResourceKeys:
    """Keys of one resource: `<--etcd-prefix>/<resource>[/<namespace>]/<name>`.

    `prefix` ends in a slash, so that `/a` does not match `/ab`; `root` is the same
    without it: normally not a key, so that reading it for its revision is cheap.
    """

    def __init__(self, resource: Resource, etcd_prefix: str = "/registry") -> None:
        self.prefix = f"{etcd_prefix.rstrip('/')}/{resource.prefix}"
        self.root = self.prefix.rstrip("/").encode()

    def collection(self, namespace: str | None) -> str:
        """The common prefix of all keys of a namespace (None: of all)."""
        return f"{self.prefix}{namespace}/" if namespace else self.prefix

    def of(self, namespace: str | None, name: str) -> bytes:
        """The key of one object."""
        return f"{self.collection(namespace)}{name}".encode()


def range_end(prefix: bytes) -> bytes:
    """The end of the range of all keys with this prefix: its last byte, plus one.

    Bytes 0xff are dropped first; an empty prefix (or only 0xff) ends at b"\\0", etcd's "no end".
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b"\0"
