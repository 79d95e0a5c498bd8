"""The columns of the tables of stored data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ktui.contract.etcd_documents import Churn, KeyChurn, ResourceChurn
from ktui.core.format import percent, short_bytes
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.request_view import query_words, short_resource
from ktui.core.rows import badge_of_route
from ktui.core.stored import LargeObject, PossibleList, ResourceSources, VersionCost, Weight
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.live.live_columns import per_second
from ktui.tui.widgets.lines import figure, resource_runs

UNREAD: Cell = ("?", "$ink-muted")  # values of Secrets are not read from an etcd that is not ktui's


def _target(row: PossibleList) -> Cell:
    """Return resource and parameters without the group, for which there is no room beside them."""
    words = query_words(row.target.partition("?")[2])
    return ((short_resource(row.resource), "$foreground"), (f" ?{words}" if words else "", "$ink-muted"))


def _bytes(row: PossibleList) -> Cell:
    if not row.stored.bytes:
        return UNREAD
    return (("" if row.exact else "~") + short_bytes(row.own.bytes), "$foreground")


def _at(row: PossibleList, minor: str) -> VersionCost | None:
    return next((cost for cost in row.costs if cost.version == minor), None)


def _version(minor: str) -> Column[PossibleList]:
    def cell(row: PossibleList) -> Cell:
        cost = _at(row, minor)
        if cost is None:
            return NOTHING
        badge = badge_of_route(cost.route)
        return ((f"{badge.letter} ", badge.style), (f"{cost.seats or '?':>3}", "$ink-muted"))

    return Column(
        minor, minor, cell, lambda row: cost.route if (cost := _at(row, minor)) is not None else "",
        width=5, priority=2 if minor in ("1.30", "1.36") else 4,
        about=f"predicted under {minor}: the route, and the flow-control seats",
    )  # fmt: skip


def list_columns(versions: tuple[str, ...]) -> tuple[Column[PossibleList], ...]:
    """Return the columns of possible LISTs, one for each version among them."""
    return (
        Column("badge", "", lambda row: badge_of_route(row.own.route).run, width=1, priority=0,
               about="predicted route under the server's version"),
        Column("request", "LIST", _target, lambda row: row.target, width=20, flex=3, priority=0,
               about="the request, over all namespaces"),
        figure("objects", "reads", lambda row: row.own.objects, "objects read to answer it, predicted",
               priority=0),
        figure("bytes", "bytes", lambda row: row.own.bytes, "their bytes as stored; ~ from a sample", width=6,
               priority=0, unit="B", cell=_bytes),
        figure("seats", "seats", lambda row: row.own.seats, "flow-control seats, predicted", loud=10),
        *map(_version, versions),
    )  # fmt: skip


def _name_cell(row: Weight | ResourceChurn) -> Cell:
    return resource_runs(row.resource or "(no resource)")


LARGEST: tuple[Column[LargeObject], ...] = (
    Column("key", "key", lambda row: (row.key, "$foreground"), width=24, flex=3, priority=0, tail=True,
           about="the key in etcd"),
    Column("resource", "resource", lambda row: (row.resource, "$ink-muted"), width=14, flex=1, most=30,
           priority=3, about="the Kubernetes resource"),
    figure("bytes", "bytes", lambda row: row.bytes, "key and value as stored", width=6, priority=0, unit="B",
           loud=500_000),
)  # fmt: skip

WEIGHTS: tuple[Column[Weight], ...] = (
    Column("resource", "resource", _name_cell, lambda row: row.resource, width=16, flex=1, priority=0,
           about="the Kubernetes resource"),
    figure("keys", "read", lambda row: row.keys, "keys whose values were read"),
    figure("bytes", "bytes", lambda row: row.bytes, "keys and values as stored", width=6, priority=0,
           unit="B"),
    figure("average", "each", lambda row: row.average, "mean bytes of an object", width=6, priority=2,
           unit="B"),
    figure("managed", "managedFields", lambda row: row.managed_bytes, "bytes of metadata.managedFields",
           width=13, priority=0, unit="B"),
    Column("share", "share", lambda row: percent(row.managed_share) if row.managed_bytes else NOTHING,
           lambda row: row.managed_share, width=5, align="right", priority=0, descending=True,
           about="managedFields' share of the bytes"),
    figure("skipped", "not read", lambda row: row.skipped, "values of Secrets, which are not read", width=8,
           priority=4),
)  # fmt: skip


Churned = TypeVar("Churned", ResourceChurn, KeyChurn)


class ChurnRate(Struct, Generic[Churned], frozen=True):
    """Changes of one resource or key during a watch of `seconds`."""

    churn: Churned
    seconds: float

    def per_second(self, value: int) -> float:
        return value / self.seconds if self.seconds else 0.0


def rates(churn: Churn, churned: Sequence[Churned]) -> list[ChurnRate[Churned]]:
    return [ChurnRate(item, churn.seconds) for item in churned]


CHURN: tuple[Column[ChurnRate[ResourceChurn]], ...] = (
    Column("resource", "resource", lambda row: _name_cell(row.churn), lambda row: row.churn.resource,
           width=16, flex=1, priority=0, about="the Kubernetes resource"),
    figure("writes", "writes/s", lambda row: row.per_second(row.churn.writes), "puts a second", width=8,
           priority=0, shown=per_second),
    figure("deletes", "deletes/s", lambda row: row.per_second(row.churn.deletes),
           "deletes a second, expired leases among them", width=9, shown=per_second),
    figure("bytes", "B/s", lambda row: row.per_second(row.churn.bytes), "keys and values written a second",
           width=6, priority=0, unit="B"),
    figure("total", "changes", lambda row: row.churn.writes + row.churn.deletes, "since the watch began",
           width=7, priority=3),
)  # fmt: skip

HOTTEST: tuple[Column[ChurnRate[KeyChurn]], ...] = (
    Column("key", "key", lambda row: (row.churn.key, "$foreground"), width=24, flex=3, priority=0, tail=True,
           about="the key in etcd"),
    figure("revisions", "rev/min", lambda row: row.per_second(60 * row.churn.changes),
           "revisions of the key a minute", width=7, priority=0, shown=per_second),
    figure("bytes", "bytes", lambda row: row.churn.bytes, "written since the watch began", width=6, unit="B"),
    Column("manager", "written by", lambda row: row.churn.manager or ("?", "$ink-muted"),
           lambda row: row.churn.manager, width=14, flex=2, most=40, priority=0,
           about="the newest manager in its managedFields; ? not looked at"),
    Column("lease", "lease",
           lambda row: (f"{row.churn.lease:x}", "$route-wait") if row.churn.lease else NOTHING,
           lambda row: row.churn.lease, width=8, flex=1, most=16, priority=4,
           about="etcd's lease of the key"),
)  # fmt: skip


def _asker(row: ResourceSources) -> Cell:
    if row.asked is None or not row.asked.clients:
        return NOTHING
    first = row.asked.clients[0]
    share = percent(first.requests / max(1, row.asked.requests))
    return ((first.client, "$foreground"), (f" {share}", "$ink-muted"))


def _served(
    name: str, title: str, value: Callable[[ResourceRoutes], float | None], about: str
) -> Column[Any]:
    def number(row: ResourceSources) -> float | None:
        return row.routes.per_second(value(row.routes)) if row.routes is not None else None

    def cell(row: ResourceSources) -> Cell:
        found = number(row)
        if found is None:
            return ("?", "$ink-faint")
        return (per_second(found), "$foreground") if found else NOTHING

    return figure(name, title, lambda row: number(row) or 0, f"{about} (m: metrics)", priority=0,
                  width=6, cell=cell)  # fmt: skip


def _stored(row: ResourceSources) -> Cell:
    if row.stored is None or not row.stored.count:
        return NOTHING
    if not row.stored.bytes:
        return UNREAD
    return (("" if row.stored.exact else "~") + short_bytes(row.stored.bytes), "$foreground")


def _cost(row: ResourceSources) -> Cell:
    if row.cost is None:
        return UNREAD
    return (short_bytes(row.cost), "$foreground") if row.cost else NOTHING


SOURCES: tuple[Column[ResourceSources], ...] = (
    Column("resource", "resource", lambda row: resource_runs(row.resource), width=14, flex=1, most=30,
           priority=0, about="the Kubernetes resource"),
    Column("asker", "a: most asked by", _asker, width=18, flex=2, most=44,
           about="the client with most requests, and its share (a: audit log)"),
    figure("asked", "a: L/s", lambda row: row.lists_per_second,
           "LISTs a second over all of the audit log that was read (a)", width=6, priority=2,
           shown=per_second),
    _served("cache", "m: C/s", lambda routes: routes.cache.lists, "LISTs a second from the watch cache"),
    _served("etcd", "m: E/s", lambda routes: routes.etcd.lists, "LISTs a second from etcd"),
    figure("stored", "e: keys", lambda row: row.stored.count if row.stored is not None else 0,
           "keys in etcd (e: etcd)", width=7),
    figure("bytes", "e: bytes", lambda row: row.stored.bytes if row.stored is not None else 0,
           "their bytes in etcd, ~ a sample, ? not read (e)", width=8, priority=0, unit="B", cell=_stored),
    figure("cost", "m×e: B/s", lambda row: row.cost or 0, "bytes that LISTs read a second: objects by "
           "metrics, mean size by etcd (m × e)", width=8, priority=0, unit="B", cell=_cost),
)  # fmt: skip
