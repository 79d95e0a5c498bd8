"""`ktui bench`: measure what the LISTs of a client plan cost the control plane."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from ktui import __version__
from ktui.cli.output import OK, SERVER_ERROR, USAGE, emit, emit_json, fail, progress
from ktui.cli.printing import Printer
from ktui.cli.targets import ask_before, target, target_conflict
from ktui.client.repeated_runs import Runs
from ktui.core.format import figure, integer, long_bytes, milliseconds, times
from ktui.core.rows import letter_of
from ktui.printable import escaped
from ktui.workloads import benchmark
from ktui.workloads.benchmark import Bench
from ktui.workloads.plans import ClientPlan, find_plan


def run(args: argparse.Namespace) -> int:
    if problem := target_conflict(args):
        return fail(problem, USAGE)
    bench = asyncio.run(_measure(args, find_plan(args.named_plan or args.plan)))
    if args.json:
        emit_json(bench.document())
    elif args.markdown:
        emit(markdown(bench))
    else:
        print_table(bench)
    return OK if bench.answered else SERVER_ERROR


async def _measure(args: argparse.Namespace, plan: ClientPlan) -> Bench:
    async with target(args, f"ktui/{__version__}") as found:
        server = await found.assumptions()
        plan, node, namespace = await benchmark.fill(found, plan, args.node, args.namespace)
        many = await benchmark.extrapolation(found, plan, args.agents, args.nodes)
        paths = [planned.path for planned in plan.lists]
        twins = [planned.without for planned in plan.lists if args.without and planned.without]
        await ask_before(found, [*paths, *dict.fromkeys(twins)], server, yes=args.yes)
        repeat = args.repeat or (1 if found.real else 3)
        show = progress if sys.stderr.isatty() else lambda _: None
        rows = await benchmark.run_bench(
            found, plan, repeat=repeat, without=args.without, report=lambda path: show(path[:100])
        )
        show("")
        return Bench(plan, rows, found.client.connection.url, node, namespace, server.behaviour.version, many)


_HEADS = ("", "LIST", "objects", "processed", "received", "held", "ms")
_STYLES = {"C": "bold green", "E": "bold yellow", "!": "bold red", "?": "dim"}
# The width of the number columns next to the path, and the least width of a path.
NUMBERS_WIDTH, PATH_WIDTHS = 70, (20, 36)
# Left out if not all columns fit. Otherwise rich would drop the last one, the time.
_LEFT_OUT = _HEADS.index("held")
_WITHOUT = "without its selector"


def print_table(bench: Bench) -> None:
    console = Printer(highlight=False)
    console.print(Text(_title(bench)))
    table = _table(_HEADS, console.width)
    for row in bench.rows:
        letter, name, *cells = _measured(row.runs, escaped(row.planned.path))
        note = f"\n{escaped(row.planned.note)}" if row.planned.note else ""
        request = Text.assemble(name, (note, "dim"))
        table.add_row(Text(letter, _STYLES[letter[0]]), request, *map(Text, cells))
        if row.without is not None:
            table.add_row(*(Text(cell, "dim") for cell in _without(row, row.without)))
    table.add_section()
    table.add_row(*(Text(cell, "bold") for cell in _sum(bench)))
    roomy = console.width >= NUMBERS_WIDTH + PATH_WIDTHS[0]
    if not roomy:
        del table.columns[_LEFT_OUT]
    console.print(table)
    if bench.many is not None:
        console.print(_extrapolated(bench, bench.many, console.width))
    for line in _foot(bench, held=roomy):
        console.print(Text(line, "dim"))


def _extrapolated(bench: Bench, many: benchmark.Extrapolation, width: int) -> Table:
    """Return a separate table, so that extrapolated figures are not mixed with measured ones."""
    table = _table((f"× {integer(many.agents)}, extrapolated", "processed", "received"), width)
    for row in bench.rows:
        if row.measured.ok:
            table.add_row(Text(escaped(row.planned.path)), *_many(row.times(many)))
    table.add_section()
    table.add_row(Text("all of them", "bold"), *_many(benchmark.total_of(bench.rows, many)))
    return table


def _table(heads: tuple[str, ...], width: int) -> Table:
    """Return an empty table: numbers are aligned right, the LIST column has the remaining width."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    least, most = PATH_WIDTHS
    for head in heads:
        is_path = head == "LIST" or "extrapolated" in head
        table.add_column(
            head, justify="left" if is_path or not head else "right", overflow="fold", no_wrap=not head,
            min_width=max(least, min(most, width - NUMBERS_WIDTH)) if is_path else None,
        )  # fmt: skip
    return table


def markdown(bench: Bench) -> str:
    """Return the benchmark as a GitHub table; cell text is escaped."""
    many = bench.many
    further = (
        () if many is None else (f"× {integer(many.agents)} {what}" for what in ("processed", "received"))
    )
    heads = [*_HEADS, *further]
    lines = [f"**{_title(bench)}**", "", _line(heads), _line(["---", "---", *["---:"] * (len(heads) - 2)])]
    for row in bench.rows:
        letter, name, *cells = _measured(row.runs, escaped(row.planned.path))
        if many is not None and row.measured.ok:
            cells += _many(row.times(many))
        note = f" {escaped(row.planned.note)}" if row.planned.note else ""
        lines.append(_line([letter, f"`{name}`{note}", *cells], len(heads)))
        if row.without is not None:
            lines.append(_line(_without(row, row.without), len(heads)))
    total = [] if many is None else _many(benchmark.total_of(bench.rows, many))
    lines += [_line([*_sum(bench), *total]), ""]
    return "\n".join([*lines, *(f"{line}  " for line in _foot(bench))])


def _line(cells: list[str], columns: int = 0) -> str:
    cells = cells + [""] * (columns - len(cells))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _title(bench: Bench) -> str:
    about = f": {bench.plan.about}" if bench.plan.about else ""
    return escaped(f"{bench.plan.name}{about} (Kubernetes {bench.kube_version})")


def _many(total: benchmark.Total) -> list[str]:
    return [_known(total.processed), long_bytes(total.received)]


def _without(row: benchmark.Row, without: Runs) -> list[str]:
    """Return the cells of a LIST without its selector, with the factor of the bytes received."""
    saved = ""
    if row.measured.body_bytes and without.measured.ok and row.measured.ok:
        saved = f" ({times(without.measured.body_bytes / row.measured.body_bytes)} received)"
    return _measured(without, f"  {_WITHOUT}{saved}")


def _measured(runs: Runs, name: str) -> list[str]:
    measured = runs.measured
    if not measured.ok:
        return ["!", f"{name}: {_refusal(measured.status, escaped(measured.message))}"]
    letter = letter_of(measured.route)
    fetched = measured.counters.get("fetched")
    return [
        letter + ("≠" if runs.agrees is False else ""), name,
        integer(measured.items) + ("" if fetched is None else f" of {integer(fetched)}"),
        _known(measured.processed_bytes), long_bytes(measured.body_bytes),
        long_bytes(measured.memory.peak_held) if measured.memory is not None else "",
        milliseconds(measured.total_ms),
    ]  # fmt: skip


def _refusal(status: int, message: str) -> str:
    """Return an error as text. A plain text 404 means that the path is not served: often a missing CRD."""
    if message.startswith("404 page not found"):
        return f"{status} not served here; is its CustomResourceDefinition missing?"
    return message if message.startswith(str(status)) else f"{status} {message}"


def _known(count: int | None) -> str:
    return "?" if count is None else long_bytes(count)


def _sum(bench: Bench) -> list[str]:
    measured = [row.measured for row in bench.rows if row.measured.ok]
    known = [m.processed_bytes for m in measured if m.processed_bytes is not None]
    return [
        "", "all of them" + (", with their selectors" if any(row.without for row in bench.rows) else ""),
        integer(sum(m.items for m in measured)), _known(sum(known) if known else None),
        long_bytes(sum(m.body_bytes for m in measured)), "", milliseconds(sum(m.total_ms for m in measured)),
    ]  # fmt: skip


def _foot(bench: Bench, *, held: bool = True) -> Iterator[str]:
    repeated = max(len(row.runs.ms) for row in bench.rows)
    runs = "one run each" if repeated == 1 else f"median of {repeated} runs each"
    yield f"{runs}; objects: returned of those scanned; C cache, E etcd, ≠ not the predicted route"
    yield "processed: bytes read from etcd; for objects from memory their number times their mean size"
    if held and any(row.measured.memory for row in bench.rows):
        yield "held: the most bytes that the server held for the request at one time"
    many = bench.many
    if many is not None:
        yield (
            f"× agents is extrapolated, not measured: {integer(many.agents)} agents, each asking once, "
            f"in a cluster of {integer(many.nodes)} nodes whose collections are "
            f"{figure(many.growth)} times those measured"
        )
    yield from dict.fromkeys(remark for row in bench.rows for remark in row.measured.remarks)
