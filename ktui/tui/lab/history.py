"""The Lab's saved results: one JSON object per line, mode 0600.

Bearer tokens and certificates are never saved. Continue tokens are removed from paths, as they
name keys and expire within minutes.
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
    """The newest KEPT results. Without a usable file they are lost when the dashboard ends."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / _FILE
        self._lines = 0

    def read(self) -> list[LabResult]:
        """Return the results, oldest first, without lines that this version of ktui cannot read."""
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
        """Return a number above `last` that no dashboard has used: a file's size records the last one."""
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
        """Append an answered result. Return why that failed, "" if it did not."""
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
        """Remove all results. Return why that failed, "" if it did not."""
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
