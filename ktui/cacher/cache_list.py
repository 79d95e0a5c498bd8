"""Answer a LIST from the watch cache's memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct, field

from ktui.cacher.errors import SnapshotGone
from ktui.cacher.watch_cache import WatchCache
from ktui.kube.resources import NODE_NAME, finds_namespaces
from ktui.kube.routing.parameters import RequestScope
from ktui.kube.selectors import Operator
from ktui.storage.objects import SelectionPredicate, StoredObject
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import sliced

# A selector uses indexes for this many terms only: one selector must not evict all other indexes.
MOST_TERMS = 4
_METADATA = ("metadata.name", "metadata.namespace")


class CandidateObjects(Struct, frozen=True):
    """Objects in key order that may match: the first of `count`.

    `fetched` is the number of objects that kube-apiserver, which has fewer indexes, would have read from its
    cache. `last_key` is the last key of all: a page that ends there is the last page.
    """

    objects: list[StoredObject]
    count: int
    fetched: int
    last_key: str


def _hits(cache: WatchCache, selection: SelectionPredicate) -> Iterator[Mapping[str, StoredObject]]:
    for label, values in _label_values(selection):
        parts = [cache.labels.lookup(label, value, cache.store.all) for value in values]
        yield parts[0] if len(parts) == 1 else {key: obj for part in parts for key, obj in part.items()}
    for name, value in _field_values(selection):
        yield cache.fields.lookup(name, value, cache.store.all)


def _label_values(selection: SelectionPredicate) -> Iterator[tuple[str, tuple[str, ...]]]:
    usable = (r for r in selection.labels.requirements if r.operator in (Operator.EQUALS, Operator.IN))
    for requirement in islice(usable, MOST_TERMS):
        yield requirement.key, requirement.values


def _field_values(selection: SelectionPredicate) -> Iterator[tuple[str, str]]:
    usable = (t for t in selection.fields.terms if not t.negated and t.field not in _METADATA)
    for term in islice(usable, MOST_TERMS):
        yield term.field, term.value


def _in_range(found: Mapping[str, StoredObject], start: str, end: str) -> list[StoredObject]:
    keys = sorted(found)
    if keys and not (start <= keys[0] and keys[-1] < end):
        keys = keys[bisect_left(keys, start) : bisect_left(keys, end)]
    return [found[key] for key in keys]


# A reader holds a list of references; the objects belong to the cache.
REFERENCE_BYTES = 8


class CacheQuery(Struct, frozen=True):
    """What to read from the cache. Keys are complete."""

    scope: RequestScope
    selection: SelectionPredicate
    root: str
    start: str = ""  # the key where a continued LIST resumes
    exact: int | None = None  # the resourceVersion of a snapshot
    limit: int = 0  # 0: none
    pods: bool = False
    minor: int = 36

    @property
    def first(self) -> str:
        return self.start or self.root + self.scope.prefix

    @property
    def end(self) -> str:
        """The first key after the collection; in ASCII `0` follows `/`."""
        return f"{(self.root + self.scope.prefix)[:-1]}0"


class CachePage(Struct, frozen=True):
    """A page. `last_key` is "" if no objects follow; `remaining` is their number, None if it is unknown."""

    objects: list[StoredObject]
    rv: int
    last_key: str = ""
    remaining: int | None = None


class _Selected(Struct):
    objects: list[StoredObject] = field(default_factory=list)
    evaluated: int = 0
    full: bool = False


async def list_from_cache(cache: WatchCache, query: CacheQuery) -> CachePage:
    """Return a page: all references are taken at once, then filtered in slices. Raises SnapshotGone."""
    if query.exact is not None:
        await cache.snapshots.prepare(query.exact)
    elif not query.scope.single:  # the indexes that `_candidates` will use
        for label, _ in _label_values(query.selection):
            await cache.labels.prepare(label, cache.store.all)
        for name, _ in _field_values(query.selection):
            await cache.fields.prepare(name, cache.store.all)
    # No await until the references are taken: they must be from the same moment as the resourceVersion.
    rv = cache.rv if query.exact is None else query.exact
    found = _found(cache, query)
    meter = current_meter()
    meter.fetched += found.fetched
    meter.hold(REFERENCE_BYTES * len(found.objects))
    selected = await _select(found.objects, query)
    looked_at = _looked_at(cache, found, selected)
    meter.cached_bytes += looked_at
    if found.fetched > len(found.objects) and not selected.full:  # kube-apiserver has no such index
        meter.imputed_bytes += max(0, looked_at - sum(obj.size for obj in found.objects))
    meter.evaluated += selected.evaluated
    meter.matched += len(selected.objects)
    meter.returned += len(selected.objects)
    last_key = selected.objects[-1].key if selected.full else ""
    if not last_key or last_key == found.last_key:
        return CachePage(selected.objects, rv)
    remaining = found.count - query.limit if query.scope.unfiltered else None
    return CachePage(selected.objects, rv, last_key, remaining)


def _found(cache: WatchCache, query: CacheQuery) -> CandidateObjects:
    # One more than the page shows whether its last object is the last of all.
    most = query.limit + 1 if query.limit and not query.scope.selective else None
    if query.exact is not None:
        past = cache.snapshots.slice(query.exact, query.first, query.end, most)
        if past is None:
            raise SnapshotGone
        last_key = past.objects[-1].key if past.objects else ""
        return CandidateObjects(past.objects, past.total, past.total, last_key)
    if query.scope.single:
        found = cache.store.get(query.root + query.scope.key)
        return _all_of([], 0) if found is None else _all_of([found], 1)
    return _candidates(cache, query, most)


def _candidates(cache: WatchCache, query: CacheQuery, most: int | None) -> CandidateObjects:
    """Find the fewest objects that can match a LIST: the first `most` if no index rules any out."""
    store, selection, start, end = cache.store, query.selection, query.first, query.end
    node = selection.fields.requires(NODE_NAME) if query.pods else None
    if node is not None:
        found = cache.fields.lookup(NODE_NAME, node, store.all)
        objects = _in_range(found, start, end)
        # Up to 1.31, index hits of other namespaces were included and filtered out later.
        return _all_of(objects, len(objects) if query.minor >= 32 else len(found))
    count = store.count(start, end)
    fetched = count if finds_namespaces(query.minor, pods=query.pods) else len(store)
    last_key = store.last_key(start, end)
    best = min(_hits(cache, selection), key=len, default=None)
    if best is None or len(best) >= count:
        return CandidateObjects(store.slice(start, end, most), count, fetched, last_key)
    objects = _in_range(best, start, end)
    return CandidateObjects(objects, len(objects), fetched, last_key)


def _all_of(objects: list[StoredObject], fetched: int) -> CandidateObjects:
    return CandidateObjects(objects, len(objects), fetched, objects[-1].key if objects else "")


def _looked_at(cache: WatchCache, found: CandidateObjects, selected: _Selected) -> int:
    """Return the stored bytes of the examined objects; objects after a full page count as references only."""
    if selected.full and not selected.evaluated:
        page = selected.objects
        return sum(obj.size for obj in page) + REFERENCE_BYTES * (found.fetched - len(page))
    store, stored = cache.store, 0
    if found.fetched == len(found.objects) < len(store):
        stored = sum(obj.size for obj in found.objects)
    elif len(store):  # objects that an index skipped have the average size
        stored = round(store.bytes * found.fetched / len(store))
    if not selected.full:
        return stored
    share = selected.evaluated / len(found.objects)
    return round(stored * share + REFERENCE_BYTES * found.fetched * (1 - share))


async def _select(objects: list[StoredObject], query: CacheQuery) -> _Selected:
    if not query.scope.selective:
        full = 0 < query.limit <= len(objects)
        return _Selected(objects[: query.limit] if full else objects, 0, full)
    selected, selection, limit = _Selected(), query.selection, query.limit
    meter = current_meter()
    async for part in sliced(objects):
        with meter.phase("filter"):
            matching = selection.select(part)
        selected.evaluated += len(part)
        selected.objects += matching
        if 0 < limit <= len(selected.objects):
            del selected.objects[limit:]
            selected.full = True
            break
    return selected
