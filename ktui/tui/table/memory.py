"""What tables keep from screen to screen and from run to run: filters and chosen columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ktui.client.running import state_home
from ktui.config.lists import current_columns
from ktui.documents.limits import DocumentError, decode_json, read_bytes
from ktui.private_file import write_private
from ktui.tui.prompt.history import LineHistory

_FILE = "columns.json"


class CarriedFilter:
    """The filter that follows the user from screen to screen; `serial` counts its changes."""

    def __init__(self) -> None:
        self.text = ""
        self.serial = 0

    def carry(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.serial += 1


class ColumnChoices:
    """Columns by table id: those chosen on a screen (saved in a file), else those of the config file."""

    def __init__(self, preferred: Mapping[str, Sequence[str]], path: Path | None = None) -> None:
        self.path = path or state_home() / _FILE
        self._preferred = preferred
        self._chosen: dict[str, list[str]] | None = None

    def of(self, table_id: str) -> Sequence[str]:
        """Return column ids in their order; () for the table's default."""
        return self._read().get(table_id) or self.preferred(table_id)

    def preferred(self, table_id: str) -> Sequence[str]:
        """Return the config file's columns; () if it names none."""
        return self._preferred.get(table_id, ())

    def _read(self) -> dict[str, list[str]]:
        if self._chosen is None:
            try:
                saved = decode_json(read_bytes(self.path, 1 << 20), dict[str, list[str]])
                self._chosen = {table: list(ids) for table, ids in current_columns(saved).items()}
            except (OSError, DocumentError):  # no file yet, or not one of ktui
                self._chosen = {}
        return self._chosen

    def choose(self, table_id: str, ids: Sequence[str]) -> str:
        """Save a choice (no ids: drop it). Return why it cannot be written, "" if it was."""
        chosen = self._read()
        chosen.pop(table_id, None)
        if ids:
            chosen[table_id] = list(ids)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(self.path, msgspec.json.format(msgspec.json.encode(chosen)) + b"\n")
        except OSError as error:
            return f"the columns were not saved: {self.path}: {error.strerror}"
        return ""


class TableMemory:
    """The memory of all tables of an app."""

    def __init__(self, preferred_columns: Mapping[str, Sequence[str]]) -> None:
        self.filter = CarriedFilter()
        self.typed = LineHistory("filters")
        self.columns = ColumnChoices(preferred_columns)
