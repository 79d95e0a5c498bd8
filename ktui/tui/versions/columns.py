"""Columns of the Versions screen, in which changes are highlighted."""

from __future__ import annotations

from msgspec.structs import replace

from ktui.core.routes import ERROR, Badge, badge_of_route
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.kube.routing import sentences
from ktui.kube.routing.plan import Wait
from ktui.kube.seats import SeatRange
from ktui.tui.versions.rows import VersionRow, causes_text

NEW, SAME = "bold $accent", "$ink-muted"


def badge(row: VersionRow) -> Badge:
    """Return the badge of an error if the version refuses the request, else of its route."""
    plan = row.under.plan
    return ERROR if plan.error is not None else badge_of_route(plan.source.value)


def _style(row: VersionRow, *aspects: str) -> str:
    if row.first:
        return "$foreground"
    return NEW if row.changed(*aspects) else SAME


def _version(row: VersionRow) -> Cell:
    style = "bold $ink-strong" if row.first or row.under.changed else SAME
    return ((row.versions, style), (" ◂", "bold $rv-cache") if row.current else ("", ""))


def _badge(row: VersionRow) -> Cell:
    item = badge(row)
    return (item.letter, item.style)


def _route(row: VersionRow) -> Cell:
    item = badge(row)
    error = row.under.outcome.error
    word = f"{error} {item.word}" if error is not None else item.word
    return (word, item.style if row.first or row.changed("route", "error") else SAME)


def _reason(row: VersionRow) -> Cell:
    return (row.under.plan.reason_id, _style(row, "reason"))


def _limit(row: VersionRow) -> Cell:
    honoured = row.under.outcome.limit
    if honoured is None:
        return NOTHING
    return ("honoured" if honoured else "ignored", _style(row, "limit"))


def _consistency(row: VersionRow) -> Cell:
    text = row.under.outcome.consistency
    return (text.replace("_", " "), _style(row, "consistency")) if text else NOTHING


def _wait(row: VersionRow) -> Cell:
    plan = row.under.plan
    faint = plan.wait is Wait.NONE and not row.changed("wait")
    return (sentences.short_wait(plan), "$ink-faint" if faint else _style(row, "wait"))


def seats_text(seats: SeatRange) -> str:
    if not seats.max:
        return "·"
    return f"{seats.min}" if seats.min == seats.max else f"{seats.min}–{seats.max}"


def _seats(row: VersionRow) -> Cell:
    return (seats_text(row.under.outcome.seats), _style(row, "seats"))


def _why(row: VersionRow) -> Cell:
    """Return the reason only where it changed: repeated on each line it would hide that."""
    if row.first or row.changed("reason"):
        return (_rule(row), "$foreground")
    return NOTHING


def _rule(row: VersionRow) -> str:
    return sentences.reason(row.under.plan)


def _causes(row: VersionRow) -> Cell:
    return (causes_text(row), "$foreground")


_VERSIONS: tuple[Column[VersionRow], ...] = (
    Column("version", "version", _version, lambda row: row.under.behaviour.minor, width=7, priority=0,
           about="Kubernetes versions that decide the same; ◂ the current one"),
    Column("badge", "", _badge, width=1, priority=0,
           about="C cache, S snapshot, E etcd, ! refused"),
    Column("route", "route", _route, width=14, priority=5,
           about="where the answer comes from"),
    Column("reason", "reason", _reason, width=15, priority=2,
           about="id of the rule that decides"),
    Column("consistency", "consistency", _consistency, width=12, priority=1,
           about="consistency of the answer"),
    Column("limit", "limit", _limit, width=8, priority=3,
           about="whether limit is honoured"),
    Column("wait", "wait", _wait, width=6, priority=1,
           about="how long it may wait for the cache"),
    Column("seats", "seats", _seats, lambda row: row.under.outcome.seats.max, 5, align="right", priority=1,
           descending=True,
           about="seats of API Priority and Fairness, minimum and maximum"),
    Column("changed", "changed by", _causes, width=16, flex=2, priority=0, wish=24,
           about="the gate or release that changed it"),
    Column("why", "why", _why, _rule, width=50, flex=3, priority=8, copied=_rule,
           about="the rule in a sentence"),
)  # fmt: skip


def columns(*, grouped: bool, limits: bool) -> tuple[Column[VersionRow], ...]:
    """Return the columns; `limits` adds that on limit, `grouped` makes room for several versions in a row."""
    chosen = (column for column in _VERSIONS if limits or column.id != "limit")
    return tuple(
        replace(column, width=13) if grouped and column.id == "version" else column for column in chosen
    )
