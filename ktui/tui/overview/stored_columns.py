"""The columns of the tables over what is stored in etcd."""

from __future__ import annotations

from ktui.core.format import short_bytes
from ktui.core.request_view import query_words
from ktui.core.routes import badge_of_route
from ktui.core.stored.possible_lists import PossibleList, VersionCost
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.widgets.figures import figure

UNREAD: Cell = ("?", "$ink-muted")  # values of Secrets are not read from an etcd that is not ktui's


def _target(row: PossibleList) -> Cell:
    plural, dot, group = row.resource.partition(".")
    words = query_words(row.target.partition("?")[2])
    return (
        (plural, "$foreground"),
        (f"{dot}{group}", "$ink-muted"),
        (f" ?{words}" if words else "", "$ink-muted"),
    )


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
    """Of the LISTs that could be sent, with one column a version."""
    return (
        Column("badge", "", _badge, lambda row: badge_of_route(row.own.route).letter, width=1, priority=0,
               about="predicted route under the server's version"),
        Column("request", "LIST", _target, lambda row: row.target, width=20, flex=3, priority=0,
               about="the request, over all namespaces"),
        figure("objects", "reads", lambda row: row.own.objects, "objects read to answer it, predicted",
               priority=0),
        figure("bytes", "bytes", lambda row: row.own.bytes, "their bytes as stored; ~ from a sample",
               width=6, priority=0, unit="B", cell=_bytes),
        figure("seats", "seats", lambda row: row.own.seats, "flow-control seats, predicted", loud=10),
        *map(_version, versions),
    )  # fmt: skip


def _badge(row: PossibleList) -> Cell:
    badge = badge_of_route(row.own.route)
    return (badge.letter, badge.style)
