"""Find the logged requests that probably caused etcd's slow range reads."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.group import AuditGroup, RangeKey
from ktui.audit.predictions import VersionPredictions

FILL_PAGE = 10_000
"""Keys in a page with which kube-apiserver fills a watch cache (and checks it, 1.34+)."""
_MOST = 3


def causes(key: RangeKey, groups: Sequence[AuditGroup], predictions: VersionPredictions) -> list[AuditGroup]:
    """Return the groups that read such a range from etcd according to the rules, most frequent first."""
    if key.what == "write":
        return []
    found = [group for group in groups if _plausible(key, group, predictions)]
    return sorted(found, key=lambda group: group.count, reverse=True)[:_MOST]


def fills_cache(key: RangeKey) -> bool:
    """True if the apiserver itself may be the cause, which fills caches in pages of FILL_PAGE."""
    return key.what == "range" and key.scope == "all" and key.limit == FILL_PAGE


def _plausible(key: RangeKey, group: AuditGroup, predictions: VersionPredictions) -> bool:
    shape = group.key.shape
    predicted = predictions.of(group)
    if shape.resource != key.resource or predicted.route() != "etcd":
        return False
    single = shape.verb == "get" or shape.narrowing == "name"
    scope = "key" if single else shape.narrowing or ("all" if shape.scope == "all" else "namespace")
    if scope != key.scope:
        return False
    if single or shape.verb == "watch":
        return True
    if bool(shape.continued) != key.later and not _selective(group):
        return False
    # A filtering LIST is read in pages of the limit, doubled each time (1.24+).
    return shape.limit == key.limit or (_selective(group) and 0 < shape.limit < key.limit)


def _selective(group: AuditGroup) -> bool:
    return bool(group.key.shape.selectors)
