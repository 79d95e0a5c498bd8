"""Details of the selected row of stored data, the load of reading it, and etcd's own state."""

from __future__ import annotations

from functools import partial

from textual.content import Content

from ktui.contract.etcd_documents import Churn
from ktui.core.format import duration, integer, long_bytes, many, percent, rate
from ktui.core.live.live_state import LiveState
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.rows import badge_of_route
from ktui.core.state import State
from ktui.core.stored import PossibleList, ResourceSources
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import broken, first_lines, labelled, line, longest_that_fits, wrapped


def load_of_reading(state: State, prefix: str = "") -> str:
    """Return a sentence on the load on etcd of reading all values below `prefix`."""
    keys, size = _held(state, prefix)
    under = prefix or "all prefixes"
    return (
        f"Reads the values under {under} once: {many(keys, 'key')}, about {long_bytes(size)}, in Ranges of "
        "at most 512 kB, one after the other. Values of Secrets are left out. Nothing is written; x stops it."
    )


def load_of_watch(state: State, prefix: str = "") -> str:
    """Return a sentence on a watch's load on etcd, predicted from its revisions and mean object size."""
    keys, size = _held(state, prefix)
    rate = state.revisions_per_second
    average = size / keys if keys else 0.0
    most = "up to " if prefix else ""
    return (
        f"Opens one watch of {prefix or '/registry'}: etcd sends every change with its whole value, "
        f"{most}{rate:.1f} a second now, about {long_bytes(rate * average)} a second by the mean size. "
        "Nothing is written; x ends the watch."
    )


def _held(state: State, prefix: str) -> tuple[int, int]:
    found = [item for item in state.prefixes.values() if item.prefix.startswith(prefix)]
    return sum(item.count for item in found), sum(item.bytes for item in found)


MUTED, STRONG = "$ink-muted", "bold $ink-strong"
_pair = partial(labelled, 10)
DEFRAG_SHARE = 0.5  # free share of the file from which a defragmentation is suggested
_FORM = {
    "resourceVersionMatch=Exact": "at a revision of which the caches have no snapshot",
    "resourceVersion=0": "from the cache as it is, in every version",
    "labelSelector": "a selector that no index serves: all objects are read",
    "limit": "one page",
}


def list_content(row: PossibleList | None, width: int, height: int) -> Content:
    if row is None:
        return line(("nothing counted in etcd yet", MUTED))
    about = next((text for part, text in _FORM.items() if part in row.target), "the whole collection")
    size = f", {long_bytes(row.stored.bytes)}" if row.stored.bytes else ""
    stored = f"stored: {many(row.stored.count, 'object')}{size}"
    drawn = [line((part, STRONG)) for part in broken(f"LIST {row.target}", width, 2)]
    words = wrapped(f"{about} · {stored}", width, MUTED)
    if len(drawn) + len(words) + len(row.costs) <= height:
        drawn += words
    for cost in row.costs:
        badge = badge_of_route(cost.route)
        mark = ("▸ ", "$accent") if cost is row.own else ("  ", "")
        seats = many(cost.seats, "seat") if cost.seats is not None else "seats unknown"
        read = f"reads {many(cost.objects, 'object')}"
        start = (mark, (f"{cost.version:<5} ", MUTED), (f"{badge.letter} ", badge.style))
        size = f", {long_bytes(cost.bytes)}" if cost.bytes else ""
        forms = [
            line(*start, (f"{badge.word}: {read}{size}", "$foreground"), (f", {seats}", MUTED)),
            line(*start, (read, "$foreground"), (f", {seats}", MUTED)),
            line(*start, (many(cost.objects, "object"), "$foreground")),
        ]
        drawn.append(longest_that_fits(forms, width))
    hints = key_hints(
        ("overview.compare", "sends it and a cheaper variant"), ("table.open", "takes it to the Lab")
    )
    if hints.cell_length > width:
        hints = key_hints(("overview.compare", "cheaper"), ("table.open", "Lab"))
    if len(drawn) < height:
        drawn.append(hints)
    return first_lines(drawn, width, height)


def sources_title(live: LiveState) -> Content:
    """Return the sources of LISTs, each after the letter that marks its figures."""
    span = max((item.span for item in live.asked.values()), default=0.0)
    log = f"audit log {duration(span)}" if live.asked else "no audit log"
    covered = live.covered(60.0)
    metrics = (
        f"last {duration(covered)}" if covered else "one scrape so far" if live.replicas else "no metrics"
    )
    parts = zip("ame", (log, metrics, "etcd"), strict=True)
    return line(" · ").join([line((f"{letter} ", "$accent"), (text, MUTED)) for letter, text in parts])


def sources_content(row: ResourceSources | None, width: int, height: int) -> Content:
    """Return what each source reports of a resource, each line after its source's letter."""
    if row is None:
        return line(("no LIST in metrics or log yet", MUTED))
    asked, stored, routes = row.asked, row.stored, row.routes
    counted = "not in the audit log"
    if asked is not None:
        counted = f"{many(asked.lists, 'LIST')}, {many(asked.requests, 'request')} in {duration(asked.span)}"
    drawn = _pairs("a log", counted, width)
    if asked is not None and asked.clients:
        shares = [f"{item.client} {percent(item.requests / asked.requests)}" for item in asked.clients]
        drawn += _pairs("  by", ", ".join(shares), width)[: max(1, height - 6)]
    drawn += _pairs("m served", _served(routes), width)
    kept = "no keys"
    if stored is not None and stored.count:
        size = f"{'' if stored.exact else 'about '}{long_bytes(stored.bytes)}" if stored.bytes else "not read"
        kept = f"{many(stored.count, 'key')}, {size}"
    drawn += _pairs("e stored", kept, width)
    if row.cost and routes is not None and stored is not None:
        read = f"{routes.per_second(routes.fetched) or 0.0:,.1f} objects a second"
        each, whole = long_bytes(stored.bytes // stored.count), long_bytes(int(row.cost))
        drawn += _pairs("m × e", f"{read} × {each} = {whole} a second", width)
    return first_lines(drawn, width, height)


def _pairs(name: str, text: str, width: int) -> list[Content]:
    return wrapped(text, width, "$foreground", indent=" " * 10, first=(f"{name:<10}", MUTED), hyphens=False)


def _served(routes: ResourceRoutes | None) -> str:
    if routes is None or not routes.seconds:
        return "not known yet: rates need two scrapes" if routes is not None else "not in the metrics"
    counts = [(routes.cache.lists, "LISTs from the cache"), (routes.etcd.lists, "from etcd")]
    counts += [(routes.fetched, "objects read"), (routes.returned, "returned")]
    words = ", ".join(f"{'?' if count is None else integer(round(count))} {text}" for count, text in counts)
    return f"{words} in {duration(routes.seconds)}"


def etcd_state_content(state: State, width: int, height: int) -> Content:
    """Return etcd's revision, compaction, file size and free space, and its problems."""
    head = state.head
    free = max(0, head.db_bytes - head.in_use_bytes) if head.in_use_bytes else None
    drawn = []
    if state.health is not None and (problem := state.health.alarm or state.health.detail):
        drawn += wrapped(problem, width, "bold $error")
    drawn.append(_pair("revision", f"{integer(state.revision)}, {rate(state.revisions_per_second)}"))
    if head.compact:
        kept = max(0, head.revision - head.compact)
        drawn += _pairs("compacted", f"to {integer(head.compact)}: {integer(kept)} revisions kept", width)
    else:
        drawn += _pairs("compacted", "by no kube-apiserver: no compact_rev_key", width)
    if head.db_bytes:
        drawn.append(_pair("file", long_bytes(head.db_bytes)))
    if free is not None:
        share = free / head.db_bytes
        style = "bold $warning" if share >= DEFRAG_SHARE else "$foreground"
        drawn.append(_pair("free", (f"{long_bytes(free)}, {percent(share)} of it", style)))
        if share >= DEFRAG_SHARE:
            drawn.append(_pair("", "a defragmentation gives it back"))
    if not state.progress:
        drawn += _pairs("progress", "no progress requests: consistent reads stay on etcd", width)
    return first_lines(drawn, width, height)


def leases_content(churn: Churn, width: int, height: int) -> Content:
    """Return the leases of the changed keys, those with most keys first, and when they expire."""
    drawn = []
    for lease in churn.lease_list:
        plural = lease.resource.partition(".")[0] or "no resource"
        left = f"expires in {duration(lease.ttl)}" if lease.ttl is not None and lease.ttl >= 0 else "expired"
        left = "TTL ?" if lease.ttl is None else left
        keys = f"{many(lease.keys, 'changed key')} of {plural}"
        drawn.append(line((f"{lease.lease:<16x}  ", "$route-wait"), (f"{left}, {keys}", "$foreground")))
    if any(lease.ttl is None for lease in churn.lease_list):
        drawn.insert(0, line(("TTL ? : LeaseTimeToLive is not sent to an etcd that is only read", MUTED)))
    if len(drawn) > height and len(drawn) > 1:
        drawn[height - 1 :] = [line((f"{many(churn.leases, 'lease')} in all", MUTED))]
    return first_lines(drawn, width, height)


def load_content(state: State, *, watch: bool, width: int, height: int) -> Content:
    """Return the load on etcd of reading values or watching, for the user to know before starting it."""
    text = load_of_watch(state) if watch else load_of_reading(state)
    drawn = wrapped(text, width, MUTED)
    drawn.append(key_hints(("overview.read", "starts and stops it"), ("overview.ranking", "next table")))
    return first_lines(drawn, width, height)
