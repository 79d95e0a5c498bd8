"""Logs in buckets and behind URLs: a real S3 server, a real HTTP server with ranges, DuckDB's own EXPLAIN."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ktui.audit.reading import lake
from ktui.cli.main import main
from tests.http_server import TestServer
from tests.unit.audit.carriers import CARRIERS, Lines, joined
from tests.unit.audit.test_carriers import COUNTED, LOG, report_of, written

pytestmark = pytest.mark.slow

EVENTS = 'SELECT auditID, stage, verb, requestURI, userAgent, "user", responseStatus, requestReceivedTimestamp, stageTimestamp'  # noqa: E501


@pytest.fixture(scope="module")
def duckdb() -> Any:
    """DuckDB with its extensions from wheels: they are not downloaded."""
    found = pytest.importorskip("duckdb")
    extensions = pytest.importorskip("duckdb_extensions")
    for name in ("httpfs", "aws", "azure"):
        pytest.importorskip(f"duckdb_extension_{name}")
        extensions.import_extension(name)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """HOST:PORT of an S3 server with an empty bucket `logs`."""
    moto = pytest.importorskip("moto.server")
    found = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    found.start()
    _, port = found.get_host_and_port()
    put(f"127.0.0.1:{port}", "/logs", b"")
    yield f"127.0.0.1:{port}"
    found.stop()


@pytest.fixture
def bucket(server: str, duckdb: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{server}",
    }.items():
        monkeypatch.setenv(name, value)
    return server


def put(address: str, path: str, data: bytes) -> None:
    connection = http.client.HTTPConnection(address)
    connection.request("PUT", path, data, {"Content-Type": "application/octet-stream"})
    assert connection.getresponse().status == 200
    connection.close()


def same(name: str, lines: Lines, tmp_path: Path) -> None:
    """The report of a log elsewhere is that of the log on the disk."""
    report, expected = report_of(name), report_of(written(tmp_path, joined(lines)))
    assert report.files[0].problem == ""
    for each in COUNTED:
        assert getattr(report, each) == getattr(expected, each), each


def parquet(duckdb: Any, plain: Path, more: str = "") -> Path:
    path = plain.with_suffix(".parquet")
    duckdb.connect().execute(
        f"COPY ({EVENTS}{more} FROM read_json('{plain}')) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)"
    )
    return path


@pytest.mark.parametrize(
    ("place", "form"),
    [("s3://logs/a.json", "Firehose"), ("s3://logs/a.log.gz", "gzip"), ("s3://logs/a.log.zst", "zstd"),
     ("gs://logs/b.json", "filter-log-events")],
)  # fmt: skip
def test_files_in_a_bucket(place: str, form: str, bucket: str, tmp_path: Path) -> None:
    put(bucket, place.partition(":/")[2], CARRIERS[form](LOG))
    same(place, LOG, tmp_path)


def test_a_pattern_of_parquet_files_in_a_bucket(bucket: str, duckdb: Any, tmp_path: Path) -> None:
    for number, lines in enumerate((LOG[:200], LOG[200:])):
        path = parquet(duckdb, written(tmp_path, joined(lines), f"{number}.json"))
        put(bucket, f"/logs/lake/day={number}/audit.parquet", path.read_bytes())
    same("s3://logs/lake/*/*.parquet", LOG, tmp_path)


def test_damage_costs_one_record(bucket: str) -> None:
    put(bucket, "/logs/bad.log", b'{"auditID":"\xff\x00"\n' + joined(LOG) + b"NUL \x00\xfe\n")
    report = report_of("s3://logs/bad.log")
    assert (report.lines.audit, report.lines.malformed) == (300, 2)


@pytest.mark.parametrize(
    ("name", "why"),
    [("s3://logs/nothing.log", "404"), ("s3://no-such-bucket/*.gz", "DuckDB cannot read it"),
     ("s3://logs/audit.tar", "copy the file to this machine")],
)  # fmt: skip
def test_what_is_not_there_is_named(name: str, why: str, bucket: str) -> None:
    assert why in report_of(name).files[0].problem


@pytest.mark.parametrize(
    ("place", "size", "more", "why"),
    [
        ("s3://logs/long/a.json", 3 << 19, 0, "s3://logs/long/a.json has a line of more than 1 MiB"),
        ("s3://logs/long-*/*.json", 3 << 19, 9, "s3://logs/long-b/b.json has a line of more than 1 MiB"),
        ("s3://logs/longer.json", 3 << 20, 0, "s3://logs/longer.json has a line of more than 1 MiB"),
        ("s3://logs/longest.json", 3 << 20, 50_000, "s3://logs/longest.json has a line of more than 1 MiB"),
    ],
)
def test_a_line_that_is_too_long_for_duckdb_is_named(
    place: str, size: int, more: int, why: str, bucket: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(lake, "_LONGEST", 1 << 20)
    data = b'{"kind":"Event","x":"%s"}\n' % (b"x" * size) + b'{"kind":"Event"}\n' * more
    put(bucket, place.removeprefix("s3:/").replace("*", "b"), data)
    assert main(["audit", place]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert why in said
    assert "copy the file to this machine" in said


def test_an_empty_file_in_a_bucket_is_empty(bucket: str) -> None:
    put(bucket, "/logs/empty.json", b"")
    assert report_of("s3://logs/empty.json").files[0].problem == "it is empty"


def test_azure_takes_a_connection_string(duckdb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "AccountName=a;AccountKey=aw==;BlobEndpoint=http://127.0.0.1:9/a"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", text)
    with duckdb.connect() as connection:
        lake._prepare(connection, "az://logs/a.json")
        assert connection.execute("SELECT type FROM duckdb_secrets()").fetchall() == [("azure",)]


def test_a_secret_of_the_user_is_taken(bucket: str, duckdb: Any) -> None:
    with duckdb.connect() as connection:
        connection.execute("LOAD httpfs; CREATE SECRET mine (TYPE s3, KEY_ID 'a', SECRET 'b')")
        lake._prepare(connection, "s3://logs/a.json")
        assert connection.execute("SELECT name FROM duckdb_secrets()").fetchall() == [("mine",)]


class Ranges(BaseHTTPRequestHandler):
    """One file, whole or in ranges; counts what it sends."""

    protocol_version = "HTTP/1.1"
    content: ClassVar[bytes]
    sent: ClassVar[list[int]]

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()

    def do_GET(self) -> None:
        first, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")
        part = self.content[int(first) : int(last) + 1 if last else None]
        self.sent.append(len(part))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(self.content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


def test_only_columns_of_reads_are_fetched_over_the_network(duckdb: Any, tmp_path: Path) -> None:
    path = parquet(duckdb, written(tmp_path, joined(LOG)), ", repeat(md5(auditID), 200) AS responseObject")
    handler = type("Handler", (Ranges,), {"content": path.read_bytes(), "sent": (sent := [])})
    with TestServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        same(f"http://127.0.0.1:{server.server_port}/audit.parquet", LOG, tmp_path)
        server.shutdown()
    assert sum(sent) < path.stat().st_size / 3


def test_the_filter_is_pushed_down_into_the_scan(duckdb: Any, tmp_path: Path) -> None:
    path = parquet(duckdb, written(tmp_path, joined(LOG)))
    with duckdb.connect() as connection:
        query, values = lake._query(connection, str(path))
        ((_, plan),) = connection.execute(f"EXPLAIN {query}", values).fetchall()
    assert "verb IN ('get'," in plan[plan.index("READ_PARQUET") :].partition("Filters:")[2]
