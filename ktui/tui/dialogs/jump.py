"""The menu of places related to the row under the cursor, or to one revision of etcd (`:rv N`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.format import integer, many
from ktui.core.references import Object, Place, Reference, RequestRef
from ktui.core.state import State
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.navigation.related import RelatedPlace, at_revision, related_places
from ktui.tui.widgets.lines import line, pad


class JumpScreen(Dialog[Place | None]):
    """Returns the chosen place: by its letter, enter or a click; None if closed."""

    DEFAULT_CSS = """
    JumpScreen OptionList {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .option-list--option-highlighted { background: $cursor; color: $ink-strong; text-style: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.JUMP

    def __init__(self, title: str, places: Sequence[RelatedPlace]) -> None:
        super().__init__()
        self._title = title
        self.places = tuple(places)

    def compose(self) -> ComposeResult:
        box = Vertical()
        box.border_title = line(self._title)
        box.border_subtitle = line("letter or enter opens · ", key_hints(("jump.close", "stays")).plain)
        with box:
            yield OptionList(*(Option(_prompt(item), id=str(at)) for at, item in enumerate(self.places)))

    def on_key(self, event: events.Key) -> None:
        chosen = next((item for item in self.places if item.letter == event.character), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.place)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.places[event.option_index].place)

    def action_cursor(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()


def _prompt(item: RelatedPlace) -> Content:
    return line((f" {item.letter}  ", "bold $accent"), pad(item.title, 26), (item.about, "$ink-muted"))


def open_revision(app: Dashboard, revision: int) -> None:
    """Look a revision of etcd up in telemetry and the event buffers of the caches (`:rv N`).

    Offers the places of what happened at it, or says why there are none.
    """
    app.run_worker(_open(app, revision), group="revision", exclusive=True)


async def _open(app: Dashboard, revision: int) -> None:
    found = [*await _changed(app, revision), *at_revision(revision, app.state)]
    lines = related_places(found, app.state)
    if not lines:
        app.notify(_nothing(revision, app.state), title=f"revision {integer(revision)}", markup=False)
        return
    app.push_screen(JumpScreen(_title(revision, found), lines), lambda place: _go(app, place))


def _go(app: Dashboard, place: Place | None) -> None:
    if place is not None:
        app.go_to(place)


async def _changed(app: Dashboard, revision: int) -> list[Reference]:
    """Return the object that changed at the revision, from the event buffers; [] if none holds it."""
    client = app.client
    if client is None:
        return []
    for row in list(app.state.caches.values()):
        if not row.live or not row.cache.oldest_rv <= revision <= row.rv:
            continue
        try:
            page = await KtuiApi(client).cached_events(row.resource, revision=revision, limit=1)
        except ClientError as error:
            app.notify(str(error), title=row.resource, severity="warning", markup=False)
            continue
        hit = next((event for event in page.events if event.revision == revision), None)
        if hit is not None:
            return [Object(row.resource, hit.namespace, hit.name, revision)]
    return []


def _title(revision: int, found: list[Reference]) -> str:
    changed = next((item for item in found if isinstance(item, Object)), None)
    answered = len({item.id for item in found if isinstance(item, RequestRef)})
    parts = [f"revision {integer(revision)}"]
    if changed is not None:
        parts.append(f"{changed.resource} {changed.text} changed")
    if answered:
        parts.append(f"{many(answered, 'answer')} at this revision")
    return " · ".join(parts)


def _nothing(revision: int, state: State) -> str:
    """Return why nothing is known of the revision."""
    head = state.head.revision
    if head and revision > head:
        return f"not reached yet: etcd's head is {integer(head)}"
    if revision <= state.head.compact:
        return f"compacted: etcd keeps only revisions after {integer(state.head.compact)}"
    behind = [row.resource for row in state.caches.values() if row.live and row.rv < revision]
    if behind:
        return f"in no event buffer, and these caches have not reached it: {', '.join(sorted(behind)[:3])}"
    return "no longer in any event buffer, and no request in the log was answered at it"
