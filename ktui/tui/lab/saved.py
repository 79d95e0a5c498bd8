"""What the Lab saves in files of mode 0600.

Requests that the user named are one JSON file; results are JSON objects, one per line.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ktui.client.running import state_home
from ktui.core.format import safe
from ktui.core.lab.form import ListForm
from ktui.core.lab.result import LabResult
from ktui.documents.limits import DocumentError, decode_json, read_bytes
from ktui.private_file import open_private, write_private
from ktui.tui.dialogs.dialog import ConfirmScreen, Dialog, HiddenInput, framed
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line, pad

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


_NAME_WIDTH = 24


class SavedScreen(Dialog[tuple[ListForm, bool]], bindings="saved requests"):
    """Returns the chosen form, and True to send it at once."""

    DEFAULT_CSS = """
    SavedScreen > Vertical { width: 90%; }
    SavedScreen > Vertical > OptionList { max-height: 16; }
    SavedScreen Static { height: auto; color: $ink-muted; }
    """

    def __init__(self, saved: SavedRequests, form: ListForm, request_of: Callable[[ListForm], str]) -> None:
        """`form` is the one to save; `request_of` returns a form's request in one line."""
        super().__init__()
        self._saved = saved
        self._form = form
        self._request_of = request_of
        self.requests = tuple(saved.read())

    def compose(self) -> ComposeResult:
        hints = ("saved.send", "sends"), ("saved.save", "saves the form"), ("saved.delete", "deletes")
        closes = "saved.close", "closes"
        with framed(Vertical(), "saved requests", *hints, closes, before="enter edits · "):
            yield OptionList(markup=False)
            yield Static("", markup=False)
            yield HiddenInput("a name for the request in the form", LONGEST)

    def on_mount(self) -> None:
        if self.query(Input):
            self._show("")

    def _show(self, name: str) -> None:
        """Show the saved requests, with the cursor on `name`."""
        self.requests = tuple(self._saved.read())
        options, names = self.query_one(OptionList), [each.name for each in self.requests]
        options.clear_options()
        for each in self.requests:
            request = (f" {self._request_of(each.form)}", "$ink-muted")
            options.add_option(Option(line((pad(each.name, _NAME_WIDTH), "$ink-strong"), request)))
        options.display = bool(names)
        options.highlighted = names.index(name) if name in names else 0
        nothing = f"nothing is saved yet: {key_of('saved.save')} saves the request in the form"
        self._show_note(self._saved.problem or ("" if names else nothing))
        self.query_one(HiddenInput).close()
        self.set_focus(options if options.display else None)

    def _show_note(self, text: str) -> None:
        note = self.query_one(Static)
        note.update(Content(safe(text)))
        note.display = bool(text)

    @property
    def _selected_name(self) -> str:
        at = self.query_one(OptionList).highlighted
        return self.requests[at].name if at is not None and at < len(self.requests) else ""

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_send(send=False)

    def action_send(self, send: bool = True) -> None:
        form = next((each.form for each in self.requests if each.name == self._selected_name), None)
        if form is not None:
            self.dismiss((form, send))

    def action_save(self) -> None:
        """Open the input for a name; an existing name replaces that request."""
        self.query_one(HiddenInput).open()
        self._show_note(self._request_of(self._form))

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        if problem := self._saved.save(event.value, self._form):
            self._show_note(problem)
        else:
            event.input.clear()
            self._show(event.value.strip())

    def action_delete(self) -> None:
        name = self._selected_name

        def delete(_: bool) -> None:
            problem = self._saved.delete(name)
            self._show("")
            if problem:
                self._show_note(problem)

        if name:
            ConfirmScreen("saved requests", f"Delete {name!r}?").ask(self.app, delete)

    def action_leave(self) -> None:
        """Close the input for a name, or else the dialog."""
        if self.query_one(HiddenInput).is_open:
            self._show(self._selected_name)
        else:
            self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("send", "save", "delete"):
            return not isinstance(self.focused, Input)  # in the input these keys are letters
        return super().check_action(action, parameters)


KEPT = 200  # results
HISTORY_BYTES = 16 << 20
_HISTORY_FILE = "lab-history.ndjson"
_CONTINUE = re.compile(r"([?&]continue=)[^&]*")


class LabHistory:
    """The newest KEPT results. Without a usable file they are lost when the dashboard ends.

    Bearer tokens and certificates are never saved. Continue tokens are removed from paths, as they name keys
    and expire within minutes.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_home() / _HISTORY_FILE
        self._lines = 0

    def read(self) -> list[LabResult]:
        """Return the results, oldest first, without lines that this version of ktui cannot read."""
        try:
            lines = read_bytes(self.path, HISTORY_BYTES).splitlines()
        except (OSError, DocumentError):
            return []
        self._lines = len(lines)
        found = []
        for text in lines[-KEPT:]:
            with suppress(DocumentError):
                found.append(decode_json(text, LabResult))
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
                lines = self.path.read_bytes().splitlines(keepends=True)[-KEPT:]
                write_private(self.path, b"".join(lines))
                self._lines = len(lines)
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


def _line(result: LabResult) -> bytes:
    path, of_answer = (_CONTINUE.sub(r"\1…", each.path) for each in (result, result.answer))
    measured = replace(result.answer, path=of_answer, continue_token="")
    kept = replace(result, path=path, form=replace(result.form, continue_token=""), measured=measured)
    return msgspec.json.encode(kept) + b"\n"
