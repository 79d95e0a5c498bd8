"""What a deletion makes of an object: gone at once, or marked and kept."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import Any

from ktui.writes.metadata.objectmeta import metadata_of, timestamp
from ktui.writes.options import DeleteOptions

Obj = dict[str, Any]

# Strategies that answer the deleted object instead of a Status (ReturnDeletedObject).
ANSWERS_OBJECT = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "services",
    }
)
DEFAULT_GRACE_SECONDS = 30
FINALIZER_OF = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


class Fate(Enum):
    """What is to be done with the object."""

    REMOVE = "remove"
    MARK = "mark"  # write the deletionTimestamp, keep the object
    MARK_AND_REMOVE = "mark and remove"  # a pod without grace: both, one after the other
    NOTHING = "nothing"  # already marked


def fate_of(obj: Obj, options: DeleteOptions) -> Fate:
    """kube-apiserver: BeforeDelete and deletionFinalizersForGarbageCollection."""
    metadata = metadata_of(obj)
    finalizers = set(_finalizers(obj, options))
    held = bool(finalizers) or _namespace_held(obj)
    marked = bool(metadata.get("deletionTimestamp"))
    if obj.get("kind") == "Pod":
        return _fate_of_pod(obj, options, held, marked)
    if not held:
        return Fate.REMOVE
    same = finalizers == set(metadata.get("finalizers") or [])
    return Fate.NOTHING if marked and same else Fate.MARK


def _fate_of_pod(pod: Obj, options: DeleteOptions, held: bool, marked: bool) -> Fate:
    grace = grace_seconds(pod, options)
    if marked:
        left = metadata_of(pod).get("deletionGracePeriodSeconds") or 0
        if grace >= left > 0 or (held and left == 0):
            return Fate.NOTHING  # never prolonged
        if left == 0:
            return Fate.REMOVE
    if held or grace > 0:
        return Fate.MARK
    return Fate.MARK_AND_REMOVE


def marked(obj: Obj, options: DeleteOptions, now: datetime.datetime | None = None) -> Obj:
    """The object with deletionTimestamp, grace period, finalizers and generation as they are written."""
    grace = grace_seconds(obj, options) if obj.get("kind") == "Pod" else 0
    metadata = dict(metadata_of(obj))
    if metadata.get("deletionTimestamp"):
        # Only ever sooner: the time that was left before is taken off.
        end = _time(metadata["deletionTimestamp"])
        sooner = datetime.timedelta(seconds=int(metadata.get("deletionGracePeriodSeconds") or 0) - grace)
        metadata["deletionTimestamp"] = timestamp(end - max(sooner, datetime.timedelta()))
    else:
        now = now or datetime.datetime.now(datetime.UTC)
        metadata["deletionTimestamp"] = timestamp(now + datetime.timedelta(seconds=grace))
        if metadata.get("generation"):
            metadata["generation"] += 1
    if obj.get("kind") != "Namespace":  # it is deleted by code of its own, which knows no grace
        metadata["deletionGracePeriodSeconds"] = grace
    if finalizers := _finalizers(obj, options):
        metadata["finalizers"] = finalizers
    changed = {**obj, "metadata": metadata}
    if obj.get("kind") == "Namespace":
        changed["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
    return changed


def _time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def grace_seconds(pod: Obj, options: DeleteOptions) -> int:
    """A pod that no kubelet runs (not scheduled, or over) needs no grace."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Failed", "Succeeded"):
        return 0
    if options.grace_seconds is not None:
        return options.grace_seconds
    return int(spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS))


def _finalizers(obj: Obj, options: DeleteOptions) -> list[str]:
    present = list(metadata_of(obj).get("finalizers") or [])
    if not options.policy:
        return present
    wanted = FINALIZER_OF.get(options.policy)
    kept = [
        finalizer for finalizer in present if finalizer not in FINALIZER_OF.values() or finalizer == wanted
    ]
    return kept if wanted is None or wanted in kept else [*kept, wanted]


def _namespace_held(obj: Obj) -> bool:
    return obj.get("kind") == "Namespace" and bool((obj.get("spec") or {}).get("finalizers"))
