"""History of typed lines, kept between runs: commands after `:`, filters after `/`.

One entry per line, oldest first, in a file that only its owner can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ktui.client.running import state_home
from ktui.private_file import write_private

KEPT = 500  # lines


class LineHistory:
    """The history of one kind of prompt. Without a usable file it lasts for this run.

    `name` ("commands", "filters") names the file in ktui's state directory; `path` replaces it.
    """

    def __init__(self, name: str, path: Path | None = None) -> None:
        self.path = path or state_home() / f"{name}-history"
        self._lines: list[str] | None = None
        self._place = 0  # entries back from the line being typed
        self._typing = ""

    @property
    def lines(self) -> list[str]:
        """The entries, oldest first, without duplicates."""
        if self._lines is None:
            self._lines = self._load()
        return self._lines

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
        self._lines = [*(item for item in known if item != line), line][-KEPT:]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(self.path, "".join(f"{item}\n" for item in self._lines).encode())
        except OSError:
            return  # it stays in memory for this run

    # Browsing.

    def begin(self) -> None:
        """Start at the newest end, for a line that is opened."""
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


KEPT = 5_000


class RecentNames:
    """A set that keeps the `KEPT` names added last."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self._names.pop(name, None)
            self._names[name] = None
        while len(self._names) > KEPT:
            del self._names[next(iter(self._names))]

    def __iter__(self) -> Iterator[str]:
        """Iterate from the newest name to the oldest."""
        return reversed(self._names)
