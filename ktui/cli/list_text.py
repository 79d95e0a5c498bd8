"""The text output of `ktui list`: the verdict, then cost, prediction and cheaper variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ktui.cli.list_request import Listing, TriedVariant
from ktui.cli.printing import Printer
from ktui.core.format import figure, integer, long_bytes, long_milliseconds, many, processed_text
from ktui.core.lab.measured import Measured, Memory
from ktui.core.lab.trial import CLIENT_TIME, FIGURES, Spread, Trial, Verdict, spread_text
from ktui.core.rows import letter_of
from ktui.printable import escaped

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
    header = f"  Accept: {variant.accept}" if variant.accept else ""
    refuted = variant.trial is not None and variant.trial.verdict in (Verdict.SAME, Verdict.COSTS_MORE)
    label = "  variant  " if refuted else "  cheaper  "
    yield Text.assemble((label, "dim"), escaped(variant.path), (header, "dim"))
    yield _indented(Text(variant.why, "dim"), 11)
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
