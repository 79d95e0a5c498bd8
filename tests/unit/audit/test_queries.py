"""Queries of `--sql`: engines that run them rank as the direct run does, the others' are valid."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ktui.audit.build import Wish
from ktui.audit.queries import NAMES, query
from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.cli.auditing.read_logs import read_grouped
from ktui.cli.main import main
from tests.unit.audit.carriers import joined, plain_log

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Also a duplicate, and a WATCH with both of its stages."""
    path = tmp_path / "audit.json"
    lines = plain_log(400)
    path.write_bytes(joined([*lines, *lines[-50:]]))
    return path


def report_of(path: Path, *, grouped: bool = False) -> Report:
    tally = Tally(NOW)
    with open_logs([str(path)]) as logs:
        (read_grouped if grouped else read_logs)(logs, tally, lambda name, taken: None)
    return Wish("1.30").report(tally, 1000)


def alike(direct: Report, grouped: Report) -> None:
    assert [(g.client, g.user, g.verb, g.resource, g.count, g.errors, g.route) for g in grouped.groups] == [
        (g.client, g.user, g.verb, g.resource, g.count, g.errors, g.route) for g in direct.groups
    ]
    for one, other in zip(grouped.groups, direct.groups, strict=True):
        assert one.latency == other.latency
    assert grouped.versions == direct.versions
    assert grouped.requests == direct.requests
    assert grouped.span == direct.span


@pytest.mark.parametrize("form", ["json", "csv"])
def test_duckdb_counts_as_the_direct_run(form: str, log: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    out = tmp_path / f"result.{form}"
    duckdb.connect().execute(f"COPY ({query('duckdb', str(log))}) TO '{out}'")
    alike(report_of(log), report_of(out, grouped=True))


def test_clickhouse_counts_as_the_direct_run(log: Path, tmp_path: Path) -> None:
    chdb = pytest.importorskip("chdb")
    out = tmp_path / "result.json"
    out.write_bytes(chdb.query(query("clickhouse", str(log)), "JSONEachRow").bytes())
    alike(report_of(log), report_of(out, grouped=True))


@pytest.mark.parametrize(
    ("dialect", "known"),
    [("duckdb", "duckdb"), ("clickhouse", "clickhouse"), ("athena", "athena"), ("bigquery", "bigquery")],
)
def test_sql_is_valid_in_its_dialect(dialect: str, known: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    tree = sqlglot.parse_one(query(dialect, "logs.audit"), dialect=known)
    names = {column.alias_or_name for column in tree.expressions}
    assert {"user_agent", "username", "verb", "example", "code", "started", "bucket", "requests"} <= names


def test_kql_has_balanced_brackets_and_the_columns() -> None:
    text = query("kql", "AKSAudit")
    assert text.startswith("AKSAudit\n| where")
    assert all(text.count(a) == text.count(b) for a, b in ("()", "[]"))
    for name in ("user_agent", "username", "example", "started", "bucket", "requests", "total_us", "last_us"):
        assert name in text


def test_rows_of_bigquery_have_a_set_of_routes(tmp_path: Path) -> None:
    row = {
        "user_agent": "a/1", "username": "x@example.com", "verb": "list", "example": "/api/v1/pods",
        "code": 0, "started": 0, "bucket": -2, "requests": "7", "total_us": 0, "max_us": 0,
        "first_us": 1_787_000_000_000_000, "last_us": 1_787_000_009_000_000,
    }  # fmt: skip
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row]))
    (group,) = report_of(path, grouped=True).groups
    assert (group.count, group.route, group.latency) == (7, "cache or etcd", None)


def test_rows_that_are_none_are_malformed(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(log.read_bytes()[:3000] + b'\n{"verb":"list","example":"/api/v1/pods","requests":-1}')
    report = report_of(path, grouped=True)
    assert report.lines.malformed == report.lines.total > 1
    assert "not a row of a query" in report.malformed[0].why


def test_the_command_prints_queries(capsys: pytest.CaptureFixture[str]) -> None:
    for dialect in NAMES:
        assert main(["audit", "--sql", dialect, "it's"]) == 0
        assert "it" in capsys.readouterr().out
