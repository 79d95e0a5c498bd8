"""Sort groups by their cost for the control plane."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.group import AuditGroup, SlowGroup
from ktui.audit.predictions import VersionPredictions

BY_BYTES = "estimated bytes"
BY_TIME = "count × latency"


def ranked(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> tuple[list[AuditGroup], str]:
    """Return the groups, most expensive first, and the measure: bytes if any size is known, else time."""
    if any(predictions.of(group).costs[0] is not None for group in groups):
        return sorted(groups, key=lambda group: _by_bytes(group, predictions), reverse=True), BY_BYTES
    return sorted(groups, key=_by_time, reverse=True), BY_TIME


def ranked_slow(groups: Sequence[SlowGroup]) -> list[SlowGroup]:
    return sorted(groups, key=lambda group: (group.cost, group.count), reverse=True)


def _by_time(group: AuditGroup) -> tuple[int, int]:
    return group.cost, group.count


def _by_bytes(group: AuditGroup, predictions: VersionPredictions) -> tuple[float, int, int]:
    cost = predictions.of(group).costs[0]
    return (group.count * cost.processed if cost else 0.0), *_by_time(group)
