"""The effect of a deletion: the object is removed, or marked and kept."""

from __future__ import annotations

import datetime
from enum import Enum

from ktui.kube.json_trees import Obj
from ktui.writes.definitions import CLEANUP
from ktui.writes.objectmeta import metadata_of, set_condition, timestamp
from ktui.writes.options import DeleteOptions
from ktui.writes.strategies import ORPHANS, WITHOUT_DEPENDENTS

DEFAULT_GRACE_SECONDS = 30
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
FINALIZER_OF = {"Foreground": FOREGROUND, "Orphan": ORPHAN}


class Fate(Enum):
    """The effect of a deletion on the object."""

    REMOVE = "remove"
    MARK = "mark"  # write the deletionTimestamp, keep the object
    MARK_AND_REMOVE = "mark and remove"  # a pod without grace period: first mark, then remove
    NOTHING = "nothing"  # already marked


def begin_deletion(
    obj: Obj, options: DeleteOptions, now: datetime.datetime | None = None
) -> tuple[Fate, Obj]:
    """Return the effect on an object, and the object to write if it is marked.

    kube-apiserver: BeforeDelete, deletionFinalizersForGarbageCollection and markAsDeleting.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    metadata = dict(metadata_of(obj))
    finalizers = _finalizers(obj, options)
    if finalizers or metadata.get("finalizers"):
        metadata["finalizers"] = finalizers
    marked = {**obj, "metadata": metadata}
    if obj.get("kind") == "Pod":
        return _pod_fate(obj, marked, options, now), marked
    if obj.get("kind") == "Namespace":
        return _namespace_fate(obj, marked, now), marked
    if obj.get("kind") == "CustomResourceDefinition":
        return _definition_fate(obj, marked, now), marked
    return _fate(obj, marked, now), marked


def _fate(obj: Obj, marked: Obj, now: datetime.datetime) -> Fate:
    """Return the effect without a grace period: objects with finalizers are marked, all others removed."""
    metadata = marked["metadata"]
    if not metadata.get("finalizers"):
        return Fate.REMOVE
    _mark(metadata, now, 0)
    return Fate.NOTHING if metadata == metadata_of(obj) else Fate.MARK


def _namespace_fate(obj: Obj, marked: Obj, now: datetime.datetime) -> Fate:
    """Return the effect on a namespace, which has finalizers in its spec, a phase, and no grace period."""
    metadata = marked["metadata"]
    held = metadata.get("finalizers") or (obj.get("spec") or {}).get("finalizers")
    if metadata.get("deletionTimestamp"):
        return Fate.NOTHING if held else Fate.REMOVE
    metadata["deletionTimestamp"] = timestamp(now)
    marked["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
    return Fate.MARK


def _definition_fate(obj: Obj, marked: Obj, now: datetime.datetime) -> Fate:
    """Return the effect on a definition, which stays until the server has deleted its objects.

    Its first deletion does not ask for the finalizers of a propagation policy.
    """
    metadata = marked["metadata"]
    if metadata.get("deletionTimestamp"):
        return Fate.NOTHING if metadata.get("finalizers") else Fate.REMOVE
    metadata["deletionTimestamp"] = timestamp(now)
    finalizers = metadata_of(obj).get("finalizers") or []
    metadata["finalizers"] = [*(f for f in finalizers if f != CLEANUP), CLEANUP]
    pending = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    set_condition(marked, "Terminating", "True", "InstanceDeletionPending", pending)
    return Fate.MARK


def _pod_fate(pod: Obj, marked: Obj, options: DeleteOptions, now: datetime.datetime) -> Fate:
    metadata = marked["metadata"]
    if not metadata.get("deletionTimestamp"):
        grace = grace_seconds(pod, options)
        _mark(metadata, now, grace)
        return Fate.MARK if grace or metadata.get("finalizers") else Fate.MARK_AND_REMOVE
    left = metadata.get("deletionGracePeriodSeconds") or 0
    if not left:
        return _fate(pod, marked, now)
    if options.grace_seconds is None or options.grace_seconds >= left:
        return Fate.NOTHING  # a grace period can only be shortened
    grace = options.grace_seconds
    end = datetime.datetime.fromisoformat(metadata["deletionTimestamp"])
    end -= datetime.timedelta(seconds=metadata["deletionGracePeriodSeconds"] - grace)
    if end < now:  # never in the past
        end, grace = now, min(grace, 1)
    metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = timestamp(end), grace
    return Fate.MARK if grace or metadata.get("finalizers") else Fate.MARK_AND_REMOVE


def _mark(metadata: Obj, now: datetime.datetime, grace: int) -> None:
    """Set the grace period and, unless it is set, the deletionTimestamp with a new generation."""
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = timestamp(now + datetime.timedelta(seconds=grace))
        if metadata.get("generation"):
            metadata["generation"] += 1
    metadata["deletionGracePeriodSeconds"] = grace


def grace_seconds(pod: Obj, options: DeleteOptions) -> int:
    """Return the grace period in seconds; 0 for a pod that no kubelet runs (not scheduled, or finished)."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Failed", "Succeeded"):
        return 0
    if options.grace_seconds is not None:
        return options.grace_seconds
    own = int(spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS))
    return 1 if own < 0 else own


def _finalizers(obj: Obj, options: DeleteOptions) -> list[str]:
    """Return the finalizers with the garbage collector's: by the policy, else the present or the kind's."""
    present = list(metadata_of(obj).get("finalizers") or [])
    default = ORPHAN if (obj.get("kind"), obj.get("apiVersion")) in ORPHANS else ""
    wanted = next((finalizer for finalizer in present if finalizer in (FOREGROUND, ORPHAN)), default)
    if options.policy:
        wanted = FINALIZER_OF.get(options.policy, "")
    finalizers = [finalizer for finalizer in present if finalizer not in (FOREGROUND, ORPHAN)]
    if wanted and obj.get("kind") not in WITHOUT_DEPENDENTS:
        finalizers.append(wanted)
    return present if set(finalizers) == set(present) else finalizers
