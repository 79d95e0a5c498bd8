"""One sentence about the window: which LISTs cost most, and where they were served from."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.core.format import duration, many, percent, times
from ktui.core.live.resource_routes import ResourceRoutes


def verdict(routes: Sequence[ResourceRoutes]) -> str:
    """Return a sentence about the first of `routes`: the one whose LISTs by clients read most objects."""
    listed = [row for row in routes if row.served or row.lists]
    if not routes:
        return "no scrape yet"
    if not any(row.seconds for row in routes):
        return "one scrape so far: rates need two"
    if not listed:
        return f"no LIST by clients in {duration(max(row.seconds for row in routes))}"
    worst = listed[0]
    if worst.served is None:
        return f"{worst.resource}: this server does not report where LISTs are served from"
    return f"{worst.resource}: {_route(worst)}{_amplified(worst)}"


def _route(row: ResourceRoutes) -> str:
    count, span = round(row.served or 0), duration(row.seconds)
    every = f"{many(count, 'LIST')} in {span}"
    whole = f"all {every}" if count > 1 else f"the only LIST in {span}"
    of_etcd = row.etcd_share
    if not of_etcd:
        return f"{whole} from the watch cache"
    if of_etcd == 1:
        return f"{whole} from etcd"
    fetched = (row.etcd.fetched or 0) / row.fetched if row.fetched else 0.0
    return (
        f"{percent(1 - of_etcd)} of {every} from the cache; "
        f"the {percent(of_etcd)} from etcd fetched {percent(fetched)} of the objects"
    )


def _amplified(row: ResourceRoutes) -> str:
    factor = row.amplification
    return f"; {times(factor)} more objects read than returned" if factor and factor >= 2 else ""
