"""Convert Events between core v1 and events.k8s.io/v1, which have one stored form (core v1) and different
names.

Upstream: pkg/apis/events/v1/conversion.go.
"""

from typing import Any

_CORE_TO_GROUP = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_GROUP_TO_CORE = {group: core for core, group in _CORE_TO_GROUP.items()}


def to_events_group(event: dict[str, Any]) -> dict[str, Any]:
    """Return a core v1 Event with the names of events.k8s.io/v1."""
    return {_CORE_TO_GROUP.get(name, name): value for name, value in event.items()}


def to_core(event: dict[str, Any]) -> dict[str, Any]:
    """Return an events.k8s.io/v1 Event with the names of core v1."""
    return {_GROUP_TO_CORE.get(name, name): value for name, value in event.items()}
