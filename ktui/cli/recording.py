"""`ktui recording`: inspect a recording, cut a part out of it, make a copy to share."""

from __future__ import annotations

import argparse
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ktui.cli.output import OK, emit, emit_json_text, warn
from ktui.contract.events import AnyEvent, Marker, ServerInfo
from ktui.contract.recording import RecordingError
from ktui.core.format import elapsed, integer, long_bytes, safe
from ktui.core.recordings.markers import MarkerFile, MarkerFinder, Timeline
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.recorder import write_recording
from ktui.core.reducer import state_events
from ktui.core.replay.index import Index
from ktui.core.replay.player import spot
from ktui.core.sharing.share import Sharer


def run(args: argparse.Namespace) -> int:
    if args.doing == "info":
        summary = summarise(Path(args.file))
        if args.json:
            emit_json_text(msgspec.json.format(msgspec.json.encode(summary)).decode())
        else:
            emit(as_text(summary))
        return OK
    if args.doing == "cut":
        return _cut(Path(args.source), Path(args.target), args.begin, args.end)
    return _share(Path(args.source), Path(args.target), hashing=args.names == "hash")


def _cut(source: Path, target: Path, begin: str, end: str) -> int:
    index = Index(source)
    try:
        size = write_recording(target, cut(index, begin, end))
    finally:
        index.close()
    return _done(source, target, size, index.warning)


def _share(source: Path, target: Path, *, hashing: bool) -> int:
    sharer = Sharer(secrets.token_bytes(32), hashing=hashing)
    with RecordingReader(source) as reader:
        size = write_recording(target, sharer.share(line.event for line in reader.lines() if line.event))
        return _done(source, target, size, reader.warning)


def _done(source: Path, target: Path, size: int, warning: str) -> int:
    if warning:
        warn(f"{source}: {warning}")
    emit(f"{long_bytes(size)} written to {target}")
    return OK


def cut(index: Index, begin: str, end: str) -> Iterator[AnyEvent]:
    """Return the events and markers between two times as users write them; "" is begin or end."""
    first = spot(begin, index.began, index.ended) if begin else index.began
    last = spot(end, index.began, index.ended) if end else index.ended
    if last < first:
        raise RecordingError(f"--to {end} lies before --from {begin or '0'}")
    return _between(index, first, last, whole=not begin)


def _between(index: Index, first: float, last: float, *, whole: bool) -> Iterator[AnyEvent]:
    number = 0
    if not whole:
        place = index.place_at(first)
        number = place.number
        yield from state_events(place.state, first)
    marks = [mark for mark in MarkerFile(index.reader.path).markers if first <= mark.at <= last]
    marks.sort(key=lambda mark: mark.at, reverse=True)
    for step in index.steps(number):
        if step.at > last:
            break
        while marks and marks[-1].at <= step.at:
            mark = marks.pop()
            yield Marker(at=mark.at, text=mark.text)
        yield step.event
    for mark in reversed(marks):
        yield Marker(at=mark.at, text=mark.text)


class Mark(msgspec.Struct, frozen=True):
    """A marked moment: `at` in seconds after the beginning, `own` if a user set it."""

    at: float
    text: str
    own: bool


class Summary(msgspec.Struct, frozen=True):
    """A summary of a recording; times are Unix seconds, sizes bytes."""

    file: str
    bytes: int
    unpacked_bytes: int
    began: float
    ended: float
    events: int
    by_type: dict[str, int]  # most first
    skipped: int  # lines of types that this version does not know
    servers: list[ServerInfo]  # the first event of each server, and each change of its rules
    marks: list[Mark]
    warning: str


def summarise(path: Path) -> Summary:
    """Read a recording in full and return its summary. Raises RecordingError."""
    timeline, markers = Timeline(), MarkerFinder()
    types: Counter[str] = Counter()
    servers: list[ServerInfo] = []
    skipped = 0
    with RecordingReader(path) as reader:
        marks = list(MarkerFile(path).markers)
        for line in reader.lines():
            event = line.event
            if event is None:
                skipped += line.end - line.start > 1
                continue
            at = timeline.advance(event)
            types[str(type(event).__struct_config__.tag)] += 1
            if (marker := markers.marker_for(event, at)) is not None:
                marks.append(marker)
            if isinstance(event, ServerInfo) and (not servers or _rules(servers[-1]) != _rules(event)):
                servers.append(event)
        if not types:
            raise RecordingError(f"{path} has no telemetry events")
        return Summary(
            file=str(path), bytes=reader.stored, unpacked_bytes=reader.size, began=timeline.began,
            ended=timeline.now, events=types.total(), by_type=dict(types.most_common()), skipped=skipped,
            servers=servers,
            marks=[Mark(item.at - timeline.began, item.text, item.own)
                   for item in sorted(marks, key=lambda item: item.at)],
            warning=reader.warning,
        )  # fmt: skip


def _rules(server: ServerInfo) -> tuple[object, ...]:
    return server.pid, server.kube_version, server.feature_gates


def as_text(summary: Summary) -> str:
    sizes = long_bytes(summary.bytes)
    if summary.bytes != summary.unpacked_bytes:
        sizes += f", {long_bytes(summary.unpacked_bytes)} unpacked"
    lines = [
        f"file      {summary.file}  {sizes}",
        f"from      {_clock(summary.began)}",
        f"to        {_clock(summary.ended)}  {elapsed(summary.ended - summary.began)}",
    ]
    lines += [f"server    {_server(item)}" for item in summary.servers]
    lines.append(f"events    {integer(summary.events)}")
    lines += [f"  {kind:<18}{integer(count):>12}" for kind, count in summary.by_type.items()]
    if summary.skipped:
        lines.append(f"  {'of a newer ktui':<18}{integer(summary.skipped):>12}  skipped")
    if summary.marks:
        lines.append("markers")
        lines += [
            f"  {elapsed(mark.at):>8}  {'◆' if mark.own else '▲'} {mark.text}" for mark in summary.marks
        ]
    if summary.warning:
        lines.append(f"warning   {summary.warning}")
    return "\n".join(safe(line) for line in lines)


def _server(info: ServerInfo) -> str:
    gates = ", ".join(f"{gate}={on}".lower() for gate, on in info.feature_gates.items())
    named = f"{info.name}, " if info.name else ""
    rules = f"rules of Kubernetes {info.kube_version}" + (f" with {gates}" if gates else "")
    return f"{named}ktui {info.ktui_version}, etcd {info.etcd_version} ({info.etcd_kind}), {rules}"


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(at)) if at else "unknown"
