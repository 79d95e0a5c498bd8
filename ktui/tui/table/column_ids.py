"""The ids of all tables and their columns: what `[columns]` of the config file may name.

This list lets a config file be checked without loading a screen; tests compare it with the screens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ktui.config.errors import InvalidEntry, nearest

COLUMNS: Mapping[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "overview.prefixes": "prefix keys bytes share resource",
        "overview.caches": "state resource rv lag objects bytes watchers waiting events",
        "overview.requests": (
            "route time client request scanned returned ms seats verb resource ns status reason"
        ),
        "overview.possible": "badge request objects bytes seats 1.24 1.30 1.31 1.34 1.36",
        "overview.sources": "resource asker asked cache etcd stored bytes cost",
        "overview.largest": "key resource bytes",
        "overview.weights": "resource keys bytes average managed share skipped",
        "overview.churn": "resource writes deletes bytes total",
        "overview.hottest": "key revisions bytes manager lease",
        "requests.log": (
            "route time client request reason status scanned returned etcd bytes ms seats id verb resource ns"
        ),
        "requests.top": (
            "share route client request asked minute processed saving etcd parsed sent scanned p50 max "
            "seats cpu"
        ),
        "cache.caches": (
            "resource state rv lag objects bytes share window ring full events rate watchers waiting "
            "snapshots"
        ),
        "cache.objects": "namespace name rv bytes",
        "cache.events": "rv type object",
        "etcd.tree": "prefix keys bytes",
        "etcd.keys": "key rev version lease bytes",
        "etcd.revisions": "mark rev version bytes grown",
        "lab.results": (
            "route form status predicted keys scanned evaluated returned processed processedbar received "
            "amplified held ms msbar first seats requests server at why"
        ),
        "watches.watches": (
            "route client resource scope since age buffer delivered bookmarks rate shared state"
        ),
        "workloads.workloads": "state name sentence",
        "workloads.knobs": "knob value about",
        "versions.versions": "version badge route reason consistency limit wait seats changed why",
        "audit.ranked": (
            "route rank client account request count rate p95 max errors seats cost bar later verb resource "
            "etcd reason"
        ),
        "audit.every-version": "version requests etcd cache refused bytesbar bytes moves",
        "audit.slow-ranges": "range line count p50 p95 max failed keys bytes probably",
    }.items()
}


def check_columns(chosen: Mapping[str, Iterable[str]]) -> Iterator[InvalidEntry]:
    """Yield an error for each table of a choice of columns (table id → column ids) that is wrong."""
    for table, ids in chosen.items():
        known = COLUMNS.get(table)
        strange = [item for item in ids if known is not None and item not in known]
        if known is None:
            yield InvalidEntry(table, f"there is no table {table!r}; {nearest(table, COLUMNS)}")
        elif strange:
            yield InvalidEntry(table, f"{table} has no column {strange[0]!r}; {nearest(strange[0], known)}")
