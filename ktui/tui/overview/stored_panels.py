"""Details of a row of the tables over etcd, and of etcd's own state."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from textual.content import Content

from ktui.core.format import integer, long_bytes, many, percent, rate, short_bytes
from ktui.core.routes import badge_of_route
from ktui.core.state import State
from ktui.tui.keys.hints import key_hints
from ktui.tui.overview.stored_reads import load_of_reading, load_of_watch
from ktui.tui.widgets.lines import first_lines, line

if TYPE_CHECKING:
    from ktui.core.stored.possible_lists import PossibleList

MUTED, STRONG = "$ink-muted", "bold $ink-strong"
DEFRAG_SHARE = 0.5  # of the file that is free: from here on a defragmentation is worth a word
_FORM = {
    "resourceVersionMatch=Exact": "at a revision of which the caches have no snapshot",
    "resourceVersion=0": "from the cache as it is, in every version",
    "labelSelector": "a selector that no index serves: all objects are read",
    "limit": "one page",
}


def list_content(row: PossibleList | None, width: int, height: int) -> Content:
    """A LIST that could be sent, under each version."""
    if row is None:
        return line(("nothing counted in etcd yet", MUTED))
    about = next((text for part, text in _FORM.items() if part in row.target), "the whole collection")
    size = f", {long_bytes(row.stored.bytes)}" if row.stored.bytes else ""
    told = [
        line(("LIST ", MUTED), (row.target, STRONG)),
        line((f"{about} · stored: {many(row.stored.count, 'object')}{size}", MUTED)),
    ]
    for cost in row.costs:
        badge = badge_of_route(cost.route)
        mark = ("▸ ", "$accent") if cost is row.own else ("  ", "")
        seats = many(cost.seats, "seat") if cost.seats is not None else "seats unknown"
        read = f"reads {many(cost.objects, 'object')}"
        told.append(
            line(mark, (f"{cost.version:<5} ", MUTED), (f"{badge.letter} ", badge.style),
                 (f"{badge.word}: {read}", "$foreground"),
                 (f", {long_bytes(cost.bytes)}" if cost.bytes else "", "$foreground"), (f", {seats}", MUTED))
        )  # fmt: skip
    told.append(
        key_hints(
            ("overview.compare", "sends it and a cheaper variant"), ("table.open", "takes it to the Lab")
        )
        + line((" · predicted: caches ready", MUTED))
    )
    return first_lines(told, width, height)


def etcd_state_content(state: State, width: int, height: int) -> Content:
    """Revision, compaction, the file and what of it is free."""
    head = state.head
    free = max(0, head.db_bytes - head.in_use_bytes) if head.in_use_bytes else None
    told = [_pair("revision", f"{integer(head.revision)}, {rate(state.revisions_per_second)}")]
    if head.compact:
        kept = max(0, head.revision - head.compact)
        told.append(_pair("compacted", f"to {integer(head.compact)}: {integer(kept)} revisions kept"))
    else:
        told.append(_pair("compacted", "by no kube-apiserver: no compact_rev_key"))
    if head.db_bytes:
        told.append(_pair("file", long_bytes(head.db_bytes)))
    if free is not None:
        share = free / head.db_bytes
        style = "bold $warning" if share >= DEFRAG_SHARE else "$foreground"
        told.append(
            line((f"{'free':<10}", MUTED), (f"{short_bytes(free)}B, {percent(share)} of it", style),
                 (": a defragmentation gives it back" if share >= DEFRAG_SHARE else "", MUTED))
        )  # fmt: skip
    if not state.progress:
        told.append(_pair("progress", "no progress requests: consistent reads stay on etcd"))
    if state.health is not None and (state.health.alarm or state.health.detail):
        told.append(line((state.health.alarm or state.health.detail, "bold $error")))
    return first_lines(told, width, height)


def _pair(name: str, text: str) -> Content:
    return line((f"{name:<10}", MUTED), (text, "$foreground"))


def load_content(state: State, *, watch: bool, width: int, height: int) -> Content:
    """What reading values, or watching, asks of etcd; said before it is started."""
    text = load_of_watch(state) if watch else load_of_reading(state)
    told = [line((part, MUTED)) for part in textwrap.wrap(text, max(20, width))]
    told.append(key_hints(("overview.read", "starts and stops it"), ("overview.ranking", "next table")))
    return first_lines(told, width, height)
