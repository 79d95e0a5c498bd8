"""Details of a row of the tables over etcd, and of etcd's own state."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from textual.content import Content

from ktui.core.format import duration, integer, long_bytes, many, percent, rate, short_bytes
from ktui.core.live.routes import ResourceRoutes
from ktui.core.live.state import LiveState
from ktui.core.routes import badge_of_route
from ktui.core.state import State
from ktui.core.stored.sources import ResourceSources
from ktui.tui.keys.hints import key_hints
from ktui.tui.overview.stored_reads import load_of_reading, load_of_watch
from ktui.tui.widgets.lines import first_lines, line

if TYPE_CHECKING:
    from ktui.contract.etcd import Churn
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


def sources_title(live: LiveState) -> Content:
    """Which sources there are, each behind the letter that its figures have."""
    span = max((item.span for item in live.asked.values()), default=0.0)
    log = f"audit log {duration(span)}" if live.asked else "no audit log"
    series = [series for row in live.replicas.values() for series in row.resources.values()]
    scraped = max((len(item.points) for item in series), default=0)
    metrics = "no metrics" if not scraped else "one scrape: rates need two" if scraped < 2 else "last minute"
    parts = zip("ame", (log, metrics, "etcd"), strict=True)
    return line(" · ").join([line((f"{letter} ", "$accent"), (text, MUTED)) for letter, text in parts])


def sources_content(row: ResourceSources | None, width: int, height: int) -> Content:
    """One resource by all sources, each figure behind the source that it is from."""
    if row is None:
        return line(("no LIST in metrics or log yet", MUTED))
    asked, stored, routes = row.asked, row.stored, row.routes
    counted = (
        f"{many(asked.lists, 'LIST')}, {many(asked.requests, 'request')} in {duration(asked.span)}"
        if asked is not None
        else "not in the audit log"
    )
    told = [_pair("a log", counted)]
    if asked is not None and asked.clients:
        shares = [f"{item.client} {percent(item.requests / asked.requests)}" for item in asked.clients]
        told += _pairs("  by", ", ".join(shares), width)[: max(1, height - 5)]
    told += _pairs("m served", _served(routes), width)
    kept = "no keys"
    if stored is not None and stored.count:
        size = f"{'' if stored.exact else 'about '}{long_bytes(stored.bytes)}" if stored.bytes else "not read"
        kept = f"{many(stored.count, 'key')}, {size}"
    told.append(_pair("e stored", kept))
    if row.cost and routes is not None and stored is not None:
        read = f"{routes.per_second(routes.fetched) or 0.0:,.1f} objects a second"
        each, whole = long_bytes(stored.bytes // stored.count), long_bytes(int(row.cost))
        told.append(_pair("m × e", f"{read} × {each} = {whole} a second"))
    return first_lines(told, width, height)


def _pairs(name: str, text: str, width: int) -> list[Content]:
    """As `_pair`, in as many lines as it takes."""
    first, *others = textwrap.wrap(text, max(20, width - 10), break_on_hyphens=False)
    return [_pair(name, first), *(_pair("", more) for more in others)]


def _served(routes: ResourceRoutes | None) -> str:
    if routes is None or not routes.seconds:
        return "not known yet: rates need two scrapes" if routes is not None else "not in the metrics"
    counts = [
        (routes.cache.lists, "LISTs from the cache"),
        (routes.etcd.lists, "from etcd"),
        (routes.fetched, "objects read"),
        (routes.returned, "returned"),
    ]
    words = ", ".join(f"{'?' if count is None else integer(round(count))} {text}" for count, text in counts)
    return f"{words} in {duration(routes.seconds)}"


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


def leases_content(churn: Churn, width: int, height: int) -> Content:
    """The leases of the changed keys, with the most keys first, and how long they last."""
    told = []
    for one in churn.lease_list:
        plural = one.resource.partition(".")[0] or "no resource"
        left = "TTL ?" if one.ttl is None else "expired" if one.ttl < 0 else f"expires in {duration(one.ttl)}"
        keys = f"{many(one.keys, 'changed key')} of {plural}"
        told.append(line((f"{one.lease:<16x}  ", "$route-wait"), (f"{left}, {keys}", "$foreground")))
    if any(one.ttl is None for one in churn.lease_list):
        told.insert(0, line(("TTL ? : LeaseTimeToLive is not sent to an etcd that is only read", MUTED)))
    if len(told) > height and len(told) > 1:
        told[height - 1 :] = [line((f"{many(churn.leases, 'lease')} in all", MUTED))]
    return first_lines(told, width, height)


def load_content(state: State, *, watch: bool, width: int, height: int) -> Content:
    """What reading values, or watching, asks of etcd; said before it is started."""
    text = load_of_watch(state) if watch else load_of_reading(state)
    told = [line((part, MUTED)) for part in textwrap.wrap(text, max(20, width))]
    told.append(key_hints(("overview.read", "starts and stops it"), ("overview.ranking", "next table")))
    return first_lines(told, width, height)
