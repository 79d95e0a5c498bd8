"""One key: its metadata, the decoded object, the stored bytes; or the change between two revisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from textual.containers import Container, Vertical
from textual.content import Content

from ktui.contract.etcd_documents import FieldSize, KeyDetail
from ktui.core.format import duration, integer, long_bytes, many, percent, safe
from ktui.core.object_lines import Line, TextSpan, hex_lines, hex_width, json_lines, yaml_lines
from ktui.tui.charts.bars import bar
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.line_view import LineView
from ktui.tui.widgets.lines import labelled, line, lines, longest_that_fits, wrap, wrapped
from ktui.tui.widgets.panel import Panel


def lease_id(lease: int) -> str:
    """Return a lease as etcdctl writes it: in hexadecimal, or `–` for none, which is 0."""
    return "–" if lease == 0 else f"{lease & 0xFFFF_FFFF_FFFF_FFFF:x}"


def is_secret(key: str) -> bool:
    """Return True for the key of a Secret: `/registry/secrets/…` under any etcd prefix."""
    return "/secrets/" in key


_BAR = 8  # cells of a bar for 100%
_labelled = partial(labelled, 9)


def heaviest(sizes: Sequence[FieldSize]) -> FieldSize | None:
    """Return the largest second-level field (`metadata.managedFields`); None if there is none."""
    return max((field for field in sizes if "." in field.path), key=lambda field: field.size, default=None)


def size_lines(sizes: Sequence[FieldSize], total: int) -> list[Line]:
    """Return what takes the space in a value: share, bytes and name of each field, and the total.

    `sizes` has the largest first; each field is followed by its inner fields.
    """
    lines: list[Line] = []
    for field in sizes:
        if "." in field.path:
            continue
        lines.append(_line(field, field.path, ""))
        below = [inner for inner in sizes if inner.path.startswith(f"{field.path}.")]
        lines += [_line(inner, inner.path.removeprefix(f"{field.path}."), "  ") for inner in below]
    lines.append((TextSpan(f"{'':>4} {'':{_BAR}} {integer(total):>9}  stored", "dim"),))
    return lines


def _line(field: FieldSize, name: str, indent: str) -> Line:
    drawn = bar(field.share, _BAR)
    return (
        TextSpan(f"{percent(field.share):>4} ", "number" if not indent else "dim"),
        TextSpan(drawn, "literal" if not indent else "dim"),
        TextSpan(" " * (_BAR - len(drawn)), "plain"),
        TextSpan(f" {integer(field.size):>9}  ", "plain" if not indent else "dim"),
        TextSpan(indent + name, "key" if not indent else "plain"),
    )


NOT_ASKED = (", TTL not requested: read-only mode sends only Range, Watch, Status", ", TTL not requested")


def about_key(detail: KeyDetail, width: int, height: int) -> Content:
    """Return a key's type, revisions, and in a panel that is not low its lease and the watch cache's copy."""
    stored = f" · {detail.encoding or 'unknown encoding'} · {long_bytes(detail.raw_bytes)} stored"
    rows = [
        line((key_tail(detail.key, width), "bold $ink-strong")),
        line((detail.type_name or "not a Kubernetes object", "$foreground"), (stored, "$ink-muted")),
    ]
    version = f" (version {integer(detail.version)})" if detail.version else ""
    if height < 5:
        left = f" · TTL {duration(detail.remaining)}" if detail.remaining else ""
        at = (f"rev {integer(detail.mod_revision)}", "$foreground")
        runs = [at, (version, "$ink-muted"), (left, "$route-wait")]
        created = (f" · created at {integer(detail.create_revision)}", "$ink-muted")
        rows.append(longest_that_fits([line(*runs, created), line(*runs)], width))
    else:
        rows.append(_revision("created", detail.create_revision))
        rows.append(_revision("changed", detail.mod_revision, version))
        rows += [_lease(detail, width), _cache(detail)]
        if (found := heaviest(detail.sizes)) is None:
            rows.append(line(""))
        else:
            share = f" is {percent(found.share)} of the object"
            rows.append(line((found.path, "$foreground"), (share, "$ink-muted")))
    return lines(rows)


def about_change(older: KeyDetail | None, newer: KeyDetail, width: int, _height: int) -> Content:
    """Return two revisions of a key and their sizes, for the lines above their difference."""
    rows = [line((key_tail(newer.key, width), "bold $ink-strong"))]
    if older is None:
        rows.append(line(("the oldest revision in etcd: shown in full", "$ink-muted")))
        grown = newer.raw_bytes
    else:
        rows.append(_revision("from", older.mod_revision, f" · {long_bytes(older.raw_bytes)}"))
        grown = newer.raw_bytes - older.raw_bytes
    change = f" · {long_bytes(newer.raw_bytes)} ({grown:+,})".replace("-", "−")
    rows.append(_revision("to", newer.mod_revision, change))
    return lines(rows)


def _lease(detail: KeyDetail, width: int) -> Content:
    if not detail.lease:
        return _labelled("lease", ("none: kept until deleted", "$ink-muted"))
    if detail.ttl is None:
        lease = (lease_id(detail.lease), "$foreground")
        return longest_that_fits([_labelled("lease", lease, (why, "$ink-muted")) for why in NOT_ASKED], width)
    left = "ended" if detail.ttl < 0 else f"{duration(detail.ttl)} left"
    return _labelled("lease", (lease_id(detail.lease), "$foreground"), (f", {left}", "$route-wait"))


def _cache(detail: KeyDetail) -> Content:
    copy = detail.cache
    if copy is None:
        return _labelled("cache", ("not filled: not compared", "$ink-muted"))
    at = f" at RV {integer(copy.cache_rv)}"
    if copy.same:
        return _labelled("cache", ("= same bytes", "$success"), (at, "$ink-muted"))
    if not copy.rv:
        return _labelled("cache", ("≠ missing", "$warning"), (at, "$ink-muted"))
    holds = f"≠ at RV {integer(copy.rv)}" if copy.rv != detail.mod_revision else "≠ other bytes"
    return _labelled("cache", (holds, "$warning"), (at, "$ink-muted"))


def _revision(label: str, revision: int, more: str = "") -> Content:
    return _labelled(label, (f"at revision {integer(revision)}", "$foreground"), (more, "$ink-muted"))


def key_tail(key: str, width: int) -> str:
    """Return the end of a key that is too long, as its beginning is that of its neighbours."""
    return key if len(key) <= width else f"…{key[1 - width :]}"


VIEWS = ("yaml", "json", "hex", "sizes")


class ValueView(Vertical):
    """Metadata on top; below, object and bytes together, or one of them in a small terminal."""

    def __init__(self) -> None:
        self._about = Panel(id="meta")
        self._object_view, self._bytes_view = LineView(id="object"), LineView(id="hex")
        views = Container(self._object_view, self._bytes_view, id="views")
        super().__init__(self._about, views, id="value-box", classes="box")
        self.detail: KeyDetail | None = None
        self.change: tuple[KeyDetail | None, list[Line]] | None = None
        self.view = VIEWS[0]
        self._revealed = False

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
        self._about.show(lambda width, _: lines(wrapped(problem, width, "$error")))

    def show(
        self, detail: KeyDetail, *, revealed: bool, change: tuple[KeyDetail | None, list[Line]] | None = None
    ) -> None:
        """Show a key as it is, or how it has changed: the revision before (None: no such), the difference."""
        self.detail, self.change, self._revealed = detail, change, revealed
        build = partial(about_key, detail) if change is None else partial(about_change, change[0], detail)
        self._about.show(build)
        self._paint_views()

    def turn(self) -> None:
        """Switch to the next view: YAML, JSON, stored bytes, sizes by field."""
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self.screen.set_class(self.view == "hex", "-hex")
        self.call_after_refresh(self._paint_views)

    def focus_view(self) -> None:
        alone = self.view == "hex" and not self.screen.has_class("-wide") and self.change is None
        (self._bytes_view if alone else self._object_view).focus()

    # Painting.

    def _meta(self, content: Content) -> None:
        self._about.show(lambda width, _: content)

    def _paint_views(self) -> None:
        detail = self.detail
        self.border_title = line(self._title())
        if detail is None:
            self._object_view.show([])
            self._bytes_view.show([])
            return
        self._object_view.show(self._changed() if self.change else self._object(detail))
        raw = bytes.fromhex(detail.hex)
        width = hex_width(self._bytes_view.scrollable_content_region.width)
        self._bytes_view.show(
            hex_lines(raw, detail.raw_bytes, width) if raw else _note("the stored bytes are hidden too")
        )

    def _title(self) -> str:
        name = f"value · {self.view}"
        if self.change is not None:
            roles = Counter(changed[0].role for changed in self.change[1])
            name = f"change · +{integer(roles['added'])} −{many(roles['removed'], 'line')}"
        return f"{name} · redacted, {key_of('etcd.reveal')} reveals" if self.redacted else name

    def _changed(self) -> list[Line]:
        assert self.change is not None
        if self.change[1]:
            return self.change[1]
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
        cells = self._object_view.scrollable_content_region.width
        why = detail.error or f"a value in {detail.encoding or 'an unknown encoding'}"
        rendered: list[Line] = [(TextSpan(part, "dim"),) for part in wrap(why, max(20, cells))]
        raw = bytes.fromhex(detail.hex)
        if raw:
            rendered += [(TextSpan("", "plain"),), *hex_lines(raw, detail.raw_bytes, hex_width(cells))]
        return rendered


def _note(text: str) -> list[Line]:
    return [(TextSpan(text, "dim"),)]
