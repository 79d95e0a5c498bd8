"""The response body of a read that is sent again: 64 kB first, more on demand."""

from __future__ import annotations

import asyncio
import codecs
from contextlib import aclosing
from typing import TYPE_CHECKING

from textual import work
from textual.containers import Vertical

from ktui.client.api import Received, RefusedError
from ktui.client.connection import ClientError
from ktui.core.format import long_bytes
from ktui.core.object_lines import text_lines
from ktui.core.references import Selection
from ktui.tui.dialogs.text import TextScreen

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

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
