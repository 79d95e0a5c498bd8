"""Find the smallest set of cached objects that can match a LIST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ktui.cacher.watch_cache import WatchCache
from ktui.kube.indexes import NODE_NAME, finds_namespaces
from ktui.kube.selectors import Operator

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.storage.selection import SelectionPredicate

# A selector uses indexes for this many terms only: one selector must not evict all other indexes.
MOST_TERMS = 4
_METADATA = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class CandidateObjects:
    """Objects in key order that may match: the first of `count`.

    `fetched` is the number of objects that kube-apiserver, which has fewer indexes, would have read from its
    cache. `last_key` is the last key of all: a page that ends there is the last page.
    """

    objects: list[StoredObject]
    count: int
    fetched: int
    last_key: str


def candidates(
    cache: WatchCache,
    selection: SelectionPredicate,
    start: str,
    end: str,
    *,
    most: int | None = None,
    pods: bool,
    minor: int,
) -> CandidateObjects:
    """Return the objects with keys in [start, end) that no index rules out.

    `most` is the number of objects to return if no index applies (None: all).
    """
    node = selection.fields.requires(NODE_NAME) if pods else None
    if node is not None:
        found = cache.fields.lookup(NODE_NAME, node, cache.store.all)
        objects = _in_range(found, start, end)
        # Up to 1.31, index hits of other namespaces were included and filtered out later.
        fetched = len(objects) if minor >= 32 else len(found)
        return CandidateObjects(objects, len(objects), fetched, objects[-1].key if objects else "")
    count = cache.store.count(start, end)
    fetched = count if finds_namespaces(minor, pods=pods) else len(cache.store)
    last_key = cache.store.last_key(start, end)
    best = min(_hits(cache, selection), key=len, default=None)
    if best is None or len(best) >= count:
        return CandidateObjects(cache.store.slice(start, end, most), count, fetched, last_key)
    objects = _in_range(best, start, end)
    return CandidateObjects(objects, len(objects), fetched, last_key)


async def prepare(cache: WatchCache, selection: SelectionPredicate) -> None:
    """Build the indexes that `candidates` will use."""
    for label, _ in _label_values(selection):
        await cache.labels.prepare(label, cache.store.all)
    for name, _ in _field_values(selection):
        await cache.fields.prepare(name, cache.store.all)


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
    return [found[key] for key in sorted(key for key in found if start <= key < end)]
