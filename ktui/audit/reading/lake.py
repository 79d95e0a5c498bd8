"""Read Parquet files, and files in buckets (S3, GCS, Azure), with DuckDB (the extra `lake`).

DuckDB reads only the columns and row groups that have reads. Credentials: a secret that the user has stored
in DuckDB for this URL, else those that `credential_chain` finds. Environment variables of the providers'
tools name other endpoints (MinIO, Ceph) and accounts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ktui import install_command
from ktui.audit.reading.streams import BrokenStream

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_URL = re.compile(r"(s3|s3a|gs|gcs|r2|az|azure|abfss|https?)://", re.IGNORECASE)
_KINDS = {"gs": "gcs", "gcs": "gcs", "r2": "r2", "az": "azure", "azure": "azure", "abfss": "azure"}
_PACKED = re.compile(r"\.(bz2|xz|tar|tgz|zip|7z|lz4)$", re.IGNORECASE)
_TEXTS = ("message", "@message", "log", "line", "_raw", "log_s", "value")
_EVENT = (
    "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser",
    "userAgent", "responseStatus", "requestReceivedTimestamp", "stageTimestamp", "annotations",
)  # fmt: skip
_BY_LOWER = {name.lower(): name for name in _EVENT}
_FILE = re.compile(r"^ *file = (.{1,1000})$", re.MULTILINE)
_COPY = "too long for DuckDB: copy the file to this machine, where a line may be of any length"
_ROWS = 2048
_LONGEST = 128 << 20  # bytes of a line in a bucket: Firehose writes files of this size without any newline


def in_lake(name: str) -> bool:
    """True if DuckDB reads a file of this name."""
    return _URL.match(name) is not None or _is_parquet(name)


def lake_lines(name: str) -> Iterator[bytes]:
    """Yield the records of Parquet files as JSON, or the lines of files in a bucket, many at a time.

    Raises BrokenStream with DuckDB's error, or with what to install.
    """
    try:
        import duckdb  # start-up time, and an extra
    except ImportError:
        raise BrokenStream(f"Parquet and buckets need an extra: {install_command('lake')}") from None
    try:
        with duckdb.connect() as connection:
            _prepare(connection, name)
            cursor = connection.execute(*_query(connection, name))
            encoding = "utf-8" if _is_parquet(name) else "latin-1"
            while rows := cursor.fetchmany(_ROWS):
                yield "".join(f"{row[0]}\n" for row in rows if row[0]).encode(encoding, "replace") or b"\n"
    except duckdb.Error as error:
        why = f"DuckDB cannot read it: {str(error).partition(chr(10))[0][:300]}"
        if "Maximum line size" in str(error):
            found = _FILE.search(str(error))  # of a pattern
            why = f"{found[1] if found else name} has a line of more than {_LONGEST >> 20} MiB, {_COPY}"
        raise BrokenStream(why) from None


def _is_parquet(name: str) -> bool:
    return name.lower().partition("?")[0].endswith((".parquet", ".parq"))


def _prepare(connection: DuckDBPyConnection, name: str) -> None:
    connection.execute("SET memory_limit = '1GB'; SET TimeZone = 'UTC'")
    url = _URL.match(name)
    if url is None:
        return
    if packed := _PACKED.search(name):
        raise BrokenStream(
            f"{packed[0]} is not unpacked over the network: copy the file to this machine first"
        )
    kind = _KINDS.get(url[1].lower(), "s3")
    extension = "azure" if kind == "azure" else "httpfs"
    if not from_wheel(connection, extension):
        connection.execute(f"INSTALL {extension}; LOAD {extension}")
    if url[1].lower().startswith("http"):
        return
    if kind != "azure":
        from_wheel(connection, "aws")  # for the chain of credentials; without a wheel DuckDB loads its own
    if not connection.execute("SELECT name FROM which_secret(?, ?)", [name, kind]).fetchone():
        options = ", ".join(
            f"{option} '{value.replace(chr(39), chr(39) * 2)}'" for option, value in _secret_options(kind)
        )
        connection.execute(f"CREATE SECRET (TYPE {kind}, {options})")


def from_wheel(connection: DuckDBPyConnection, extension: str) -> bool:
    """Load an extension from its wheel (`duckdb-extension-httpfs` …) without a network; False without it."""
    try:
        import_extension = import_module("duckdb_extensions").import_extension
        import_extension(extension, con=connection)
        connection.execute(f"LOAD {extension}")
    except Exception:  # not installed, of another version, …: DuckDB downloads its own
        return False
    return True


def _secret_options(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a DuckDB secret, from the environment."""
    if kind == "azure":
        if text := os.environ.get("AZURE_STORAGE_CONNECTION_STRING"):
            yield "CONNECTION_STRING", text
            return
        if account := os.environ.get("AZURE_STORAGE_ACCOUNT"):
            yield "ACCOUNT_NAME", account
    yield "PROVIDER", "credential_chain"
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and kind != "azure":
        scheme, _, host = endpoint.rpartition("://")
        yield "ENDPOINT", host.rstrip("/")
        yield "URL_STYLE", "path"
        yield "USE_SSL", "false" if scheme == "http" else "true"


def _query(connection: DuckDBPyConnection, name: str) -> tuple[str, list[Any]]:
    if not _is_parquet(name):
        # Latin-1 keeps each byte: invalid UTF-8 is one malformed record, not the end of the file. With
        # parallel reading, a line of twice the buffer and the lines after it would be skipped silently.
        return (
            "SELECT line FROM read_csv(?, header = false, delim = '\x01', quote = '', escape = '', "
            f"columns = {{'line': 'VARCHAR'}}, max_line_size = {_LONGEST}, buffer_size = {_LONGEST}, "
            "encoding = 'latin-1', strict_mode = false, auto_detect = false, parallel = false)",
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
    """Return the query for reads in Event columns. `known`: field and type by column."""
    plain, iso = '"{}"', "strftime(\"{}\", '%Y-%m-%dT%H:%M:%S.%fZ')"
    fields = ", ".join(
        f"'{event}': {(iso if kind.startswith('TIMESTAMP') else plain).format(column)}"
        for column, (event, kind) in known.items()
    )
    verb = next(column for column, (event, _) in known.items() if event == "verb")
    wanted = f"\"{verb}\" IN ('get', 'list', 'watch')"
    return f"SELECT CAST(to_json({{{fields}}}) AS VARCHAR) FROM read_parquet(?) WHERE {wanted}"
