"""Validate metadata other than names and labels: annotations, owners, finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid_tree, invalid_value, limited, too_long
from ktui.kube.golang.formatting import quote
from ktui.kube.names import label_key_faults

Obj = dict[str, Any]

STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")
EXCLUSIVE_FINALIZERS = ("orphan", "foregroundDeletion")
_OWNERS = "metadata.ownerReferences"
MAX_ANNOTATION_BYTES = 256 * 1024


@limited
def annotation_errors(annotations: Obj) -> Iterator[FieldError]:
    """Annotation names follow the rules of label keys, in any case; their total size is limited."""
    field = "metadata.annotations"
    for key in annotations:
        for fault in label_key_faults(key.lower()):
            yield invalid_value(field, key, fault)
    if (
        sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
        > MAX_ANNOTATION_BYTES
    ):
        yield too_long(field, MAX_ANNOTATION_BYTES)


@limited
def owner_errors(owners: list[Any]) -> Iterator[FieldError]:
    """Each owner reference must be complete."""
    for owner in owners:
        if not isinstance(owner, dict):
            continue
        found = {name: str(owner.get(name) or "") for name in ("apiVersion", "kind", "name", "uid")}
        if not found["apiVersion"].rpartition("/")[2]:
            yield _empty("apiVersion", found["apiVersion"], "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not found[name]:
                yield _empty(name, "", "must not be empty")
        if (found["apiVersion"], found["kind"]) == ("v1", "Event"):
            why = "/v1, Kind=Event is disallowed from being an owner"
            yield invalid_tree(_OWNERS, _in_order(owner), why)
    controllers = [owner for owner in owners if isinstance(owner, dict) and owner.get("controller")]
    for owner in controllers[1:]:
        first, other = (f"{o.get('kind')}/{o.get('name')}" for o in (controllers[0], owner))
        why = (
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{first} and {other}"
        )
        yield invalid_tree(_OWNERS, [_in_order(o) for o in owners], why)


def _in_order(owner: Any) -> Any:
    """Return an owner as Go encodes it."""
    names = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {name: owner[name] for name in names if name in owner}


@limited
def finalizer_errors(finalizers: list[str], custom: bool) -> Iterator[FieldError]:
    """Finalizers are named like labels; in built-in kinds qualified, except for the standard ones."""
    for finalizer in finalizers:
        for fault in label_key_faults(finalizer):
            yield invalid_value("metadata.finalizers", finalizer, fault)
    if set(EXCLUSIVE_FINALIZERS) <= set(finalizers):
        why = "finalizer {} and {} cannot be both set".format(*EXCLUSIVE_FINALIZERS)
        yield invalid_tree("metadata.finalizers", finalizers, why)
    for at, finalizer in enumerate(() if custom else finalizers):
        if _unqualified(finalizer):
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid_value(f"metadata.finalizers[{at}]", finalizer, why)


def finalizer_warnings(new: Obj, old: Obj | None) -> list[str]:
    """Return the warnings for new finalizers of a custom resource."""
    added = set(new.get("finalizers") or ()) - set((old or {}).get("finalizers") or ())
    return [
        f"metadata.finalizers: {quote(finalizer)}: prefer a domain-qualified finalizer name to avoid "
        "accidental conflicts with other finalizer writers"
        for finalizer in sorted(added)
        if _unqualified(finalizer)
    ]


def _unqualified(finalizer: str) -> bool:
    return "/" not in finalizer and finalizer not in STANDARD_FINALIZERS


def finalizer_change_errors(old: Obj, new: Obj) -> list[FieldError]:
    """Return errors for new finalizers of an object that is being deleted."""
    if not old.get("deletionTimestamp"):
        return []
    extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if not extra:
        return []
    why = "no new finalizers can be added if the object is being deleted, found new finalizers"
    return [forbidden("metadata.finalizers", f"{why} []string{{{', '.join(map(quote, extra))}}}")]


def _empty(name: str, value: str, why: str) -> FieldError:
    return invalid_value(f"metadata.ownerReferences.{name}", value, why)
