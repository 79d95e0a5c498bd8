"""All uses of Textual's private API, with `subclassing` and `looks.themed`; tests fail when a release
changes it.

No other module of the dashboard may name a private attribute of Textual.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._context import active_app
from textual._styles_cache import StylesCache
from textual.app import App
from textual.cache import FIFOCache
from textual.events import Resize
from textual.message import Message
from textual.message_pump import MessagePump
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.strip import Strip
from textual.worker import WorkerFailed

from ktui.printable import escaped, is_safe, with_few_marks
from ktui.tui.subclassing import look_once_at_classes

_MOST_COPIED = 1 << 20  # characters: some terminals run pasted text as commands
_BORDER_STYLES = "get_inner_outer"


def _release_removed_widgets() -> None:
    """Let Textual cache borders' styles by their colours alone.

    Its own cache is keyed by the widget's painted lines, too: a thousand removed widgets
    stay in memory, and each full garbage collection goes through their lines.
    """
    made = partial(getattr(StylesCache, _BORDER_STYLES).__wrapped__, StylesCache)
    setattr(StylesCache, _BORDER_STYLES, staticmethod(lru_cache(1024)(made)))


MAKE_STRIP = Strip.__init__  # Textual's, with which a test compares


def _make_caches_when_used() -> None:
    """Let Textual make a strip's caches when they are used.

    A strip has seven, which take four fifths of the time to make it. Most strips are a piece of a line
    that is painted once.
    """
    strip = Strip([])
    sizes = {
        name: cache._maxsize
        for name in Strip.__slots__
        if isinstance(cache := getattr(strip, name), FIFOCache)
    }

    def make(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cell_length
        self._render_cache = self._link_ids = self._cell_count = None

    def make_cache(self: Strip, name: str) -> FIFOCache[Any, Any]:
        if name not in sizes:
            raise AttributeError(name)
        cache: FIFOCache[Any, Any] = FIFOCache(sizes[name])
        setattr(self, name, cache)
        return cache

    Strip.__init__ = make  # type: ignore[method-assign]
    Strip.__getattr__ = make_cache  # type: ignore[attr-defined]


_release_removed_widgets()
_make_caches_when_used()
look_once_at_classes()


def running_app() -> App[Any] | None:
    """Return the app that handles the current message; None outside an app."""
    return active_app.get(None)


def call_after(pump: MessagePump, seconds: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
    """Call back once, between two messages of `pump`; cancelling the handle prevents it.

    Textual's `set_timer` never calls back if the process is suspended for `seconds` as the timer begins to
    wait (a busy machine, garbage collection): it takes the only tick for one that was missed.
    """
    return asyncio.get_running_loop().call_later(seconds, pump.call_next, callback)


class SafeApp(App[int]):
    """An app in which no text can control the terminal; it keeps the exception that ended it.

    All that is painted (contents, borders, titles, tooltips, notifications) passes through `_display` as
    strips of text and style. Control characters are replaced, and every cell keeps its place.
    """

    crash: BaseException | None = None  # for the runner: Textual would print it with all local variables

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, safe_update(renderable))

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Notify of a text. It is never markup, whatever a caller wishes: it may name things of a cluster."""
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        return escaped(super().export_screenshot(title=title, simplify=simplify), "\n\t")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy up to 1 MiB characters to the terminal's clipboard."""
        super().copy_to_clipboard(text[:_MOST_COPIED].encode("utf-8", "replace").decode())

    def on_resize(self, event: Resize) -> None:
        """Paint the whole screen again whenever the terminal reports its size.

        A terminal that became smaller and then as large as before has lost cells. Textual ignores a size that
        it knows; while an app is busy, it may learn of none of the sizes between.
        """
        if self._size == event.size and self.screen_stack:  # else Textual paints it all
            self.screen.refresh()

    def work_failed(self, error: Exception) -> None:
        """Called for an exception in a worker; the app goes on."""

    def _handle_exception(self, error: Exception) -> None:
        if isinstance(error, WorkerFailed) and isinstance(error.error, Exception):
            self.work_failed(error.error)
            return
        self.crash = self.crash or error
        super()._handle_exception(error)
        self._exit_renderables.clear()  # from an error with its own rendering

    def _fatal_error(self) -> None:
        self.bell()
        self._close_messages_no_wait()


def safe_update(update: RenderableType | None) -> RenderableType | None:
    """Return a compositor's update without anything that could control the terminal."""
    if isinstance(update, LayoutUpdate):
        return LayoutUpdate([list(map(safe_strip, line)) for line in update.strips], update.region)
    if isinstance(update, ChopsUpdate):
        chops = [
            {x: strip and safe_strip(strip) for x, strip in line.items()} if line else line
            for line in update.chops
        ]
        return ChopsUpdate(chops, update.spans, update.chop_ends)
    return update


def safe_strip(strip: Strip) -> Strip:
    """Return the strip itself, or one with the same cells, safe texts and no links."""
    if all(is_safe(text) and not (style and style.link) for text, style, _ in strip):
        return strip
    segments = []
    for text, style, control in strip:
        if style is not None and style.link:
            style = style.update_link(None)
        if not is_safe(text):
            kept = "".join(char if is_safe(char) else "?" * cell_len(char) for char in text)
            text = set_cell_size(with_few_marks(kept, ""), cell_len(text))
        segments.append(Segment(text, style, control))
    return Strip(segments, strip.cell_length)


class WholeScreen(Screen[None]):
    """A screen whose first frame is painted as a whole, once painting is allowed.

    Painting is off while an app starts or changes screens. Textual renders the new screen
    nevertheless, drops that frame, and then paints piece by piece what changes next.
    `call_after_refresh` does not wait for the first frame either; `Seen` reports it.
    """

    class Seen(Message):
        """The screen's first frame is on the terminal."""

    _seen_before = False

    def _compositor_refresh(self) -> None:
        if self.app._batch_count:
            self.refresh()
            return
        super()._compositor_refresh()
        if not self._seen_before:
            self._seen_before = True
            self.post_message(self.Seen())

    async def replace_by(self, screen: Screen[Any]) -> None:
        """Textual's `switch_screen`, also for a mode's first screen, which has no callback to drop."""
        self._push_result_callback(self, None)
        await self.app.switch_screen(screen)
