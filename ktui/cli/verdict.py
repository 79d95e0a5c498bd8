"""A measured request for people: the verdict line first, then what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ktui.client.measure import Measured

_STYLES = {"cache": ("C", "green"), "etcd": ("E", "yellow"), "cache,etcd": ("E", "yellow")}


def print_verdict(measured: Measured) -> None:
    console = Console(highlight=False)
    console.print(_verdict(measured))
    console.print(_costs(measured))
    if not measured.complete:
        console.print(
            Text("  the server's own account of this request did not arrive: counts may be low", "dim")
        )


def _verdict(measured: Measured) -> Text:
    if measured.status >= 400:
        return Text.assemble(("! ", "bold red"), (f"{measured.status} ", "bold"), measured.message)
    letter, style = _STYLES.get(measured.route, ("-", "dim"))
    return Text.assemble(
        (f"{letter} ", f"bold {style}"),
        (measured.route or "answered without storage", f"bold {style}"),
        (f" because {measured.reason}" if measured.reason else ""),
    )


def _costs(measured: Measured) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    for label, value in _rows(measured):
        if value:
            table.add_row(f"  {label}", Text(value))
    return table


def _rows(measured: Measured) -> list[tuple[str, str]]:
    n = measured.counters
    return [
        ("objects", f"{n['fetched']:,} fetched, {n['evaluated']:,} evaluated, {measured.items:,} returned"),
        ("etcd", f"{n['etcd_rpcs']:,} RPC, {n['etcd_keys']:,} keys, {_bytes(n['etcd_bytes'])}"),
        (
            "sent",
            f"{_bytes(measured.body_bytes)} in {measured.pages} page{'s' if measured.pages != 1 else ''}",
        ),
        ("time", f"{measured.total_ms:.1f} ms, first byte after {measured.first_byte_ms:.1f} ms"),
        ("phases", ", ".join(f"{name} {ms:.1f} ms" for name, ms in measured.phases.items())),
        ("seats", str(measured.seats) if measured.seats else ""),
        ("amplification", f"{measured.amplification:g} bytes processed for each byte returned"),
        ("resourceVersion", measured.rv),
    ]


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"
