"""The smallest set of cached objects that a LIST has to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.cacher.watch_cache import WatchCache
from ktui.kube.selectors import Operator

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.storage.selection import Selection

# The only LIST index of kube-apiserver whose hits it counts (and only pods have it).
NODE_NAME = "spec.nodeName"
_METADATA = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Objects in key order that may match.

    `fetched` is what kube-apiserver would have taken from its cache, which knows
    fewer indexes. `last_key` is the last key of that: a page that ends there is the last.
    """

    objects: list[StoredObject]
    fetched: int
    last_key: str


def candidates(
    cache: WatchCache, selection: Selection, start: str, end: str, *, pods: bool, minor: int
) -> Candidates:
    """Objects of keys in [start, end) that an index does not already rule out."""
    node = selection.fields.requires(NODE_NAME) if pods else None
    if node is not None:
        found = cache.fields.lookup(NODE_NAME, node, cache.store.all)
        objects = _in_range(found, start, end)
        # Up to 1.31 index hits of other namespaces were taken along and filtered out later.
        fetched = len(objects) if minor >= 32 else len(found)
        return Candidates(objects, fetched, objects[-1].key if objects else "")
    count = cache.store.count(start, end)
    # Up to 1.31 the store was a hash map: a LIST took everything and filtered by prefix.
    fetched = count if minor >= 32 or pods else len(cache.store)
    last_key = cache.store.last_key(start, end)
    best = min(_hits(cache, selection), key=len, default=None)
    if best is None or len(best) >= count:
        return Candidates(cache.store.slice(start, end), fetched, last_key)
    return Candidates(_in_range(best, start, end), fetched, last_key)


def _hits(cache: WatchCache, selection: Selection) -> Iterator[Mapping[str, StoredObject]]:
    for requirement in selection.labels.requirements:
        if requirement.operator in (Operator.EQUALS, Operator.IN):
            parts = [cache.labels.lookup(requirement.key, v, cache.store.all) for v in requirement.values]
            yield parts[0] if len(parts) == 1 else {k: obj for part in parts for k, obj in part.items()}
    for term in selection.fields.terms:
        if not term.negated and term.field not in _METADATA:
            yield cache.fields.lookup(term.field, term.value, cache.store.all)


def _in_range(found: Mapping[str, StoredObject], start: str, end: str) -> list[StoredObject]:
    return [found[key] for key in sorted(key for key in found if start <= key < end)]
