"""A JSON value, a text, several texts, or the response body of a read that is sent again, over the screen."""

from __future__ import annotations

import asyncio
import codecs
from contextlib import aclosing
from typing import Any

import msgspec
from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from ktui.client.api import ApiClient, Received, RefusedError
from ktui.client.connection import ClientError
from ktui.core.format import long_bytes, safe
from ktui.core.object_lines import Line, TextSpan, json_lines, text_lines
from ktui.core.references import Selection
from ktui.tui.dialogs.dialog import Dialog, HiddenInput, framed
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.line_view import LineView
from ktui.tui.widgets.lines import line

_FRAME = 4  # cells and lines of the box around the text


class TextScreen(Dialog[None], bindings="text"):
    """Shows a JSON value, indented, or a text; `/` searches it, `c` copies it."""

    DEFAULT_CSS = """
    TextScreen > Vertical { width: auto; max-width: 90%; height: auto; max-height: 90%; }
    TextScreen LineView { width: 1fr; height: 1fr; }
    """

    hints: tuple[tuple[str, str], ...] = (
        ("text.search", "searches"), ("text.copy", "copies"), ("text.close", "closes"),
    )  # fmt: skip

    def __init__(self, title: str, value: Any) -> None:
        super().__init__()
        self._title = title
        self.text = value if isinstance(value, str) else pretty(value)
        self._lines: list[Line] = (
            [(TextSpan(safe(text), "plain"),) for text in value.split("\n")]
            if isinstance(value, str)
            else json_lines(value)
        )

    @property
    def view(self) -> LineView:
        return self.query_one(LineView)

    def compose(self) -> ComposeResult:
        with framed(Vertical(), self._title):
            yield LineView()
            yield HiddenInput("search")

    def on_mount(self) -> None:
        if self.query(LineView):  # missing if the app ended before this screen was composed
            self.view.focus()
            self.begin()

    def begin(self) -> None:
        """Show the text in a box of its size."""
        self.view.show(self._lines)
        box, size = self.query_one(Vertical), self.view.virtual_size
        box.styles.width, box.styles.height = size.width + _FRAME, size.height + _FRAME - 1
        self.show_keys("")

    def show_keys(self, found: str) -> None:
        status = line((f"{found} · " if found else "", "$accent"))
        self.query_one(Vertical).border_subtitle = status + key_hints(*self.hints)

    def action_search(self) -> None:
        self.query_one(HiddenInput).open()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.show_keys(self.view.search(event.value))

    @on(Input.Submitted)
    def action_leave(self) -> None:
        """Leave the search for the text, or close the dialog."""
        field = self.query_one(HiddenInput)
        if field.is_open:
            field.close()
            self.view.focus()
        else:
            self.dismiss()

    @on(LineView.Searched)
    def _searched(self) -> None:
        self.show_keys(self.view.search_status)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.text)
        self.notify("to the clipboard: the whole text")


def pretty(value: Any) -> str:
    """Return JSON indented by two spaces."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


class PagesScreen(Dialog[None], bindings="pages"):
    """Shows one of `pages` (title → text); `y` shows the next."""

    DEFAULT_CSS = """
    PagesScreen > VerticalScroll { width: 90%; max-height: 90%; }
    """

    def __init__(self, title: str, pages: dict[str, str]) -> None:
        super().__init__()
        self._title = title
        self._pages = pages
        self._names = list(pages)
        self.at = 0

    @property
    def text(self) -> str:
        return self._pages[self._names[self.at]]

    def compose(self) -> ComposeResult:
        hints = ("pages.next", "next form"), ("pages.copy", "copies"), ("pages.close", "closes")
        with framed(VerticalScroll(), self._title, *hints):
            yield Static("", markup=False)

    def on_mount(self) -> None:
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._entitle)  # once the box has its new width

    def action_turn(self, step: int) -> None:
        self.at = (self.at + step) % len(self._names)
        self._show()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.text)
        self.notify(f"copied: {self._names[self.at]}")

    def _entitle(self) -> None:
        """Show the names of all pages beside the title, which is cut to leave them room."""
        box = self.query_one(VerticalScroll)
        names = [
            (f" {name} ", "reverse bold" if place == self.at else "$ink-muted")
            for place, name in enumerate(self._names)
        ]
        room = box.size.width - sum(cell_len(name) for name, _ in names) - 4
        title = line((self._title, "$ink-strong")).truncate(max(8, room), ellipsis=True)
        box.border_title = Content.assemble(title, "  ", line(*names))

    def _show(self) -> None:
        self._entitle()
        shown = (safe(text.expandtabs(4)) for text in self.text.split("\n"))
        self.query_one(Static).update(Content("\n".join(shown)))
        self.query_one(VerticalScroll).scroll_home(animate=False)


STEP_BYTES = 64 * 1024
MOST_BYTES = 16 * STEP_BYTES  # shown of one answer; the rest needs curl
_AT_ONCE = 8 * 1024  # bytes formatted before other tasks have their turn
FORMS = ("JSON", "YAML")


def sent_as(selection: Selection, form: str) -> tuple[str, str]:
    """Return path and Accept header that request a read's answer as JSON or YAML; a Table stays one."""
    _, semicolon, target = selection.accept.partition(";")
    accept = f"application/{form.lower()}{semicolon}{target}"
    mark = "&" if "?" in selection.target else "?"
    return selection.target + (f"{mark}pretty=true" if form == FORMS[0] else ""), accept


class BodyScreen(TextScreen, bindings="response body"):
    """Shows a server's answer to `selection`, as JSON or YAML.

    The answer is read only as far as it is shown; for the rest the server has to wait.
    """

    hints = (("body.more", "more"), ("body.view", "YAML or JSON"), *TextScreen.hints)

    def __init__(self, client: ApiClient, selection: Selection) -> None:
        super().__init__(f"body of GET {selection.target}", "")
        self._client = client
        self._selection = selection
        self._form = FORMS[0]
        self._shown = 0  # bytes
        self._state = ""  # how far the answer has been read
        self._more = asyncio.Event()

    def begin(self) -> None:
        box = self.query_one(Vertical)
        box.styles.width = box.styles.height = "90%"
        self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        """Send the read and show its answer step by step."""
        self.text, self._shown = "", 0
        self.view.show([])
        self._show_state("sent")
        path, accept = sent_as(self._selection, self._form)
        body, decode = bytearray(), codecs.getincrementaldecoder("utf-8")("replace").decode
        problem = ""
        try:
            async with aclosing(self._client.read(path, accept, Received())) as pieces:
                async for piece in pieces:
                    body += piece
                    while len(body) >= _AT_ONCE:
                        self._append(decode(bytes(body[:_AT_ONCE])), _AT_ONCE)
                        del body[:_AT_ONCE]
                        await (asyncio.sleep(0) if self._shown % STEP_BYTES else self._wait_for_more())
        except RefusedError as error:
            body[:] = error.content[:STEP_BYTES]
            problem = f"HTTP {error.status}"
        except ClientError as error:
            problem = str(error)
        self._append(decode(bytes(body), True), len(body))
        self._show_state(problem or "complete")

    async def _wait_for_more(self) -> None:
        """Wait until the user requests more; forever once MOST_BYTES are shown."""
        full = self._shown >= MOST_BYTES
        self._show_state("the rest is for curl" if full else "more follows")
        self._more.clear()
        await self._more.wait()

    def _append(self, text: str, size: int) -> None:
        self._shown += size
        open_line = self.text.rpartition("\n")[2]
        self.view.extend(text_lines(open_line + text, json=self._form == FORMS[0]), instead=bool(self.text))
        self.text += text

    def _show_state(self, state: str) -> None:
        self._state = f"{long_bytes(self._shown)} of {self._form}, {state}" if self._shown else state
        self.show_keys(self.view.search_status)

    def show_keys(self, found: str) -> None:
        super().show_keys(" · ".join(part for part in (self._state, found) if part))

    def action_more(self) -> None:
        if self._shown < MOST_BYTES:
            self._more.set()

    def action_turn_view(self) -> None:
        """Send the read again in the other form."""
        self._form = FORMS[1 - FORMS.index(self._form)]
        self._read()
