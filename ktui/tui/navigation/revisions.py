"""`:rv N`: what happened at one revision of etcd, from telemetry and the caches' event buffers."""

from __future__ import annotations

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.format import integer, many
from ktui.core.references import Object, Place, Reference, RequestRef
from ktui.core.state import State
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.jump import JumpScreen
from ktui.tui.navigation.related import at_revision, related_places


def open_revision(app: Dashboard, revision: int) -> None:
    """Look the revision up and offer the related places, or say why there are none."""
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
