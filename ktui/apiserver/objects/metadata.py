"""What the server itself writes into metadata."""

from __future__ import annotations

import datetime
import random
import re
import uuid
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid_object, invalid_value, required
from ktui.kube.names import (
    dns_label_faults,
    label_key_faults,
    label_value_faults,
    path_segment_faults,
    subdomain_faults,
)
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request, bare_error

Obj = dict[str, Any]

# apimachinery: rand.String leaves out vowels and look-alikes.
SUFFIX_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
MAX_GENERATED_BASE = 58
# Built-in kinds whose strategy counts generations (custom resources always do).
COUNTS_GENERATIONS = frozenset(
    {
        "CronJob",
        "CustomResourceDefinition",
        "DaemonSet",
        "Deployment",
        "FlowSchema",
        "Ingress",
        "Job",
        "MutatingWebhookConfiguration",
        "NetworkPolicy",
        "Pod",
        "PodDisruptionBudget",
        "PriorityLevelConfiguration",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "ValidatingWebhookConfiguration",
    }
)


def timestamp(now: datetime.datetime | None = None) -> str:
    """RFC 3339 with whole seconds, UTC."""
    return (now or datetime.datetime.now(datetime.UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata_of(obj: Obj) -> Obj:
    """The object's metadata, created when missing."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        metadata = obj["metadata"] = {}
    return metadata


def drop_empty(metadata: Obj) -> None:
    """Members that Go's encoding of ObjectMeta leaves out; an empty managedFields list has a meaning."""
    empty = [n for n, v in metadata.items() if v is None or (v in ({}, []) and n != "managedFields")]
    for name in empty:
        del metadata[name]


def counts_generations(obj: Obj, resource: Resource) -> bool:
    return resource.custom or obj.get("kind") in COUNTS_GENERATIONS


def fill_new(obj: Obj, resource: Resource, namespace: str) -> None:
    """Name, namespace, uid, creationTimestamp and generation of an object to be created.

    StatusError 400 for another namespace than the path's, 500 for a resourceVersion.
    """
    metadata = metadata_of(obj)
    if metadata.get("resourceVersion") not in (None, "", "0"):
        raise bare_error("resourceVersion should not be set on objects to be created")
    if metadata.get("namespace", "") not in ("", namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
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
    if counts_generations(obj, resource):
        metadata["generation"] = 1


def generate_name(base: str) -> str:
    """The base, cut to fit, and five random characters."""
    suffix = "".join(random.choices(SUFFIX_CHARACTERS, k=SUFFIX_LENGTH))
    return base[:MAX_GENERATED_BASE] + suffix


_NAME_RULES = {
    "namespaces": dns_label_faults,
    "services": dns_label_faults,
    **dict.fromkeys(("roles", "rolebindings", "clusterroles", "clusterrolebindings"), path_segment_faults),
}
_QUALIFIED_FINALIZER = re.compile(r"[^/]+/[^/]+")
STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


# An update's labels are looked at by the generic strategy, as changed metadata, and by the kind's own rules.
LABEL_CHECKS_OF_UPDATE, LABEL_CHECKS_OF_CUSTOM_UPDATE = 3, 2


def validate_metadata(obj: Obj, resource: Resource, label_checks: int = 1) -> None:
    """Names, labels, annotations and finalizers; StatusError 422 with every cause.

    Each of `label_checks` finds what is wrong with labels, and has a cause of its own.
    """
    metadata = metadata_of(obj)
    errors: list[FieldError] = []
    name = str(metadata.get("name") or "")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        rule = _NAME_RULES.get(resource.resource, subdomain_faults)
        errors += [invalid_value("metadata.name", name, fault) for fault in rule(name)]
    errors += _label_errors(metadata.get("labels") or {}) * label_checks
    for at, finalizer in enumerate(metadata.get("finalizers") or []):
        if finalizer not in STANDARD_FINALIZERS and not _QUALIFIED_FINALIZER.fullmatch(str(finalizer)):
            why = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid_value(f"metadata.finalizers[{at}]", finalizer, why))
    if errors:
        raise invalid_object(resource.kind, resource.group, name, errors)


def _label_errors(labels: Obj) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += [invalid_value("metadata.labels", key, fault) for fault in label_key_faults(key)]
        errors += [invalid_value("metadata.labels", value, fault) for fault in label_value_faults(str(value))]
    return errors
