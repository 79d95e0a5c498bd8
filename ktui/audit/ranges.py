"""Find resource and scope of a range of etcd keys."""

from __future__ import annotations

from ktui.audit.formats.record import SlowRequest
from ktui.audit.group import RangeKey
from ktui.kube.resources import BUILTIN

_LONGEST = 120


def range_key(slow: SlowRequest, etcd_prefix: str) -> RangeKey:
    """Return the group of a slow request; `etcd_prefix` is kube-apiserver's, such as `/registry`."""
    start = slow.key
    base = _base(start, slow.range_end)
    resource, rest = resource_of(base, etcd_prefix)
    if slow.what == "write":
        scope = ""
    elif not slow.range_end:
        scope = "key"
    else:
        scope = "namespace" if rest else "all"
    return RangeKey(
        source=slow.source,
        what=slow.what,
        resource=resource,
        scope=scope,
        limit=slow.limit,
        later=start != base,
        pinned=slow.revision > 0,
    )


def resource_of(key: str, etcd_prefix: str) -> tuple[str, str]:
    """Return the resource id of a key or prefix, and the rest after the resource's prefix.

    For a key outside `etcd_prefix` or of an unknown resource, the start of the key instead of an id.
    """
    root = etcd_prefix.rstrip("/") + "/"
    if not key.startswith(root):
        return key[:_LONGEST], ""
    parts = key.removeprefix(root).split("/")
    for length in (2, 1):
        if len(parts) > length and (known := BUILTIN.by_prefix("/".join(parts[:length]) + "/")):
            return known.id, "/".join(parts[length:])
    if len(parts) > 2 and "." in parts[0]:  # the prefix of a custom resource begins with its group
        return f"{parts[1]}.{parts[0]}"[:_LONGEST], "/".join(parts[2:])
    return (root + parts[0])[:_LONGEST], "/".join(parts[1:])


def _base(start: str, end: str) -> str:
    """Return the prefix of a range: `/registry/pods/` if it ends at `/registry/pods0`, as `0` follows `/`.

    For a single key, or another kind of range, its start.
    """
    prefix = end[:-1] + "/"
    return prefix if end.endswith("0") and start.startswith(prefix) else start
