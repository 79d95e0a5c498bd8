"""Read the log files of `ktui audit` with a progress bar."""

from __future__ import annotations

import argparse
import asyncio
import io
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from rich import progress
from rich.markup import escape

from ktui.audit.formats.log_record import Malformed
from ktui.audit.group import AuditGroupKey, client_of
from ktui.audit.periods import LogPeriod
from ktui.audit.predictions import API_SERVICES, CRDS, AggregatedGroups, groups_of
from ktui.audit.reading.files import Log, Progressed, Stopped, read_logs, total_size
from ktui.audit.reading.record_framing import records
from ktui.audit.reading.streams import BrokenStream, BufferedStream, LongLine, UnpackLimit, leaves
from ktui.audit.request_list import RequestList
from ktui.audit.tally import Tally
from ktui.audit.workers import read_all, read_on_dask
from ktui.cli.printing import Printer
from ktui.cli.targets import attached_connection
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.collector import without_collector
from ktui.core.prediction.sizes import ResourceSize, SizesError, parse_sizes, sizes_in_etcd
from ktui.core.ranking.shape import shape_of_uri
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.documents.limits import DocumentError, read_bytes
from ktui.printable import escaped

T = TypeVar("T")
UNTIMED = -2
"""The bucket of requests whose duration and query string were not logged."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class GroupedRow(msgspec.Struct):
    """Requests of one client, shape, status and latency bucket; times in microseconds."""

    verb: str
    example: str
    requests: _Count
    bucket: Annotated[int, msgspec.Meta(ge=UNTIMED, le=1024)]
    total_us: Annotated[float, msgspec.Meta(ge=0, le=1e18)]
    max_us: _Count
    first_us: Annotated[int, msgspec.Meta(ge=0, le=1 << 57)]
    last_us: Annotated[int, msgspec.Meta(ge=0, le=1 << 57)]
    user_agent: str = ""
    username: str = ""
    code: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    started: int = 0


_decode = msgspec.json.Decoder(GroupedRow, strict=False).decode


def read_grouped(logs: list[Log], tally: Tally, report: Progressed) -> None:
    """Count requests that a database has counted: results of a `ktui audit --sql` query, as JSON or CSV."""
    taken = 0
    for log in logs:
        file = tally.open_file(log.name, log.argument)
        with log.open() as raw:
            source = BufferedStream(io.BufferedReader(raw))
            try:
                for leaf in leaves(log.name, source, UnpackLimit(raw.tell)):
                    for block in records(leaf.source):
                        for line in [block.head] if isinstance(block, LongLine) else block:
                            file.lines += 1
                            _count_line(line, tally)
                        report(log.name, taken + log.size)
            except BrokenStream as broken:
                file.problem = str(broken)
        taken += log.size


def _count_line(line: bytes, tally: Tally) -> None:
    file = tally.files[-1]
    if not line.strip():
        return
    try:
        add_row(_decode(line), tally)
        file.read += 1
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        tally.bad(file, file.lines, Malformed(f"not a row of a query of --sql: {error}"), line)


def add_row(row: GroupedRow, tally: Tally) -> None:
    """Count a row's requests. Raises ValueError for a verb that does not read."""
    if row.verb not in ("get", "list", "watch"):
        raise ValueError(f"the verb {row.verb[:20]!r}")
    tally.formats["audit"] += row.requests
    period = LogPeriod.of((row.first_us, row.last_us))
    period.back = 0
    if span := tally.spans.get("audit"):
        span.extend(period, same_file=False)
    else:
        tally.spans["audit"] = period
    shape = shape_of_uri(row.example)
    if shape is None:
        tally.unrouted += 0 if row.started else row.requests
        return
    key = AuditGroupKey(client_of(row.user_agent, row.username), shape, row.bucket != UNTIMED)
    group = tally.groups.get(key) or tally.add_group(key, row.example)
    if row.started:
        group.started += row.requests
        return
    group.done += row.requests
    if row.code >= 400:
        group.codes[row.code] = group.codes.get(row.code, 0) + row.requests
    if row.bucket != UNTIMED:
        took = LatencyHistogram({row.bucket: row.requests}, round(row.total_us), row.max_us, row.requests)
        group.took.merge(took)


def list_with_bar(logs: list[Log], requests: RequestList) -> bool:
    """Read every record of the logs in turn; False after Ctrl-C."""
    with _bar(logs) as report:
        try:
            read_logs(logs, requests, report)
        except Stopped:
            return False
    return True


def read_with_bar(logs: list[Log], tally: Tally, *, grouped: bool = False, dask: str = "") -> None:
    """Count every record of the logs (`grouped`: every row of a query's result) in `tally`.

    A stream that breaks off is noted as the problem of its file. Ctrl-C ends only the reading, between
    two blocks of records; a second Ctrl-C ends the program.
    """
    with _bar(logs) as report, without_collector():
        try:
            read = read_grouped if grouped else partial(read_on_dask, dask) if dask else read_all
            read(logs, tally, report)
        except Stopped:
            tally.stopped = True


@contextmanager
def _bar(logs: list[Log]) -> Iterator[Progressed]:
    """Show a bar on a terminal. Yield what a reader reports to, which raises Stopped after Ctrl-C."""
    console = Printer(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"), progress.BarColumn(), progress.DownloadColumn(),
        progress.TransferSpeedColumn(), progress.TimeRemainingColumn(),
    )  # fmt: skip
    shown = progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with shown as bar, _until_ctrl_c() as pressed:
        task = bar.add_task("reading", total=total_size(logs) or None)

        def report(name: str, taken: int) -> None:
            if pressed:
                raise Stopped
            bar.update(task, description=escape(escaped(name)[-40:]), completed=taken)

        yield report


@contextmanager
def _until_ctrl_c() -> Iterator[list[int]]:
    """Yield a list that is not empty after Ctrl-C. A KeyboardInterrupt could interrupt counting a request."""
    pressed: list[int] = []

    def press(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(number, before)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


MOST_BYTES = 16 << 20


def find_sizes(args: argparse.Namespace) -> tuple[dict[str, ResourceSize], str]:
    """Return sizes by resource id, and their source as text; both are empty without a source.

    Raises SizesError or OSError for the file, ClientError for the server of `--attach`.
    """
    if args.sizes:
        try:
            return parse_sizes(read_bytes(Path(args.sizes), MOST_BYTES)), args.sizes
        except (DocumentError, SizesError) as error:
            why = f"cannot be used: {error}" if isinstance(error, DocumentError) else error
            raise SizesError(f"{args.sizes} {why}") from None
    # Another server that runs on this machine need not have the log's objects.
    connection = attached_connection(args) if args.attach else None
    if connection is None:
        return {}, ""
    sizes = asyncio.run(_ask(connection, lambda client: sizes_in_etcd(KtuiApi(client).prefixes)))
    return sizes, f"the ktui server at {connection.url}"


def find_aggregated(args: argparse.Namespace) -> AggregatedGroups:
    """Return other servers' API groups, by `--aggregated` and objects of `--attach`. Raises ClientError."""
    connection = attached_connection(args) if args.attach else None
    if connection is None:
        return groups_of(args.aggregated)

    async def lists(client: ApiClient) -> list[bytes]:
        answers = [await client.request("GET", path) for path in (CRDS, API_SERVICES)]
        return [answer.content if answer.status_code == 200 else b"" for answer in answers]

    return groups_of(args.aggregated, *asyncio.run(_ask(connection, lists)))


async def _ask(connection: ServerConnection, question: Callable[[ApiClient], Coroutine[Any, Any, T]]) -> T:
    client = ApiClient(connection)
    try:
        return await question(client)
    finally:
        await client.close()
