"""Find the key prefix of Kubernetes in an etcd: kube-apiserver's `--etcd-prefix`."""

from __future__ import annotations

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import PermissionDeniedError
from ktui.storage.children import find_children
from ktui.storage.keys import range_end

DEFAULT = "/registry"  # kube-apiserver, k3s and kine
OPENSHIFT = "/kubernetes.io"
PURPOSE = "prefix"
# kube-apiserver creates this namespace, and it cannot be deleted.
_MARKER_KEY = "/namespaces/default"


def normal(prefix: str) -> str:
    """Normalise a prefix as kube-apiserver's `--etcd-prefix`: a slash at the start, none at the end."""
    return f"/{prefix.strip('/')}"


async def find_prefix(client: EtcdClient) -> str | None:
    """Return the prefix with the namespace `default`, None if there is none.

    A few keys-only Ranges: the usual prefixes first, then every first path segment. A prefix that the user
    may not read is skipped.
    """
    for prefix in (DEFAULT, OPENSHIFT):
        if await _holds_kubernetes(client, prefix):
            return prefix
    try:
        found = await find_children(client, b"", PURPOSE)
    except PermissionDeniedError:
        return None
    for child in found.children:
        prefix = child.prefix.decode("utf-8", "replace").rstrip("/")
        if not child.is_key and await _holds_kubernetes(client, prefix):
            return prefix
    # No server has ever used this etcd (a tool filled it, or it holds part of a cluster): take a usual prefix
    # that has keys.
    below = [
        child.prefix.decode("utf-8", "replace").rstrip("/") for child in found.children if not child.is_key
    ]
    return next((prefix for prefix in (DEFAULT, OPENSHIFT) if prefix in below), None)


async def check_readable(client: EtcdClient, prefix: str) -> None:
    """Raise PermissionDeniedError or AuthenticationError if keys below `prefix` are not readable."""
    start = f"{prefix}/".encode()
    await client.range(start, range_end(start), count_only=True, purpose=PURPOSE)


async def _holds_kubernetes(client: EtcdClient, prefix: str) -> bool:
    try:
        answer = await client.range(f"{prefix}{_MARKER_KEY}".encode(), keys_only=True, purpose=PURPOSE)
    except PermissionDeniedError:
        return False
    return bool(answer.kvs)
