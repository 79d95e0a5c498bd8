"""Metadata of objects: set and validate it; conditions of a status."""

from __future__ import annotations

import datetime
import random
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, invalid_object, limited, required, too_long
from ktui.kube.golang.formatting import NumError, parse_uint, quote, to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_key_faults, path_segment_faults, subdomain_faults
from ktui.kube.resources import Resource
from ktui.kube.status import bare_error, other_namespace
from ktui.writes.strategies import (
    CHANGE,
    FIXED,
    GENERATION_COUNTS,
    META,
    UNCOUNTED_WHEN_NEW,
    VALUES,
    update_order,
)
from ktui.writes.validation.selectors import label_errors
from ktui.writes.validation.values.addresses import IP_FAULT, is_address

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
        if not found["apiVersion"].rpartition("/")[2] or found["apiVersion"].count("/") > 1:
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


_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}"
)


def drop_repeated_owners(obj: Obj, *, patched: bool) -> list[str]:
    """Remove owners that an object names twice, in place; return the warning for them.

    Upstream looks at what a client sends, and again after the admission, which alone sees a patched object.
    """
    metadata = metadata_of(obj)
    kept: dict[bytes, Any] = {}
    repeated = []
    for owner in metadata.get("ownerReferences") or []:
        text = to_json(owner, "sorted")
        if text in kept and isinstance(owner, dict):
            repeated.append(str(owner.get("uid") or ""))
        kept.setdefault(text, owner)
    if not repeated:
        return []
    metadata["ownerReferences"] = [*kept.values()]
    when = " after mutating admission happens" if patched else ""
    return [_REPEATED_OWNERS.format(when, ", ".join(repeated))]


def _in_order(owner: Any) -> Any:
    """Return an owner as Go encodes it."""
    names = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {name: owner[name] for name in names if name in owner}


@limited
def finalizer_errors(finalizers: list[str]) -> Iterator[FieldError]:
    """Finalizers are named like labels; two of them exclude each other."""
    for finalizer in finalizers:
        yield from (invalid("metadata.finalizers", finalizer, why) for why in label_key_faults(finalizer))
    if set(EXCLUSIVE_FINALIZERS) <= set(finalizers):
        why = "finalizer {} and {} cannot be both set".format(*EXCLUSIVE_FINALIZERS)
        yield invalid("metadata.finalizers", finalizers, why)


@limited
def unqualified_errors(finalizers: list[str]) -> Iterator[FieldError]:
    """In built-in kinds, finalizers other than the standard ones have a domain."""
    for at, finalizer in enumerate(finalizers):
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


def sent_version(obj: Obj) -> str:
    """Return the resourceVersion that was sent, "" or "0" for none; StatusError 500 if it is no number."""
    version = str(metadata_of(obj).get("resourceVersion") or "")
    try:
        parse_uint(version or "0")
    except NumError as fault:
        raise bare_error(str(fault)) from None
    return version


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
        counted = {"EndpointSlice": "labels", "Deployment": "annotations"}.get(old["kind"], "")
        before, after = (metadata_of(obj).get(counted) or {} for obj in (old, new))
        return before != after or any(
            old.get(name) != new.get(name) for name in GENERATION_COUNTS[old["kind"]]
        )
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


NameRule = Callable[[str], Iterable[str]]
_NAME_RULES: dict[str, NameRule] = {
    "namespaces": dns_label_faults,
    "services": dns_label_faults,
    "statefulsets": dns_label_faults,
    "apiservices": path_segment_faults,
    "certificatesigningrequests": path_segment_faults,
    "events": path_segment_faults,  # a stricter rule for events.k8s.io is in validation/values/events.py
    "ipaddresses": lambda name: () if is_address(name) else (IP_FAULT,),
    "poddisruptionbudgets": path_segment_faults,
    **dict.fromkeys(("roles", "rolebindings", "clusterroles", "clusterrolebindings"), path_segment_faults),
}
# Kinds whose own rules leave out the metadata: the generic ones see it, once the values are valid.
_ONLY_VALUES = frozenset({"events", "events.events.k8s.io", "poddisruptionbudgets.policy"})

# Groups whose rules use the generic ones for metadata, which allow finalizers without a domain.
_GENERIC = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io"})

_label_errors = limited(label_errors)


def validate_metadata(
    obj: Obj,
    resource: Resource,
    values: Sequence[FieldError] = (),
    change: Sequence[FieldError] | None = None,
    subresource: str = "",
    fixed: Sequence[FieldError] = (),
) -> None:
    """Validate names, labels, annotations, owners and finalizers; raise StatusError 422 with every cause.

    `values` are causes found elsewhere; `change` those of an update, whose metadata is validated both for all
    kinds and by the kind's own rules: each error is reported once more. `fixed` are the immutable fields.
    """
    metadata = metadata_of(obj)
    common, named, unfit = _parts_errors(metadata)
    if resource.custom or resource.group in _GENERIC:
        unfit = []
    rule = _NAME_RULES.get(resource.resource, subdomain_faults)
    meta = [*name_errors(obj, rule), *common, *named, *unfit]
    if change is None:
        errors = [*values] or meta if resource.id in _ONLY_VALUES else [*meta, *values]
    else:
        steps = {META: meta, CHANGE: [*change, *common, *unfit], VALUES: values, FIXED: fixed}
        errors = [*common, *named, *change, *common]
        errors += chain.from_iterable(steps[step] for step in update_order(resource.id, subresource))
    if errors:
        raise invalid_object(resource.kind, resource.internal_group, str(metadata.get("name") or ""), errors)


def metadata_errors(obj: Obj, rule: NameRule) -> list[FieldError]:
    """Return the errors of a built-in object's metadata (upstream: core's ValidateObjectMeta)."""
    return [*name_errors(obj, rule), *chain.from_iterable(_parts_errors(metadata_of(obj)))]


def _parts_errors(metadata: Obj) -> tuple[list[FieldError], list[FieldError], list[FieldError]]:
    """Return the errors of labels, annotations and owners; of finalizers; of those without a domain."""
    finalizers = list(map(str, metadata.get("finalizers") or []))
    common = _label_errors(metadata.get("labels") or {}, "metadata.labels")
    common += annotation_errors(metadata.get("annotations") or {}, "metadata.annotations")
    common += owner_errors(metadata.get("ownerReferences") or [])
    return common, finalizer_errors(finalizers), unqualified_errors(finalizers)


def name_errors(obj: Obj, rule: NameRule) -> list[FieldError]:
    """Return what is wrong with an object's name, and with that from which a name is generated."""
    metadata = metadata_of(obj)
    name, base = str(metadata.get("name") or ""), str(metadata.get("generateName") or "")
    errors = [invalid("metadata.generateName", base, why) for why in base and _base_faults(base, rule)]
    if not name:
        return [*errors, required("metadata.name", "name or generateName is required")]
    faults = list(rule(name))
    if obj.get("kind") == "APIService" and not faults:
        faults = _other_name(name, obj.get("spec") or {})
    return errors + [invalid("metadata.name", name, fault) for fault in faults]


def _base_faults(base: str, rule: NameRule) -> Iterable[str]:
    """A generated name may begin with what ends with a dash (upstream: maskTrailingDash)."""
    if rule is path_segment_faults:
        return [why for why in rule(base) if why.startswith("may not contain")]
    return rule(f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base)


def _other_name(name: str, spec: Obj) -> list[str]:
    """An APIService is named by its version and group."""
    demanded = f"{spec.get('version') or ''}.{spec.get('group') or ''}"
    return [] if name == demanded else [f'must be `spec.version+"."+spec.group`: {quote(demanded)}']


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
