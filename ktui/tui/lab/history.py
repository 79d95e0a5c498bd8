"""The Lab's results on disk, so that they survive a restart: one JSON object a line, mode 0600.

Nothing that grants access is written: no bearer token, no certificate. Continue
tokens are cut out of paths, for they name keys and expire within minutes.
"""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import replace
from pathlib import Path

import msgspec

from ktui.client.running import state_home, write_private
from ktui.core.lab.result import LabResult
from ktui.documents.files import read_bytes
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.private_file import open_private

KEPT = 200  # results
MOST_BYTES = 16 << 20
_FILE = "lab-history.ndjson"
_CONTINUE = re.compile(r"([?&]continue=)[^&]*")


class LabHistory:
    """The newest KEPT results. A file that cannot be used costs the history, nothing else."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / _FILE
        self._lines = 0

    def read(self) -> list[LabResult]:
        """Oldest first; lines of another version of ktui are skipped."""
        try:
            lines = read_bytes(self.path, MOST_BYTES).splitlines()
        except (OSError, DocumentError):
            return []
        self._lines = len(lines)
        found = []
        for line in lines[-KEPT:]:
            try:
                found.append(decode_json(line, LabResult))
            except DocumentError:
                continue
        return found

    def next_number(self, last: int) -> int:
        """A number above `last` that no dashboard has given yet: the size of a file is the last one."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(open_private(self._numbers, 0), "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                number = max(last, os.fstat(file.fileno()).st_size) + 1
                file.truncate(number)
        except OSError:
            return last + 1
        return number

    @property
    def _numbers(self) -> Path:
        return self.path.with_suffix(".numbers")

    def add(self, result: LabResult) -> str:
        """Append what has been answered; why that was not possible, "" if it was."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(open_private(self.path, os.O_APPEND), "ab") as file:
                file.write(_line(result))
            self._lines += 1
            if self._lines > 2 * KEPT:
                self._shrink()
        except OSError as error:
            return f"the result was not saved: {self.path}: {error.strerror}"
        return ""

    def clear(self) -> str:
        """Forget all; why that was not possible, "" if it was."""
        try:
            self.path.unlink(missing_ok=True)
            self._numbers.unlink(missing_ok=True)
        except OSError as error:
            return f"cannot remove {self.path}: {error.strerror}"
        self._lines = 0
        return ""

    def _shrink(self) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True)[-KEPT:]
        scratch = self.path.with_suffix(f".{os.getpid()}")
        write_private(scratch, b"".join(lines))
        scratch.replace(self.path)
        self._lines = len(lines)


def _line(result: LabResult) -> bytes:
    measured = result.measured
    assert measured is not None
    kept = replace(
        result,
        path=_without_token(result.path),
        form=replace(result.form, continue_token=""),
        measured=replace(measured, path=_without_token(measured.path), continue_token=""),
    )
    return msgspec.json.encode(kept) + b"\n"


def _without_token(path: str) -> str:
    return _CONTINUE.sub(r"\1…", path)
