"""Changes that strategies make to a new object between field management and validation."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from ktui.kube.json_trees import Obj
from ktui.kube.users import Requester
from ktui.writes.defaults import TEMPLATE_GENERATION
from ktui.writes.definitions import set_new_status
from ktui.writes.objectmeta import metadata_of, set_condition, timestamp
from ktui.writes.validation.selectors import generated_labels

# Admission StorageObjectInUseProtection.
PROTECTED = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


TRANSITION_TIME = "lastPhaseTransitionTime"  # of a PersistentVolume, from 1.29 on


def prepare(obj: Obj, minor: int) -> None:
    """Change a new object of a built-in kind in place."""
    if change := _PREPARED.get(str(obj.get("kind"))):
        change(obj, minor)


def _protected(obj: Obj, minor: int) -> None:
    metadata, finalizer = metadata_of(obj), PROTECTED[obj["kind"]]
    present = metadata.get("finalizers") or []
    if finalizer not in present:
        metadata["finalizers"] = [*present, finalizer]
    if obj["kind"] == "PersistentVolumeClaim":
        set_data_sources(obj.setdefault("spec", {}))
    elif minor >= 29:
        obj.setdefault("status", {})[TRANSITION_TIME] = timestamp()


def _gated(obj: Obj, _: int) -> None:
    if (obj.get("spec") or {}).get("schedulingGates"):
        gated = {
            "type": "PodScheduled", "status": "False", "lastProbeTime": None, "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": timestamp(),
        }  # fmt: skip
        obj.setdefault("status", {}).setdefault("conditions", [gated])


def _daemons(obj: Obj, _: int) -> None:
    annotations = metadata_of(obj).setdefault("annotations", {})
    annotations[TEMPLATE_GENERATION] = str(max(1, int(annotations.get(TEMPLATE_GENERATION) or 1)))


def _named_range(obj: Obj, _: int) -> None:
    metadata = metadata_of(obj)
    metadata["name"] = metadata.get("name") or str(uuid.uuid4())


def _local(obj: Obj, _: int) -> None:
    """An APIService without a service is one of the server's own."""
    if not (obj.get("spec") or {}).get("service"):
        set_condition(obj, "Available", "True", "Local", "Local APIServices are always available")


def _namespace(obj: Obj, _: int) -> None:
    spec = obj.setdefault("spec", {})
    finalizers = spec.get("finalizers") or []
    spec["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]


def _rolling(workload: Obj) -> Obj | None:
    rolling: Obj | None = ((workload.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate")
    return rolling


def drop_most_unavailable(obj: Obj, old: Obj | None = None) -> None:
    """Remove what the gate MaxUnavailableStatefulSet allows, off in 1.36, unless the old object has it."""
    found, stored = map(_rolling, (obj, old or {}))
    if found and (stored or {}).get("maxUnavailable") is None:
        found.pop("maxUnavailable", None)


def drop_traffic_policy(service: Obj) -> None:
    """Remove what a service of type ExternalName does not have; upstream leaves it out when it is read."""
    if (service.get("spec") or {}).get("type") == "ExternalName":
        service["spec"].pop("internalTrafficPolicy", None)


# What the old field can name: upstream drops anything else without a word.
_OLD_SOURCES = (("PersistentVolumeClaim", ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))


def set_data_sources(spec: Obj, stored: Obj | None = None) -> None:
    """Fill a claim's old data source field from the new one, or the new from the old."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    used = any((stored or {}).get(name) for name in ("dataSource", "dataSourceRef"))
    if not used and old and not new and (old.get("kind"), old.get("apiGroup") or "") not in _OLD_SOURCES:
        old = spec.pop("dataSource") and None
    if old and not new:
        spec["dataSourceRef"] = dict(old)
    elif new and not old and not new.get("namespace"):
        spec["dataSource"] = {name: value for name, value in new.items() if name != "namespace"}


def set_requester(request: Obj, who: Requester) -> None:
    """Set the user who requests a certificate, which a client cannot choose."""
    document = who.document()
    spec = {n: v for n, v in (request.get("spec") or {}).items() if n not in ("uid", "groups", "extra")}
    request["spec"] = {**spec, **document}
    request["status"] = {}


def generate_selector(job: Obj, minor: int) -> None:
    """Set the labels by which a Job selects only its own pods, unless its selector is manual."""
    spec = job.setdefault("spec", {})
    if spec.get("manualSelector"):
        return
    metadata = metadata_of(job)
    labels = metadata_of(spec.setdefault("template", {})).setdefault("labels", {})
    for label, member in generated_labels(minor).items():
        labels.setdefault(label, metadata.get(member, ""))
    selector = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    own = "batch.kubernetes.io/controller-uid" if minor >= 27 else "controller-uid"
    selector.setdefault(own, metadata["uid"])
    metadata["labels"] = metadata.get("labels") or dict(labels)  # upstream sets this default at every read


_PREPARED: dict[str, Callable[[Obj, int], None]] = {
    "APIService": _local,
    "CustomResourceDefinition": lambda obj, _: set_new_status(obj),
    "DaemonSet": _daemons,
    "Job": generate_selector,
    "LimitRange": _named_range,
    "Namespace": _namespace,
    **dict.fromkeys(PROTECTED, _protected),
    "Pod": _gated,
    "Service": lambda obj, _: drop_traffic_policy(obj),
    "StatefulSet": lambda obj, _: drop_most_unavailable(obj),
}
"""What the strategy of a kind changes in a new object, by the minor of the Kubernetes version."""
