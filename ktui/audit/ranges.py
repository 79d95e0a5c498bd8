"""Which objects a range of etcd keys holds."""

from __future__ import annotations

from ktui.audit.group import RangeKey
from ktui.audit.record import SlowRequest
from ktui.kube.resources import BUILTIN

_LONGEST = 120


def range_key(slow: SlowRequest, etcd_prefix: str) -> RangeKey:
    """The group that a slow request belongs to; `etcd_prefix` is kube-apiserver's, `/registry`."""
    start = slow.key
    base = _base(slow.range_end) if slow.range_end else start
    resource, rest = resource_of(base if slow.range_end else start, etcd_prefix)
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
        later=bool(slow.range_end) and start != base,
        pinned=slow.revision > 0,
    )


def resource_of(key: str, etcd_prefix: str) -> tuple[str, str]:
    """Resource id of a key or prefix, and what follows the resource's own prefix.

    A key outside `etcd_prefix`, or of no known kind, gives the start of the key instead of an id.
    """
    root = etcd_prefix.rstrip("/") + "/"
    if not key.startswith(root):
        return key[:_LONGEST], ""
    parts = key.removeprefix(root).split("/")
    for length in (2, 1):
        if len(parts) > length and (known := BUILTIN.by_prefix("/".join(parts[:length]) + "/")):
            return known.id, "/".join(parts[length:])
    if len(parts) > 2 and "." in parts[0]:  # custom resources lie under their group
        return f"{parts[1]}.{parts[0]}"[:_LONGEST], "/".join(parts[2:])
    return (root + parts[0])[:_LONGEST], "/".join(parts[1:])


def _base(range_end: str) -> str:
    """The prefix that ends there: `/registry/pods0` closes `/registry/pods/`, for 0 follows the slash."""
    return range_end[:-1] + "/" if range_end.endswith("0") else range_end
