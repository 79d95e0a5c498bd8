"""Find the key prefix of Kubernetes in an etcd: kube-apiserver's `--etcd-prefix`."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import PermissionDeniedError
from ktui.storage.keys import range_end

MAX_CHILDREN = 500
_KEYS_AT_ONCE = 500
# keys directly below a prefix that count as its children; the `keys` request lists the others
_SHOWN_KEYS = 20


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a prefix. `leaf`: its first key has no further slash. `is_key`: a key, not a prefix."""

    prefix: bytes
    leaf: bool
    is_key: bool = False


async def find_children(client: EtcdClient, prefix: bytes, purpose: str) -> tuple[list[Child], bool]:
    """Find the children with one keys-only Range each; keys directly below `prefix` are skipped in pages.

    Return them in key order, and False if the search stopped at MAX_CHILDREN.
    """
    found: list[Child] = []
    keys: list[Child] = []
    cursor, end, wanted, complete = prefix or b"\0", range_end(prefix), 1, False
    while len(found) < MAX_CHILDREN:
        answer = await client.range(cursor, end, limit=wanted, keys_only=True, purpose=purpose)
        if complete := not answer.kvs:
            break
        wanted = 1
        for kv in answer.kvs:
            child = _child_of(prefix, kv.key)
            if not child.is_key:
                found.append(child)
                cursor = range_end(child.prefix)
                break
            if len(keys) <= _SHOWN_KEYS:
                keys.append(child)
            cursor, wanted = kv.key + b"\0", _KEYS_AT_ONCE
    shown = keys if len(keys) <= _SHOWN_KEYS else []
    return sorted(found + shown, key=lambda child: child.prefix), complete


def _child_of(prefix: bytes, key: bytes) -> Child:
    """Return the child that contains `key`. A slash at the very beginning is part of the first name."""
    rest = key[len(prefix) :]
    slash = rest.find(b"/", 0 if prefix else 1)
    if slash < 0:
        return Child(key, leaf=True, is_key=True)
    return Child(key[: len(prefix) + slash + 1], leaf=b"/" not in rest[slash + 1 :])


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
        children, _ = await find_children(client, b"", PURPOSE)
    except PermissionDeniedError:
        return None
    below = [child.prefix.decode("utf-8", "replace").rstrip("/") for child in children if not child.is_key]
    for prefix in below:
        if await _holds_kubernetes(client, prefix):
            return prefix
    # No server has ever used this etcd (a tool filled it, or it holds part of a cluster): take a usual prefix
    # that has keys.
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
