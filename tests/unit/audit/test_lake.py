"""Parquet through DuckDB gives the report of the plain log."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ktui.audit.reading.lake import from_wheel
from tests.unit.audit.carriers import joined, plain_log
from tests.unit.audit.test_carriers import COUNTED, report_of, written

EVENTS = "SELECT auditID, stage, verb, requestURI, userAgent, \"user\", responseStatus, requestReceivedTimestamp, stageTimestamp FROM read_json('{}')"  # noqa: E501
TEXTS = "SELECT line AS message FROM read_csv('{}', header=false, delim='\x01', quote='', columns={{'line': 'VARCHAR'}})"  # noqa: E501


@pytest.mark.parametrize("query", [EVENTS, EVENTS.replace("auditID", "auditID AS auditid"), TEXTS])
def test_parquet_gives_the_report_of_the_plain_log(query: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    plain = written(tmp_path, joined(plain_log()))
    parquet = tmp_path / "audit.parquet"
    duckdb.connect().execute(f"COPY ({query.format(plain)}) TO '{parquet}' (FORMAT parquet)")
    expected, report = report_of(plain), report_of(parquet)
    for name in COUNTED:
        assert getattr(report, name) == getattr(expected, name), name


@pytest.mark.parametrize(
    ("data", "why"), [(b"PAR1 and no more", "DuckDB cannot read it"), (b"", "DuckDB cannot read it")]
)
def test_what_is_no_parquet_is_named(data: bytes, why: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    assert why in report_of(written(tmp_path, data, "a.parquet")).files[0].problem


def test_other_columns_are_named(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    parquet = tmp_path / "a.parquet"
    duckdb.connect().execute(f"COPY (SELECT 1 AS a) TO '{parquet}' (FORMAT parquet)")
    assert "without the columns of an audit Event" in report_of(parquet).files[0].problem


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "[lake]'" in report_of(written(tmp_path, b"PAR1", "a.parquet")).files[0].problem


def test_extensions_are_loaded_from_their_wheels_without_a_network(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("duckdb_extension_httpfs")
    config = {"extension_directory": str(tmp_path), "autoinstall_known_extensions": "false"}
    with duckdb.connect(config=config) as connection:
        connection.execute("SET custom_extension_repository = 'http://127.0.0.1:9'")
        assert from_wheel(connection, "httpfs") and not from_wheel(connection, "nosuch")
        loaded = connection.execute("SELECT extension_name FROM duckdb_extensions() WHERE loaded").fetchall()
        assert ("httpfs",) in loaded
