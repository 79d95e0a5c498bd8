"""Metadata of objects: set and validate it; conditions of a status."""

from __future__ import annotations

import datetime
import random
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, invalid_object, limited, required, too_long
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_key_faults, path_segment_faults, subdomain_faults
from ktui.kube.resources import Resource
from ktui.kube.status import bare_error, other_namespace
from ktui.writes.strategies import GENERATION_COUNTS, UNCOUNTED_WHEN_NEW
from ktui.writes.validation.selectors import label_errors
from ktui.writes.validation.values.checks import IP_FAULT, is_address

STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")
EXCLUSIVE_FINALIZERS = ("orphan", "foregroundDeletion")
_OWNERS = "metadata.ownerReferences"
MAX_ANNOTATION_BYTES = 256 * 1024


@limited
def annotation_errors(annotations: Obj, field: str) -> Iterator[FieldError]:
    """Annotation names follow the rules of label keys, in any case; their total size is limited."""
    for key in annotations:
        yield from (invalid(field, key, fault) for fault in label_key_faults(key.lower()))
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
    if size > MAX_ANNOTATION_BYTES:
        yield too_long(field, MAX_ANNOTATION_BYTES)


@limited
def owner_errors(owners: list[Any]) -> Iterator[FieldError]:
    """Each owner reference must be complete."""
    for owner in owners:
        if not isinstance(owner, dict):
            continue
        found = {name: str(owner.get(name) or "") for name in ("apiVersion", "kind", "name", "uid")}
        if not found["apiVersion"].rpartition("/")[2]:
            yield invalid(f"{_OWNERS}.apiVersion", found["apiVersion"], "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not found[name]:
                yield invalid(f"{_OWNERS}.{name}", "", "must not be empty")
        if (found["apiVersion"], found["kind"]) == ("v1", "Event"):
            why = "/v1, Kind=Event is disallowed from being an owner"
            yield invalid(_OWNERS, _in_order(owner), why)
    controllers = [owner for owner in owners if isinstance(owner, dict) and owner.get("controller")]
    for owner in controllers[1:]:
        first, other = (f"{o.get('kind')}/{o.get('name')}" for o in (controllers[0], owner))
        why = f'Only one reference can have Controller set to true. Found "true" in references for {first}'
        yield invalid(_OWNERS, [_in_order(o) for o in owners], f"{why} and {other}")


def _in_order(owner: Any) -> Any:
    """Return an owner as Go encodes it."""
    names = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {name: owner[name] for name in names if name in owner}


@limited
def finalizer_errors(finalizers: list[str], custom: bool) -> Iterator[FieldError]:
    """Finalizers are named like labels; in built-in kinds qualified, except for the standard ones."""
    for finalizer in finalizers:
        yield from (invalid("metadata.finalizers", finalizer, why) for why in label_key_faults(finalizer))
    if set(EXCLUSIVE_FINALIZERS) <= set(finalizers):
        why = "finalizer {} and {} cannot be both set".format(*EXCLUSIVE_FINALIZERS)
        yield invalid("metadata.finalizers", finalizers, why)
    for at, finalizer in enumerate(() if custom else finalizers):
        if unqualified(finalizer):
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{at}]", finalizer, why)


def finalizer_warnings(new: Obj, old: Obj | None) -> list[str]:
    """Return the warnings for new finalizers of a custom resource."""
    added = set(new.get("finalizers") or ()) - set((old or {}).get("finalizers") or ())
    return [
        f"metadata.finalizers: {quote(finalizer)}: prefer a domain-qualified finalizer name to avoid "
        "accidental conflicts with other finalizer writers"
        for finalizer in sorted(added)
        if unqualified(finalizer)
    ]


def unqualified(finalizer: str) -> bool:
    """Whether a finalizer is neither a standard one nor has a domain."""
    return "/" not in finalizer and finalizer not in STANDARD_FINALIZERS


def finalizer_change_errors(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Yield the error for new finalizers of an object that is being deleted."""
    extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
    if extra and old.get("deletionTimestamp"):
        why = "no new finalizers can be added if the object is being deleted, found new finalizers"
        yield forbidden("metadata.finalizers", f"{why} []string{{{', '.join(map(quote, extra))}}}")


# apimachinery's rand.String uses no vowels and look-alikes.
SUFFIX_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
MAX_GENERATED_BASE = 58


def timestamp(now: datetime.datetime | None = None) -> str:
    """Return the time in RFC 3339 with whole seconds, UTC."""
    return (now or datetime.datetime.now(datetime.UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata_of(obj: Obj) -> Obj:
    """Return the object's metadata, which is created if it is missing."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        metadata = obj["metadata"] = {}
    return metadata


def drop_empty(metadata: Obj) -> None:
    """Remove members that Go's encoding of ObjectMeta omits; an empty managedFields list has a meaning."""
    empty = [n for n, v in metadata.items() if v is None or (v in ({}, []) and n != "managedFields")]
    for name in empty:
        del metadata[name]


def counts_generations(obj: Obj, resource: Resource) -> bool:
    """Return True if objects of this kind have a generation."""
    return resource.custom or obj.get("kind") in GENERATION_COUNTS


def next_generation(old: Obj, new: Obj, resource: Resource) -> bool:
    """Return True if the change increases the object's generation."""
    if not counts_generations(old, resource):
        return False
    if not resource.custom:
        before, after = (metadata_of(obj).get("labels") or {} for obj in (old, new))
        labels = old["kind"] == "EndpointSlice" and before != after
        return labels or any(old.get(name) != new.get(name) for name in GENERATION_COUNTS[old["kind"]])
    apart = {"metadata", "status"} if "status" in resource.subresources else {"metadata"}
    return any(old.get(name) != new.get(name) for name in (old.keys() | new.keys()) - apart)


def fill_new(obj: Obj, resource: Resource, namespace: str) -> None:
    """Set name, namespace, uid, creationTimestamp and generation of a new object.

    Raises StatusError 400 for another namespace than the path's, 500 for a resourceVersion.
    """
    metadata = metadata_of(obj)
    # A 64-bit number other than 0; any other text is ignored.
    if re.fullmatch("0*[1-9][0-9]{0,19}", str(metadata.get("resourceVersion") or "")):
        raise bare_error("resourceVersion should not be set on objects to be created")
    if namespace and (metadata.get("namespace") or namespace) != namespace:
        raise other_namespace()
    metadata.pop("resourceVersion", None)
    metadata.pop("namespace", None)
    if namespace:
        metadata["namespace"] = namespace
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generate_name(metadata["generateName"])
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = timestamp()
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"):
        metadata.pop(name, None)
    if counts_generations(obj, resource) and obj.get("kind") not in UNCOUNTED_WHEN_NEW:
        metadata["generation"] = 1


def generate_name(base: str) -> str:
    """Return the base, cut to fit, with five random characters."""
    suffix = "".join(random.choices(SUFFIX_CHARACTERS, k=SUFFIX_LENGTH))
    return base[:MAX_GENERATED_BASE] + suffix


_NAME_RULES: dict[str, Callable[[str], Iterable[str]]] = {
    "namespaces": dns_label_faults,
    "services": dns_label_faults,
    "apiservices": path_segment_faults,
    "events": path_segment_faults,  # a stricter rule for events.k8s.io is in validation/values/events.py
    "ipaddresses": lambda name: () if is_address(name) else (IP_FAULT,),
    **dict.fromkeys(("roles", "rolebindings", "clusterroles", "clusterrolebindings"), path_segment_faults),
}

_label_errors = limited(label_errors)

# Kinds whose rules for an update validate the whole object again, as a new one,
VALIDATED_TWICE = frozenset({"configmaps", "pods", "secrets", "services"})
# and kinds that report immutable fields first.
FIXED_FIRST = frozenset(
    {"configmaps", "daemonsets.apps", "ingressclasses.networking.k8s.io", "secrets", "services"}
)


def validate_metadata(
    obj: Obj,
    resource: Resource,
    values: Sequence[FieldError] = (),
    change: Sequence[FieldError] | None = None,
    subresource: str = "",
    fixed: Sequence[FieldError] = (),
) -> None:
    """Validate names, labels, annotations, owners and finalizers; raise StatusError 422 with every cause.

    `values` are causes found elsewhere; `change` those of an update, whose metadata both the generic strategy
    and the kind's own rules validate: each error is reported once more. `fixed` are the immutable fields.
    """
    metadata = metadata_of(obj)
    common = _label_errors(metadata.get("labels") or {}, "metadata.labels")
    common += annotation_errors(metadata.get("annotations") or {}, "metadata.annotations")
    common += owner_errors(metadata.get("ownerReferences") or [])
    name = str(metadata.get("name") or "")
    new = _name_errors(name, resource) + common
    new += finalizer_errors(list(map(str, metadata.get("finalizers") or [])), resource.custom)
    errors = list(new)
    if change is not None:
        errors += [*change, *common] * 2
    again = new if change is not None and resource.id in VALIDATED_TWICE and not subresource else []
    rest = [*again, *values]
    errors += [*fixed, *rest] if resource.id in FIXED_FIRST else [*rest, *fixed]
    if errors:
        raise invalid_object(resource.kind, resource.internal_group, name, errors)


def _name_errors(name: str, resource: Resource) -> list[FieldError]:
    if not name:
        return [required("metadata.name", "name or generateName is required")]
    rule = _NAME_RULES.get(resource.resource, subdomain_faults)
    return [invalid("metadata.name", name, fault) for fault in rule(name)]


def set_condition(obj: Obj, kind: str, status: str, reason: str, message: str = "", **more: object) -> None:
    """Set a condition, whose time changes with its status. The object gets a new status."""
    stored = dict(obj.get("status") or {})
    conditions = list(stored.get("conditions") or [])
    before: Obj = next((c for c in conditions if c.get("type") == kind), {})
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    new = {**before, "type": kind, "status": status, "lastTransitionTime": since or timestamp()}
    new |= {"reason": reason, "message": message, **more}
    stored["conditions"] = [new if c is before else c for c in conditions] + ([] if before else [new])
    obj["status"] = stored
