"""A screen with two tables that share a filter, and one that does not: nothing else of the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.containers import Container

from ktui.core.table.columns import Column
from ktui.tui.keys import bindings as keys
from ktui.tui.looks import themes
from ktui.tui.memory import ColumnChoices, LineHistory, TableMemory
from ktui.tui.prompt.prompt import Prompt, Suggestions
from ktui.tui.screen_bases.table_screen import TableScreen
from ktui.tui.table.vtable import VTable


@dataclass(frozen=True, eq=False)
class Read:
    """A row."""

    id: int
    route: str
    client: str
    ms: float


def reads(count: int, start: int = 0) -> list[Read]:
    clients = ("kubelet", "cilium-agent", "=cmd|' /C calc'!A0")
    return [
        Read(index, "E etcd" if index % 3 == 0 else "C cache", clients[index % 3], index * 7.5 % 100)
        for index in range(start, start + count)
    ]


ID: Column[Read] = Column(
    "id", "#", lambda row: str(row.id), lambda row: row.id, 6, align="right", priority=3
)
ROUTE: Column[Read] = Column("route", "", lambda row: row.route[0], lambda row: row.route, 1, priority=0,
                             known=("C", "S", "E"), about="where its answer came from")  # fmt: skip
CLIENT: Column[Read] = Column("client", "client", lambda row: row.client, width=10, flex=1, about="who asked")
MS: Column[Read] = Column("ms", "ms", lambda row: f"{row.ms:.1f}", lambda row: row.ms, 6, align="right",
                          descending=True, unit="ms", about="until the last byte")  # fmt: skip
VERB: Column[Read] = Column("verb", "verb", lambda row: "LIST", hidden=True, about="get, list or watch")


class LogScreen(TableScreen):
    MODE = "log"

    def compose(self) -> ComposeResult:
        log = VTable((ROUTE, CLIENT, MS, ID, VERB), key=lambda row: row.id, follow=True, share=True, id="log")
        log.styles.border = ("round", "grey")
        yield log
        yield Suggestions()
        yield Suggestions()
        yield Prompt()


class OtherScreen(TableScreen):
    MODE = "other"

    def compose(self) -> ComposeResult:
        box = Container(id="box")
        box.styles.border = ("round", "grey")
        with box:
            yield VTable((CLIENT, ID), key=lambda row: row.id, share=True, id="clients")
        yield VTable((CLIENT,), key=lambda row: row.id, id="apart")
        yield Suggestions()
        yield Prompt()


class TablesApp(App[None]):
    """As much of the dashboard as tables need."""

    BINDINGS: ClassVar = [each for each in keys.APP if getattr(each, "action", "").startswith("screen.")]
    MODES: ClassVar = {"log": LogScreen, "other": OtherScreen}
    DEFAULT_MODE = "log"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.tables = TableMemory({})
        self.tables.typed = LineHistory("filters", directory / "filters")
        self.tables.columns = ColumnChoices({}, directory / "columns.json")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def clock(self) -> float:
        return 1_700_000_000.0

    @property
    def table(self) -> VTable[Read]:
        return self.screen.query(VTable).first()
