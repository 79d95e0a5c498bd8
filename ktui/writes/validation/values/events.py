"""Rules of Events, which two groups serve; errors name the fields of the core group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, subdomain_faults
from ktui.writes.objectmeta import metadata_errors
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.updates.field_rules import Show, unchanged
from ktui.writes.validation.values.checks import Rows

NEW_GROUP = "events.k8s.io/v1"
_MOST_CHARACTERS = 128
_MOST_NOTE = 1024
# Field of the core group → in events.k8s.io.
_OTHER_NAMES = {
    "involvedObject": "regarding", "message": "note", "source": "deprecatedSource",
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp", "lastTimestamp": "deprecatedLastTimestamp",
    "reportingComponent": "reportingController",
}  # fmt: skip
_UNSET = ("firstTimestamp", "lastTimestamp", "count", "source")
_FIXED = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason",
    "type", "eventTime", "action", "related", "reportingComponent", "reportingInstance",
)  # fmt: skip
_TEXTS = ("reason", "message", "type", "action", "reportingComponent", "reportingInstance")


def _of(event: Obj, name: str) -> Any:
    new = event.get("apiVersion") == NEW_GROUP
    return event.get(_OTHER_NAMES.get(name, name) if new else name)


def _any_event(event: Obj) -> Iterator[FieldError]:
    """Yield the errors of any event; with an eventTime it needs to say more (legacyValidateEvent)."""
    own = str((event.get("metadata") or {}).get("namespace") or "")
    about = str((_of(event, "involvedObject") or {}).get("namespace") or "")
    alone = own in (("default", "kube-system") if event.get("eventTime") else ("default", ""))
    if (not about and not alone) or (about and about != own and not event.get("eventTime")):
        yield invalid(".involvedObject.namespace", about, "does not match event.namespace")
    if event.get("eventTime"):
        yield from _said(event)
    yield from (invalid(".namespace", own, why) for why in subdomain_faults(own))


def _said(event: Obj) -> Iterator[FieldError]:
    reporter = str(_of(event, "reportingComponent") or "")
    field = ".reportingController" if event.get("apiVersion") == NEW_GROUP else ".reportingComponent"
    if not reporter:
        yield required(field)
    yield from (invalid(field, reporter, why) for why in label_key_faults(reporter))
    for name in ("reportingInstance", "action", "reason"):
        value = str(event.get(name) or "")
        if not value:
            yield required(f".{name}")
        if len(value.encode()) > _MOST_CHARACTERS:
            yield invalid(f".{name}", "", f"can have at most {_MOST_CHARACTERS} characters")
    if len(str(_of(event, "message") or "").encode()) > _MOST_NOTE:
        yield invalid(".message", "", f"can have at most {_MOST_NOTE} characters")


def new_errors(event: Obj) -> Iterator[FieldError]:
    """Yield the further errors of an event that is created through events.k8s.io."""
    yield from metadata_errors(event, subdomain_faults)
    yield from _series(event)
    if not event.get("eventTime"):
        yield required("eventTime")
    kind = event.get("type") or ""
    if kind not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {kind}")
    for member in _UNSET:
        value = _of(event, member)
        if any(value.values()) if isinstance(value, dict) else value:
            yield invalid(member, "", "needs to be unset")


def _series(event: Obj) -> Iterator[FieldError]:
    if (series := event.get("series")) is not None:
        if (series.get("count") or 0) < 2:
            yield invalid("series.count", "", "should be at least 2")
        if not series.get("lastObservedTime"):
            yield required("series.lastObservedTime")


_REFERENCE = "core.v1.ObjectReference"
_SHOWN: dict[str, Show | str] = {
    "involvedObject": lambda found: internal(found or {}, _REFERENCE), "related": _REFERENCE,
}  # fmt: skip


def changed_event(old: Obj, new: Obj) -> list[FieldError]:
    """Return the errors of an update through events.k8s.io: only the series may change."""
    if new.get("apiVersion") != NEW_GROUP:
        return []
    errors = list(_series(new)) if old.get("series") != new.get("series") else []
    for name in _FIXED:
        was, wanted = (_of(event, name) or ("" if name in _TEXTS else None) for event in (old, new))
        shown = "reportingController" if name == "reportingComponent" else name
        errors += unchanged(was, wanted, shown, _SHOWN.get(name, ""))
    return errors


KINDS: dict[str, Rows] = dict.fromkeys(("events", "events.events.k8s.io"), (("", _any_event),))
