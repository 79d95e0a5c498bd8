"""The groups of an audit report as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io

from ktui.audit import phrases
from ktui.audit.report import GroupReport, Latency, Report
from ktui.printable import escaped

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
HEADER = (
    "rank", "client", "user", "verb", "resource", "subresource", "scope", "parameters", "count", "per_second",
    "p50_ms", "p95_ms", "p99_ms", "max_ms", "total_ms", "errors", "seats_mean", "route", "reason_id", "later",
    "etcd_bytes", "processed_bytes", "slow", "observed_cache", "observed_etcd", "agree", "differ", "cause",
    "cheaper", "example",
)  # fmt: skip


def csv_table(report: Report) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([_cell(value) for value in _row(group)] for group in report.groups)
    return out.getvalue()


def _row(g: GroupReport) -> list[object]:
    took = g.init_latency if g.verb == "watch" else g.latency
    seen = g.observed
    return [
        g.rank, g.client, g.user, g.verb, g.resource, g.subresource, g.scope, phrases.how(g), g.count,
        g.per_second, *_milliseconds(took), phrases.errors(g), g.seats.mean if g.seats else None, g.route,
        g.reason_id, phrases.later(g), *((g.estimated.etcd_bytes, g.estimated.processed_bytes) if g.estimated
        else (None, None)),
        *((seen.slow, seen.cache, seen.etcd, seen.agree, seen.differ, seen.cause) if seen else (None,) * 6),
        g.cheaper[0].path if g.cheaper else None, g.example,
    ]  # fmt: skip


def _milliseconds(took: Latency | None) -> tuple[float | None, ...]:
    return (took.p50, took.p95, took.p99, took.max, took.total) if took is not None else (None,) * 5


def _cell(value: object) -> object:
    """Return a value for CSV; text from logs is neither a formula nor has control characters."""
    if isinstance(value, float):
        return round(value, 3)
    if not isinstance(value, str):
        return value
    text = escaped(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
