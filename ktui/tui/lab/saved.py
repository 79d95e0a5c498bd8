"""Requests that the user saved under a name: one JSON file, mode 0600."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import msgspec

from ktui.client.running import state_home, write_private
from ktui.core.lab.form import ListForm
from ktui.documents.limits import DocumentError, read_bytes
from ktui.documents.typed import decode_json

MOST = 200  # requests
MOST_BYTES = 1 << 20
LONGEST = 40  # characters of a name
LONGEST_FIELD = 4_096
_FILE = "lab-requests.json"


class SavedRequest(msgspec.Struct, frozen=True):
    """A form of the Lab, without a continue token, which expires within minutes."""

    name: str
    form: ListForm


class SavedRequests:
    """`problem` says why the file is not usable, "" if it is; such a file is never overwritten."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / _FILE
        self.problem = ""

    def read(self) -> Sequence[SavedRequest]:
        """Return the requests by name; () if there is a problem."""
        self.problem = ""
        try:
            found = decode_json(read_bytes(self.path, MOST_BYTES), list[SavedRequest])
        except FileNotFoundError:
            return ()
        except (OSError, DocumentError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            self.problem = f"{self.path}: {why}; correct or remove it"
            return ()
        if len(found) > MOST or not all(map(_usable, found)):
            self.problem = f"{self.path}: not what the Lab saves; correct or remove it"
            return ()
        return sorted(found, key=lambda each: each.name)

    def save(self, name: str, form: ListForm) -> str:
        """Save `form` under `name`, replacing a request of that name. Return an error, "" if it was saved."""
        request = SavedRequest(name.strip(), replace(form, continue_token=""))
        if not request.name:
            return "a saved request needs a name"
        if not _usable(request):
            return f"a name has at most {LONGEST} printable characters"
        others = [each for each in self.read() if each.name != request.name]
        if len(others) >= MOST:
            return f"{MOST} requests are saved: delete one first"
        return self._write([*others, request])

    def delete(self, name: str) -> str:
        """Delete a request. Return an error, "" if it was deleted."""
        return self._write([each for each in self.read() if each.name != name])

    def _write(self, requests: Sequence[SavedRequest]) -> str:
        if self.problem:
            return self.problem
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(self.path, msgspec.json.format(msgspec.json.encode(requests)) + b"\n")
        except OSError as error:
            return f"{self.path} cannot be written: {error.strerror}"
        return ""


def _usable(request: SavedRequest) -> bool:
    texts = [text for text in astuple(request.form) if isinstance(text, str)]
    name_fits = 0 < len(request.name) <= LONGEST and request.name.isprintable()
    return name_fits and all(text.isprintable() and len(text) <= LONGEST_FIELD for text in texts)
