"""Parquet files, and files in buckets (S3, GCS, Azure), read through DuckDB: the extra `ktui[lake]`.

DuckDB reads only the columns and row groups that hold reads. Credentials are found as its extensions `httpfs`
and `azure` find them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ktui.audit.reading.streams import BrokenStream

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_URL = re.compile(r"(s3|s3a|gs|gcs|r2|az|azure|abfss)://", re.IGNORECASE)
_AZURE = ("az", "azure", "abfss")
_TEXTS = ("message", "@message", "log", "line", "_raw", "log_s", "value")
_EVENT = (
    "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser",
    "userAgent", "responseStatus", "requestReceivedTimestamp", "stageTimestamp", "annotations",
)  # fmt: skip
_BY_LOWER = {name.lower(): name for name in _EVENT}
_ROWS = 2048
_LONGEST = 16 << 20  # bytes of a line in a bucket


def in_lake(name: str) -> bool:
    """Whether DuckDB reads a file of this name."""
    return _URL.match(name) is not None or name.lower().endswith((".parquet", ".parq"))


class LakeStream:
    """The records of Parquet files, or the lines of files in a bucket, as a stream of bytes."""

    def __init__(self, name: str) -> None:
        self._rows = _lines(name)

    def read1(self, size: int = -1, /) -> bytes:
        return next(self._rows, b"")


def _lines(name: str) -> Iterator[bytes]:
    """Raises BrokenStream with what DuckDB says, or what to install."""
    try:
        import duckdb  # start-up time, and an extra
    except ImportError:
        raise BrokenStream("Parquet and buckets need an extra: pip install 'ktui[lake]'") from None
    try:
        with duckdb.connect() as connection:
            _prepare(connection, name)
            cursor = connection.execute(*_query(connection, name))
            while rows := cursor.fetchmany(_ROWS):
                yield "".join(f"{row[0]}\n" for row in rows if row[0]).encode("utf-8", "replace") or b"\n"
    except duckdb.Error as error:
        raise BrokenStream(f"DuckDB cannot read it: {str(error).partition(chr(10))[0][:300]}") from None


def _prepare(connection: DuckDBPyConnection, name: str) -> None:
    connection.execute("SET memory_limit = '1GB'; SET TimeZone = 'UTC'")
    if url := _URL.match(name):
        extension = "azure" if url[1].lower() in _AZURE else "httpfs"
        connection.execute(f"INSTALL {extension}; LOAD {extension}")
        kind = {"gs": "GCS", "gcs": "GCS", "r2": "R2"}.get(url[1].lower(), "S3")
        secret = "TYPE azure" if extension == "azure" else f"TYPE {kind}"
        connection.execute(f"CREATE SECRET ({secret}, PROVIDER credential_chain)")


def _query(connection: DuckDBPyConnection, name: str) -> tuple[str, list[Any]]:
    if not name.lower().endswith((".parquet", ".parq")):
        return (
            "SELECT line FROM read_csv(?, header = false, delim = '\x01', quote = '', escape = '', "
            f"columns = {{'line': 'VARCHAR'}}, max_line_size = {_LONGEST}, ignore_errors = true, "
            "auto_detect = false)",
            [name],
        )
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [name]).fetchall()
    columns = [row[0] for row in described]
    known = {row[0]: (_BY_LOWER[row[0].lower()], row[1]) for row in described if row[0].lower() in _BY_LOWER}
    if {"auditID", "verb", "requestURI"} <= {event for event, _ in known.values()}:
        return _events(known), [name]
    text = next((column for column in columns if column.lower() in _TEXTS), None)
    if text is None:
        raise BrokenStream(
            "Parquet without the columns of an audit Event (auditID, verb, requestURI, …) or one with its "
            f"JSON ({', '.join(_TEXTS)})"
        )
    return f'SELECT "{text}" FROM read_parquet(?) WHERE "{text}" IS NOT NULL', [name]


def _events(known: dict[str, tuple[str, str]]) -> str:
    """Events from columns (by name: the field, and the type); only reads are fetched."""
    fields = ", ".join(f"'{event}': {_field(column, kind)}" for column, (event, kind) in known.items())
    verb = next(column for column, (event, _) in known.items() if event == "verb")
    wanted = f"\"{verb}\" IN ('get', 'list', 'watch')"
    return f"SELECT CAST(to_json({{{fields}}}) AS VARCHAR) FROM read_parquet(?) WHERE {wanted}"


def _field(column: str, kind: str) -> str:
    """A column as JSON has it: a time in ISO 8601."""
    return (
        f"strftime(\"{column}\", '%Y-%m-%dT%H:%M:%S.%fZ')" if kind.startswith("TIMESTAMP") else f'"{column}"'
    )
