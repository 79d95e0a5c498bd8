"""What the dashboard keeps from screen to screen and from run to run: typed lines, filters, columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from ktui.client.running import state_home
from ktui.config.document import current_columns
from ktui.documents.limits import DocumentError, decode_json, read_bytes
from ktui.private_file import write_private

KEPT = 500  # typed lines of each kind
KEPT_NAMES = 5_000
_FILE = "columns.json"


def _save(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, content)


class LineHistory:
    """The history of one kind of prompt. Without a usable file it lasts for this run.

    The file has one entry per line, oldest first; only its owner can read it.

    `name` ("commands", "filters") names the file in ktui's state directory; `path` replaces it.
    """

    def __init__(self, name: str, path: Path | None = None) -> None:
        self.path = path or state_home() / f"{name}-history"
        self._place = 0  # entries back from the line being typed
        self._typing = ""

    @cached_property
    def lines(self) -> list[str]:
        """The entries, oldest first, without duplicates."""
        return self._load()

    def _load(self) -> list[str]:
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        found = [line for line in text.splitlines() if line.isprintable() and line.strip()]
        return list(dict.fromkeys(reversed(found)))[:KEPT][::-1]

    def add(self, line: str) -> None:
        """Add a line as the newest entry, after those that other dashboards may have added to the file."""
        line = line.strip()
        if not line or not line.isprintable():
            return
        known = self._load() or self.lines
        self.lines = [*(item for item in known if item != line), line][-KEPT:]
        try:
            _save(self.path, "".join(f"{item}\n" for item in self.lines).encode())
        except OSError:
            return  # it stays in memory for this run

    # Browsing.

    def begin(self) -> None:
        self._place, self._typing = 0, ""

    @property
    def browsing(self) -> bool:
        """True while an older entry is shown."""
        return self._place > 0

    def browse(self, shown: str, step: int) -> str | None:
        """Return the next older (1) or newer (-1) entry that differs from `shown`; None at the ends.

        The newest is the line that was being typed.
        """
        if self._place == 0:
            self._typing = shown
        place = self._place
        while 0 <= place + step <= len(self.lines):
            place += step
            text = self._typing if place == 0 else self.lines[-place]
            if text != shown or place == 0:
                self._place = place
                return text
        return None


class RecentNames:
    """A set that keeps the KEPT_NAMES added last."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self._names.pop(name, None)
            self._names[name] = None
        while len(self._names) > KEPT_NAMES:
            del self._names[next(iter(self._names))]

    def __iter__(self) -> Iterator[str]:
        """Iterate from the newest name to the oldest."""
        return reversed(self._names)


class ColumnChoices:
    """Columns by table id: those chosen on a screen (saved in a file), else those of the config file."""

    def __init__(self, preferred: Mapping[str, Sequence[str]], path: Path | None = None) -> None:
        self.path = path or state_home() / _FILE
        self._preferred = preferred

    def of(self, table_id: str) -> Sequence[str]:
        """Return column ids in their order; () for the table's default."""
        return self._chosen.get(table_id) or self.preferred(table_id)

    def preferred(self, table_id: str) -> Sequence[str]:
        """Return the config file's columns; () if it names none."""
        return self._preferred.get(table_id, ())

    @cached_property
    def _chosen(self) -> dict[str, list[str]]:
        try:
            saved = decode_json(read_bytes(self.path, 1 << 20), dict[str, list[str]])
        except (OSError, DocumentError):  # no file yet, or not one of ktui
            return {}
        return {table: list(ids) for table, ids in current_columns(saved).items()}

    def choose(self, table_id: str, ids: Sequence[str]) -> str:
        """Save a choice (no ids: drop it). Return why it cannot be written, "" if it was."""
        self._chosen.pop(table_id, None)
        if ids:
            self._chosen[table_id] = list(ids)
        try:
            _save(self.path, msgspec.json.format(msgspec.json.encode(self._chosen)) + b"\n")
        except OSError as error:
            return f"the columns were not saved: {self.path}: {error.strerror}"
        return ""


class TableMemory:
    """The memory of all tables of an app."""

    def __init__(self, preferred_columns: Mapping[str, Sequence[str]]) -> None:
        self.filter = ""  # follows the user from screen to screen
        self.typed = LineHistory("filters")
        self.columns = ColumnChoices(preferred_columns)
