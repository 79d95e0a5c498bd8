"""`ktui list`: send one GET or LIST and print its route, the reason, its cost, and cheaper variants."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ktui import __version__
from ktui.cli.explain import lines
from ktui.cli.list_request import Listing, TriedVariant, list_at
from ktui.cli.options import listen
from ktui.cli.output import OK, SERVER_ERROR, USAGE, emit, emit_json, fail
from ktui.cli.printing import Printer
from ktui.cli.targets import demo_refuses, target, target_conflict
from ktui.client.api import RefusedError
from ktui.client.large_lists import ListEstimate, estimate_list
from ktui.core.format import figure, integer, long_bytes, long_milliseconds, many, processed_text
from ktui.core.lab.form import verb_of
from ktui.core.lab.measured import Measured, Memory
from ktui.core.lab.trial import CLIENT_TIME, FIGURES, LEAST_RUNS, Spread, Trial, Verdict, spread_text
from ktui.core.rows import letter_of
from ktui.printable import escaped


def run(args: argparse.Namespace) -> int:
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if args.estimate:
        try:
            estimate = asyncio.run(estimate_at(args))
        except RefusedError as error:
            return fail(str(error), SERVER_ERROR)
        if args.json:
            emit_json(estimate.document())
        else:
            emit("\n".join(_estimate_lines(estimate)), coloured=True)
        return OK
    try:
        listing = asyncio.run(_list(args))
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}", USAGE)
    if args.json:
        emit_json(listing.document())
    else:
        print_listing(listing)
    return OK if listing.measured.ok else SERVER_ERROR


def _misuse(args: argparse.Namespace) -> str:
    if not args.path.startswith("/"):
        return f"{args.path!r} is not an API path: write it like '/api/v1/pods?limit=500'"
    if verb_of(args.path) == "WATCH":
        return "a WATCH does not end: `ktui list` sends a GET or a LIST"
    if args.estimate:
        given = [flag for flag in ("all_pages", "repeat", "compare", "save_body") if getattr(args, flag)]
        if given or args.otlp is not None:
            return "--estimate sends nothing: leave out --all-pages, --repeat, --try, --save-body, --otlp"
    if args.compare and args.repeat is not None and args.repeat < LEAST_RUNS:
        return f"--try needs --repeat {LEAST_RUNS} or more: fewer runs cannot separate a saving from noise"
    if args.otlp is not None and not (args.kubeconfig or args.context):
        return "--otlp judges the requests to a kube-apiserver by its traces: name one with --kubeconfig"
    return target_conflict(args) or demo_refuses(args, args.path)


async def estimate_at(args: argparse.Namespace) -> ListEstimate:
    """Estimate `args.path` at the server of `args`. Raises ClientError, RefusedError, RequestError."""
    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        return await estimate_list(found, args.path)


def _estimate_lines(found: ListEstimate) -> Iterator[str]:
    size, cost, returned = found.size, found.cost, found.returned
    sizes = f"{long_bytes(size.bytes)} as JSON ({long_bytes(size.average)} each, by one of them)"
    yield f"{many(size.count, 'object')} in {found.collection}" + (f", {sizes}" if size.count else "")
    if cost is not None:
        source = "etcd" if cost.etcd else "watch cache"
        read = f"{integer(found.objects_read or 0)} objects, {long_bytes(cost.processed)}, from the {source}"
        yield f"   {'predicted':<13}reads {read}"
    answer = "as many as the selector matches"
    if returned is not None:
        answer = f"{many(returned, 'object')}, {long_bytes(returned * size.average)}"
    seats = "" if found.seats is None else f"; {many(found.seats, 'seat')}"
    yield f"   {'':<13}answers {answer}{seats}"
    yield ""
    yield from lines([found.explanation])


async def _list(args: argparse.Namespace) -> Listing:
    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        if args.otlp is None:
            return await list_at(found, args)
        from ktui.client.traced_target import TracedTarget  # start-up time

        receiver = listen(args)
        try:
            return await list_at(TracedTarget(found, receiver), args)
        finally:
            receiver.close()


_STYLES = {"C": "green", "E": "yellow"}
_VERDICTS = {Verdict.SAVES: "bold green", Verdict.MIXED: "bold yellow", Verdict.COSTS_MORE: "bold red"}
# Prediction and measurement: equal, different, not comparable.
_MARKS = {True: ("=", "green"), False: ("≠", "red"), None: ("?", "dim")}
_ETCD: dict[str, Callable[[int], str]] = {
    "rpcs": lambda count: f"{integer(count)} RPC", "keys": lambda count: many(count, "key"),
    "bytes": long_bytes,
}  # fmt: skip
_CHANGES = {-1: ("less", "green"), 0: ("", ""), 1: ("more", "red")}


def print_listing(listing: Listing) -> None:
    console = Printer(highlight=False, soft_wrap=False)
    for part in _parts(listing):
        console.print(part)


def _parts(listing: Listing) -> Iterator[RenderableType]:
    measured = listing.measured
    if measured.ok:
        yield Text.assemble(_route(measured.route), f" because {measured.reason}" if measured.reason else "")
    else:
        yield Text.assemble(("! ", "bold red"), (f"{measured.status} ", "bold"), escaped(measured.message))
    costs = Table.grid(padding=(0, 2))
    costs.add_column(style="dim", no_wrap=True)
    costs.add_column()
    for label, value in _rows(listing):
        if value:
            costs.add_row(f"  {label}", Text(value))
    yield costs
    for remark in measured.remarks:
        yield _indented(Text(remark, "dim"))
    yield from _prediction(listing)
    for variant in listing.cheaper:
        yield from _cheaper(variant)


def _route(route: str) -> Text:
    letter = letter_of(route, "-")
    words = {"": "route not known", "none": "refused before storage is read"}.get(route, route)
    return Text(f"{letter} {words}", f"bold {_STYLES.get(letter, 'dim')}")


def _rows(listing: Listing) -> Iterator[tuple[str, str]]:
    m = listing.measured
    if not m.ok:
        yield "time", long_milliseconds(m.total_ms)
        return
    named = (("fetched", "scanned"), ("evaluated", "evaluated"))  # "scanned" as on the screens
    counts = [f"{integer(m.counters[name])} {word}" for name, word in named if name in m.counters]
    yield "objects", ", ".join([*counts, f"{integer(m.items)} returned"])
    known = ((text, m.counters.get(f"etcd_{name}")) for name, text in _ETCD.items())
    yield "etcd", ", ".join(text(value) for text, value in known if value is not None)
    yield "processed", _processed(m)
    pages = f" in {integer(m.pages)} pages" if m.pages > 1 else ""
    sent = m.counters.get("sent_bytes", 0)
    wire = f" ({long_bytes(sent)} on the wire, gzip)" if sent and sent < 0.98 * m.body_bytes else ""
    yield "received", f"{long_bytes(m.body_bytes)}{pages}{wire}"
    times, runs = listing.runs.ms, ""
    if len(times) > 1:
        least, most = long_milliseconds(min(times)), long_milliseconds(max(times))
        runs = f" (median of {len(times)}: {least} to {most})"
    first = f", first byte after {long_milliseconds(m.first_byte_ms)}"
    yield "time", f"{long_milliseconds(m.total_ms)}{first}{runs}"
    yield "phases", ", ".join(f"{name} {long_milliseconds(ms)}" for name, ms in m.phases.items())
    if m.cpu_ms is not None:
        yield "CPU", f"{long_milliseconds(m.cpu_ms)} of the server's event loop, gzip included"
    yield "memory", _memory(m.memory)
    if m.seats is not None:
        held = f", {figure(m.seat_seconds)} seat-seconds" if m.seat_seconds is not None else ""
        yield "seats", f"{m.seats}{held}"
    words = ((name.replace("_", " ").replace("uid", "UID"), text) for name, text in m.flow_control.items())
    yield "flow control", ", ".join(f"{name} {escaped(text)}" for name, text in words)
    yield "resourceVersion", escaped(m.rv)


def _processed(measured: Measured) -> str:
    processed, factor = measured.processed_bytes, measured.amplification
    if processed is None:
        return ""
    imputed = measured.counters.get("imputed_bytes", 0)
    return (
        processed_text(processed, imputed)
        + (" as kube-apiserver would" if imputed else "")
        + (f", {figure(factor)} for each byte returned" if factor is not None else "")
    )


def _memory(memory: Memory | None) -> str:
    """Describe the memory: `17.9 MB held at most; the process grew by 21.4 MB`; "" if unknown."""
    if memory is None:
        return ""
    held = f"{long_bytes(memory.peak_held)} held at most"
    if memory.process_growth is None:
        return held
    doubt = " (other requests ran meanwhile and may have caused it)" if memory.shared else ""
    return f"{held}; the process grew by {long_bytes(memory.process_growth)}{doubt}"


def _prediction(listing: Listing) -> Iterator[RenderableType]:
    predicted = listing.runs.predicted
    if predicted.explanation is None:
        yield _indented(Text(f"no prediction: {escaped(predicted.problem)}", "dim"))
        return
    letter, style = _MARKS[listing.runs.agrees]
    words = [f" ({predicted.explanation.behaviour.version}: {predicted.explanation.plan.reason_id}"]
    if predicted.assumed:
        words.append("its cache assumed ready")
    if listing.runs.agrees is False:
        words.append(f"measured {listing.runs.first_route or 'no route'}")
    mark, why = Text(f"{letter} ", f"bold {style}"), f"{', '.join(words)})"
    yield Text.assemble(("  predicted  ", "dim"), mark, _route(predicted.route), (why, "dim"))
    for warning in predicted.explanation.warnings:
        yield _indented(Text(f"note: {escaped(warning)}"))


def _cheaper(variant: TriedVariant) -> Iterator[RenderableType]:
    accept = variant.request.accept
    header = f"  Accept: {accept}" if accept else ""
    refuted = variant.trial is not None and variant.trial.verdict in (Verdict.SAME, Verdict.COSTS_MORE)
    label = "  variant  " if refuted else "  cheaper  "
    yield Text.assemble((label, "dim"), escaped(variant.advice.path), (header, "dim"))
    yield _indented(Text(variant.advice.why, "dim"), 11)
    if variant.measured is None or variant.trial is None:
        return
    trial = variant.trial
    yield _indented(Text(escaped(trial.sentence), _VERDICTS.get(trial.verdict, "bold")), 11)
    if trial.times is not None:
        yield _indented(_compared(trial, *trial.times), 11)
        runs = f"; medians (least–most) of {trial.runs} runs each, in alternation"
        yield _indented(Text.assemble(_route(variant.measured.route), (runs, "dim")), 11)


def _compared(trial: Trial, *times: Spread) -> Table:
    """Return a table of the figures that are not 0 in both."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_row("", Text("original", "dim"), Text("variant", "dim"), "")
    for each in trial.differences:
        figure = FIGURES[each.figure]
        if each.original.high or each.variant.high:
            sides = (spread_text(figure, side) for side in (each.original, each.variant))
            table.add_row(figure.noun, *sides, Text(*_CHANGES[each.change]))
    sides = (spread_text(CLIENT_TIME, side) for side in times)
    table.add_row("client's time", *sides, Text("not judged", "dim"))
    return table


def _indented(part: RenderableType, columns: int = 2) -> Padding:
    return Padding(part, (0, 0, 0, columns))
