"""Other outputs of `ktui audit`: a LoadProfile, partial counts, single requests, two reports compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import msgspec
import yaml
from rich import box
from rich.table import Table
from rich.text import Text

from ktui.audit import partial_tally
from ktui.audit.comparison import REPORT_BYTES, Change, ReportError, Side, Totals, compare, parse_report
from ktui.audit.partial_tally import PartialError
from ktui.audit.report import GroupReport, Report
from ktui.audit.request_list import MOST, ListedRequest, RequestList
from ktui.audit.tally import Tally
from ktui.cli.output import OK, emit, emit_json, emit_json_text, warn
from ktui.cli.printing import Printer
from ktui.core.format import frequency, integer, long_bytes, long_milliseconds, percent
from ktui.documents.limits import DocumentError, read_bytes
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.printable import escaped

CONNECTIONS = 10


def load_profile(report: Report) -> tuple[dict[str, Any], int]:
    """Return the document, and the number of requests left out because kperf cannot express them: shares are
    the requests counted in the log, the rate is that of all of them."""
    requests, left_out, counted = [], 0, 0
    for group in report.groups:
        form = _form(group)
        if form is None:
            left_out += group.count
        else:
            requests.append({"shares": group.count, **form})
            counted += group.count
    seconds = report.span.seconds if report.span else 0.0
    spec: dict[str, Any] = {
        "rate": round(counted / seconds, 3) if seconds else 1.0,
        "duration": max(1, ceil(min(seconds, 3600))), "conns": CONNECTIONS,
        "client": max(1, len({(group.client, group.user) for group in report.groups})),
        "contentType": "json", "disableHTTP2": False, "maxRetries": 0, "requests": requests,
    }  # fmt: skip
    first = report.span.first if report.span else "an unknown time"
    return {"version": 1, "description": f"observed by ktui audit from {first}", "specs": [spec]}, left_out


def _form(group: GroupReport) -> dict[str, Any] | None:
    """Return the request in kperf's format; None for a WATCH, a later page or a revision."""
    try:
        request = parse_request(group.example)
    except RequestError:
        return None
    if group.subresource or group.continued or len(group.possible_routes) > 1 or group.route == "none":
        return None
    if group.verb == "watch":
        return {"watchList": _target(request)} if group.initial_events else None
    if group.resource_version not in ("unset", "0"):
        return None
    stale = group.resource_version == "0"
    if group.verb == "get":
        name = {**_target(request), "name": request.info.name}
        return {"staleGet" if stale else "quorumGet": name}
    selectors = {"seletor": request.options.label_selector, "fieldSelector": request.options.field_selector}
    target = {**_target(request), **{name: text for name, text in selectors.items() if text}}
    if stale:  # the cache ignores a limit with resourceVersion=0, and kperf refuses it
        return {"staleList": target}
    return {"quorumList": {**target, **({"limit": group.limit} if group.limit else {})}}


def _target(request: ReadRequest) -> dict[str, Any]:
    info = request.info
    named = {"group": info.group, "version": info.version, "resource": info.resource}
    return {**named, **({"namespace": info.namespace} if info.namespace else {})}


def print_load(report: Report) -> None:
    """Print the LoadProfile on standard output, and the number of omitted requests on standard error."""
    document, left_out = load_profile(report)
    emit(yaml.safe_dump(document, sort_keys=False, allow_unicode=False).removesuffix("\n"))
    if left_out:
        others = "WATCHes, later pages, LISTs at a revision, and requests whose query string was not logged"
        warn(f"{integer(left_out)} requests are left out, for which a LoadProfile has no form: {others}")


MOST_BYTES = 1 << 30


def write(tally: Tally, name: str) -> None:
    """Write the counts of `tally` to a file. Raises PartialError."""
    try:
        Path(name).write_bytes(partial_tally.written(tally))
    except OSError as error:
        raise PartialError(f"cannot write {name}: {error.strerror}") from None
    warn(f"{name}: {integer(tally.lines)} lines counted; `ktui audit merge {name} …` makes a report of it")
    for file in tally.files:
        if file.why_nothing:
            warn(f"{file.name}: {file.why_nothing}")


def merge(tally: Tally, names: list[str]) -> None:
    """Add the counts of the files to `tally`, in the given order. Raises PartialError, OSError."""
    if not names:
        raise PartialError("name files that `ktui audit --partial` wrote")
    for name in names:
        try:
            partial_tally.add(tally, partial_tally.read(read_bytes(Path(name), MOST_BYTES)))
        except (PartialError, DocumentError) as error:
            raise PartialError(f"{name}: {error}") from None


def emit_request(listed: ListedRequest) -> None:
    emit_json_text(msgspec.json.encode(listed).decode())


def problems(requests: RequestList) -> None:
    """Say on standard error what could not be read, and what could not be joined."""
    for file in requests.files:
        if why := file.problem or file.why_nothing:
            warn(f"{file.name}: {why}")
        elif file.malformed:
            warn(f"{file.name}: {integer(file.malformed)} records could not be read")
    if requests.overflowed:
        warn(f"more than {integer(MOST)} requests: those far apart in the logs are not joined")


_STYLES = {"gone": "green", "fewer": "green", "new": "yellow", "more": "yellow", "moved": "cyan"}
_SHOWN = 20


def diff(names: list[str], *, as_json: bool) -> int:
    """Print the comparison. Raises ReportError, OSError."""
    if len(names) != 2:
        raise ReportError("diff takes two reports of `ktui audit --json`: BEFORE AFTER")
    comparison = compare(*map(_report, names))
    if as_json:
        emit_json(msgspec.to_builtins(comparison), indent=2)
        return OK
    console = Printer(highlight=False)
    for label, totals in (("before", comparison.before), ("after", comparison.after)):
        console.print(Text(f"{label:<7} {_totals(totals)}", "bold"))
    changed = [change for change in comparison.changes if change.kind != "same"]
    same = len(comparison.changes) - len(changed)
    for title, rows in (
        ("less time of the apiserver", [change for change in changed if change.busy < 0]),
        ("more time of the apiserver", [change for change in reversed(changed) if change.busy >= 0]),
    ):
        if rows:
            console.print()
            console.print(Text(title, "bold"))
            console.print(_table(rows[:_SHOWN]))
        if len(rows) > _SHOWN:
            console.print(Text(f"  and {len(rows) - _SHOWN} more: --json", "dim"))
    console.print()
    console.print(Text(f"{same} groups of requests as before (rates within 10%)", "dim"))
    return OK


def _report(name: str) -> Report:
    try:
        return parse_report(read_bytes(Path(name), REPORT_BYTES))
    except (ReportError, DocumentError) as error:
        raise ReportError(f"{name} {error}") from None


def _totals(totals: Totals) -> str:
    parts = [f"rules of {totals.kube_version}"]
    if totals.lists_per_second is not None:
        parts.append(f"{frequency(totals.lists_per_second)} LISTs")
    if totals.etcd_share is not None:
        parts.append(f"{percent(totals.etcd_share)} of them from etcd")
    parts.append(f"{long_milliseconds(totals.busy)} of apiserver time a second")
    return ", ".join(parts)


def _table(changes: Sequence[Change]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title in ("", "client", "request", "rate", "p99", "bytes/s", "route"):
        table.add_column(title, overflow="fold")
    for change in changes:
        kind, who = Text(change.kind, _STYLES.get(change.kind, "")), f"{change.client} {change.user}".strip()
        moved = []
        for text in _COLUMNS:
            before, after = (text(side) if side else "–" for side in (change.before, change.after))
            moved.append(before if before == after else f"{before} → {after}")  # `3.0/min → 1.0/min`
        table.add_row(kind, *map(Text, (escaped(who), escaped(change.request), *moved)))
    return table


_COLUMNS: tuple[Callable[[Side], str], ...] = (
    lambda side: frequency(side.per_second),
    lambda side: long_milliseconds(side.p99),
    lambda side: "" if side.bytes_per_second is None else long_bytes(side.bytes_per_second),
    lambda side: side.route,
)
