"""Lines that were typed, kept over runs: commands after `:`, filters after `/`.

One line an entry, oldest first, in a file that only its owner can read.
"""

from __future__ import annotations

import os
from pathlib import Path

from ktui.client.running import state_home, write_private

KEPT = 500  # lines


class LineHistory:
    """Older and newer lines of one kind of prompt. A file that cannot be used costs the history only.

    `name` names the file ("commands", "filters") in ktui's state directory; `path` is another one.
    """

    def __init__(self, name: str, path: Path | None = None) -> None:
        self.path = path or state_home() / f"{name}-history"
        self._lines: list[str] | None = None
        self._place = 0  # how far back the user has gone: 0 is what is being typed
        self._typing = ""

    @property
    def lines(self) -> list[str]:
        """Oldest first, each one once."""
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
        """Keep a line as the newest one; other dashboards may have added theirs meanwhile."""
        line = line.strip()
        if not line or not line.isprintable():
            return
        known = self._load() or self.lines
        self._lines = [*(item for item in known if item != line), line][-KEPT:]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            scratch = self.path.with_suffix(f".{os.getpid()}")
            write_private(scratch, "".join(f"{item}\n" for item in self._lines).encode())
            scratch.replace(self.path)
        except OSError:
            return  # kept for this run at least

    # Walking through it.

    def begin(self) -> None:
        """A line is opened."""
        self._place, self._typing = 0, ""

    @property
    def walking(self) -> bool:
        """Whether an older line is shown now."""
        return self._place > 0

    def older(self, shown: str) -> str | None:
        """The line before the one shown that is another one; None at the end."""
        return self._walk(shown, 1)

    def newer(self, shown: str) -> str | None:
        """The line after the one shown, at last what was being typed; None past that."""
        return self._walk(shown, -1)

    def _walk(self, shown: str, step: int) -> str | None:
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
