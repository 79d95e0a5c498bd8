"""One key: its metadata, the decoded object, the stored bytes; or the change between two revisions."""

from __future__ import annotations

import textwrap
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.contract.etcd import KeyDetail
from ktui.core.format import integer, many, safe
from ktui.core.object_lines import Line, TextSpan, hex_lines, hex_width, json_lines, yaml_lines
from ktui.tui.etcd.description import about_change, about_key
from ktui.tui.etcd.history import Difference
from ktui.tui.etcd.places import is_secret
from ktui.tui.etcd.sizes import size_lines
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.line_view import LineView
from ktui.tui.widgets.lines import line, lines
from ktui.tui.widgets.panel import Panel

VIEWS = ("yaml", "json", "hex", "sizes")


class ValueView(Vertical):
    """Metadata on top; below, object and bytes together, or one of them in a small terminal."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.detail: KeyDetail | None = None
        self.change: tuple[KeyDetail | None, Difference] | None = None
        self.view = VIEWS[0]
        self._revealed = False

    def compose(self) -> ComposeResult:
        yield Panel(id="meta")
        with Container(id="views"):
            yield LineView(id="object")
            yield LineView(id="hex")

    def on_mount(self) -> None:
        self.clear()

    def on_resize(self) -> None:
        if self.detail is not None:
            self.call_after_refresh(self._paint_views)

    @property
    def redacted(self) -> bool:
        """True if values are hidden that `reveal` would show."""
        detail = self.detail
        return detail is not None and not self._revealed and (detail.redacted or is_secret(detail.key))

    # What is shown.

    def clear(self) -> None:
        self.detail = self.change = None
        self._meta(line(("choose a key to see what is stored", "$ink-muted")))
        self._paint_views()

    def reading(self, key: str) -> None:
        """Say which key is being read; a value that is shown stays until then."""
        if self.detail is None:
            self._meta(line(("reading ", "$ink-muted"), (key, "$foreground")))

    def fail(self, problem: str) -> None:
        self.clear()
        self.query_one("#meta", Panel).show(lambda width, _: _wrapped(problem, width))

    def show(self, detail: KeyDetail, *, revealed: bool) -> None:
        self.detail, self.change, self._revealed = detail, None, revealed
        self.query_one("#meta", Panel).show(lambda width, height: about_key(detail, width, height))
        self._paint_views()

    def show_change(
        self, older: KeyDetail | None, newer: KeyDetail, change: Difference, *, revealed: bool
    ) -> None:
        """Show the change from one revision to another."""
        self.detail, self.change, self._revealed = newer, (older, change), revealed
        self.query_one("#meta", Panel).show(lambda width, _: about_change(older, newer, width))
        self._paint_views()

    def turn(self) -> None:
        """Switch to the next view: YAML, JSON, stored bytes, sizes by field."""
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self.screen.set_class(self.view == "hex", "-hex")
        self.call_after_refresh(self._paint_views)

    def focus_view(self) -> None:
        alone = self.view == "hex" and self._one_view and self.change is None
        self.query_one("#hex" if alone else "#object", LineView).focus()

    # Painting.

    @property
    def _one_view(self) -> bool:
        return not self.screen.has_class("-wide")

    def _meta(self, content: Content) -> None:
        self.query_one("#meta", Panel).show(lambda width, _: content)

    def _paint_views(self) -> None:
        detail = self.detail
        bytes_view = self.query_one("#hex", LineView)
        self.border_title = line(self._title())
        if detail is None:
            self.query_one("#object", LineView).show([])
            bytes_view.show([])
            return
        self.query_one("#object", LineView).show(self._changed() if self.change else self._object(detail))
        raw = bytes.fromhex(detail.hex)
        width = hex_width(bytes_view.scrollable_content_region.width)
        bytes_view.show(
            hex_lines(raw, detail.raw_bytes, width) if raw else _note("the stored bytes are hidden too")
        )

    def _title(self) -> str:
        name = f"value · {self.view}"
        if self.change is not None:
            change = self.change[1]
            name = f"change · +{integer(change.added)} −{many(change.removed, 'line')}"
        return f"{name} · redacted, {key_of('etcd.reveal')} reveals" if self.redacted else name

    def _changed(self) -> list[Line]:
        assert self.change is not None
        if self.change[1].lines:
            return self.change[1].lines
        return _note("no visible difference" if self.redacted else "the same in both revisions")

    def _object(self, detail: KeyDetail) -> list[Line]:
        if self.view == "sizes":
            rendered = size_lines(detail.sizes, detail.raw_bytes) if detail.sizes else None
            return rendered or _note("its fields cannot be separated")
        if detail.json is None:
            return self._undecoded(detail)
        shown: Any = detail.json
        return json_lines(shown) if self.view == "json" else yaml_lines(shown)

    def _undecoded(self, detail: KeyDetail) -> list[Line]:
        """Return a value that is no object as text, or the reason why it cannot be decoded, and its bytes."""
        if detail.text:
            return [(TextSpan(safe(text), "string"),) for text in detail.text.splitlines()]
        cells = self.query_one("#object", LineView).scrollable_content_region.width
        why = detail.error or f"a value in {detail.encoding or 'an unknown encoding'}"
        rendered: list[Line] = [(TextSpan(part, "dim"),) for part in textwrap.wrap(safe(why), max(20, cells))]
        raw = bytes.fromhex(detail.hex)
        return (
            [*rendered, (TextSpan("", "plain"),), *hex_lines(raw, detail.raw_bytes, hex_width(cells))]
            if raw
            else rendered
        )


def _wrapped(problem: str, width: int) -> Content:
    return lines([line((part, "$error")) for part in textwrap.wrap(safe(problem), max(10, width))])


def _note(text: str) -> list[Line]:
    return [(TextSpan(text, "dim"),)]
