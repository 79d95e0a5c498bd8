"""Menus that lead elsewhere: what is related to a row or happened at a revision, reads to compare."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.format import integer, many
from ktui.core.ranking.rank_lines import shape_runs
from ktui.core.ranking.ranking import Group
from ktui.core.ranking.remedies import compare_group
from ktui.core.references import Object, Place, Reference, RequestRef
from ktui.core.state import State
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.dialog import Menu
from ktui.tui.navigation.related import RelatedPlace, at_revision, related_places
from ktui.tui.widgets.lines import line, pad


class JumpScreen(Menu[Place], bindings="jump"):
    """The related places, each by its letter."""

    def __init__(self, title: str, places: Sequence[RelatedPlace]) -> None:
        entries = []
        for item in places:
            about = pad(item.title, 26), (item.about, "$ink-muted")
            entries.append((item.letter, line((f" {item.letter}  ", "bold $accent"), *about), item.place))
        super().__init__(title, "letter or enter opens", ("jump.close", "stays"), entries)


def open_revision(app: Dashboard, revision: int) -> None:
    """Look a revision of etcd up in telemetry and the event buffers of the caches (`:rv N`).

    Offers the places of what happened at it, or says why there are none.
    """
    app.run_worker(_open(app, revision), group="revision", exclusive=True)


async def _open(app: Dashboard, revision: int) -> None:
    found = [*await _changed(app, revision), *at_revision(revision, app.state)]
    lines = related_places(found, app.state)
    if not lines:
        app.notify(_nothing(revision, app.state), title=f"revision {integer(revision)}")
        return
    changed = next((item for item in found if isinstance(item, Object)), None)
    answered = len({item.id for item in found if isinstance(item, RequestRef)})
    title = [f"revision {integer(revision)}"]
    title += [f"{changed.resource} {changed.text} changed"] if changed is not None else []
    title += [f"{many(answered, 'answer')} at this revision"] if answered else []
    chosen = await app.push_screen_wait(JumpScreen(" · ".join(title), lines))
    if chosen is not None:
        app.go_to(chosen)


async def _changed(app: Dashboard, revision: int) -> list[Reference]:
    """Return the object that changed at the revision, from the event buffers; [] if none holds it."""
    client = app.client
    for row in list(app.state.caches.values()):
        if client is None or not row.live or not row.cache.oldest_rv <= revision <= row.rv:
            continue
        try:
            page = await KtuiApi(client).cached_events(row.resource, revision=revision, limit=1)
        except ClientError as error:
            app.notify(str(error), title=row.resource, severity="warning")
            continue
        for hit in page.events:
            if hit.revision == revision:
                return [Object(row.resource, hit.namespace, hit.name, revision)]
    return []


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


class CompareDialog(Menu[Group], bindings="compare"):
    """The most expensive kinds of LISTs, each by its digit."""

    DEFAULT_CSS = """
    CompareDialog > Vertical { width: 100; }
    """


MOST = 9  # reads: one for each digit


def choose_read(app: Dashboard, resource: str = "") -> None:
    """Let the user choose one of the most expensive LISTs (of `resource`) and compare it in the Lab."""
    groups = [
        group
        for group in app.state.ranking.ranked()
        if group.key.shape.verb == "list"
        and group.failed < group.count
        and resource in ("", group.key.shape.resource)
    ][:MOST]
    if not groups:
        of = f" of {resource}" if resource else ""
        app.notify(f"no LIST{of} was answered yet")
        return
    entries = [
        (str(place), line((f"{place} ", "$accent"), (pad(group.key.client, 20) + " ", "$ink-strong"),
                          *shape_runs(group.key.shape)), group)
        for place, group in enumerate(groups, 1)
    ]  # fmt: skip
    title = "compare with a cheaper variant: the most expensive reads"
    hint, closes = "a digit or enter sends both", ("compare.close", "cancels")
    dialog = CompareDialog(title, hint, closes, entries)
    dialog.ask(app, lambda group: app.go_to(Place("lab", compare_group(group, app.state))))
