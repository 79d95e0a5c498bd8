"""Consistency checks: what kube-apiserver's comparisons of its caches with etcd read, and what they found.

From 1.34 on each watch cache of each replica is compared every 5 to 7.5 minutes (feature gate
DetectCacheInconsistency).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ktui.core.format import integer, long_bytes, many, percent
from ktui.core.live.resource_routes import Number, ResourceRoutes, Served
from ktui.core.live.window import share, total

GATE = "DetectCacheInconsistency"
ROW = "consistency checks"  # the name of the row among resources: none can have it
EVERY = 375.0  # seconds between two checks of a cache, on average


class Checks(msgspec.Struct, frozen=True):
    """Totals of all resources over `seconds`. `objects` and `bytes` were read from etcd."""

    seconds: float
    count: float = 0.0  # that compared
    failed: float = 0.0  # that found a difference
    errored: float = 0.0  # that could not compare
    resources: int = 0
    lists: float = 0.0  # of etcd, a page each
    objects: float = 0.0
    bytes: Number = None
    share: Number = None  # of the objects that all LISTs read from etcd
    per_replica: float = 0.0  # objects that each round of checks reads
    per_replica_bytes: Number = None


def checks_of(routes: Sequence[ResourceRoutes]) -> Checks | None:
    """Sum the checks of all resources; None if no replica reports a check since it began."""
    known = [row for row in routes if row.checked]
    if not known:
        return None
    read = [part for row in routes for part in (row.etcd.fetched, row.own_etcd.fetched)]
    objects = total(row.check_objects for row in known) or 0.0
    return Checks(
        seconds=max(row.seconds for row in known),
        count=total(row.checks for row in known) or 0.0,
        failed=total(row.checks_failed for row in known) or 0.0,
        errored=total(row.checks_errored for row in known) or 0.0,
        resources=sum(bool(row.checks) for row in known),
        lists=total(row.check_lists for row in known) or 0.0,
        objects=objects,
        bytes=total(row.check_bytes for row in known),
        share=share(objects, total(read)),
        per_replica=total(row.objects for row in known) or 0.0,
        per_replica_bytes=total(row.size_bytes for row in known),
    )


def row_of(checks: Checks) -> ResourceRoutes:
    """Return the row of the checks in a table of LISTs by resource."""
    read = Served(checks.lists, checks.objects, checks.objects)
    return ResourceRoutes(
        resource=ROW,
        seconds=checks.seconds,
        cache=Served(checks.count, checks.objects, checks.objects),
        etcd=read,
        checks_ok=checks.count - checks.failed,
        checks_failed=checks.failed,
        checks_errored=checks.errored,
        bytes=checks.bytes,
        lists=0.0,
        rejected=0.0,
        fallback=0.0,
    )


def checks_text(checks: Checks) -> str:
    """Return count, objects, bytes and share in one sentence."""
    size = f", about {long_bytes(checks.bytes)}" if checks.bytes else ""
    part = f": {percent(checks.share)} of the objects that LISTs read there" if checks.share else ""
    found = [f"{many(round(checks.failed), 'cache')} differed from etcd"] if checks.failed else []
    found += [f"{many(round(checks.errored), 'check')} ended with an error"] if checks.errored else []
    return (
        f"{many(round(checks.count), 'consistency check')} of {many(checks.resources, 'resource')} read "
        f"{many(round(checks.objects), 'object')}{size} from etcd{part}"
        + "".join(f"; {text}" for text in found or ["all agreed"] if checks.count or found)
    )


def saving_text(checks: Checks) -> str:
    """Return what switching the feature gate off would save."""
    size = f", about {long_bytes(checks.per_replica_bytes)}" if checks.per_replica_bytes else ""
    return (
        f"{GATE}=false would save each replica reading {integer(round(checks.per_replica))} objects{size} "
        f"from etcd every {EVERY / 60:.0f} minutes; then nothing notices a cache that differs from etcd"
    )
