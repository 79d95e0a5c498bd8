"""Changes that strategies make to a new object between field management and validation."""

from __future__ import annotations

import uuid

from ktui.kube.json_trees import Obj
from ktui.kube.users import Requester
from ktui.writes.defaults import TEMPLATE_GENERATION
from ktui.writes.definitions import set_new_status
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.validation.selectors import generated_labels

# Admission StorageObjectInUseProtection.
PROTECTED = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


TRANSITION_TIME = "lastPhaseTransitionTime"  # of a PersistentVolume, from 1.29 on


def prepare(obj: Obj, minor: int) -> None:
    """Change a new object of a built-in kind in place."""
    kind = obj.get("kind")
    if kind == "Job":
        generate_selector(obj, minor)
    elif kind == "LimitRange":
        metadata = metadata_of(obj)
        metadata["name"] = metadata.get("name") or str(uuid.uuid4())
    elif kind == "DaemonSet":
        metadata_of(obj).setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"
    elif kind in PROTECTED:
        metadata = metadata_of(obj)
        present = metadata.get("finalizers") or []
        if PROTECTED[kind] not in present:
            metadata["finalizers"] = [*present, PROTECTED[kind]]
        if kind == "PersistentVolumeClaim":
            set_data_sources(obj.setdefault("spec", {}))
        elif minor >= 29:
            obj.setdefault("status", {})[TRANSITION_TIME] = timestamp()
    elif kind == "Pod" and (obj.get("spec") or {}).get("schedulingGates"):
        gated = {
            "type": "PodScheduled", "status": "False", "lastProbeTime": None, "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": timestamp(),
        }  # fmt: skip
        obj.setdefault("status", {}).setdefault("conditions", [gated])
    elif kind == "Service":
        drop_traffic_policy(obj)
    elif kind == "CustomResourceDefinition":
        set_new_status(obj)
    elif kind == "Namespace":
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        spec["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]


def drop_traffic_policy(service: Obj) -> None:
    """Remove what a service of type ExternalName does not have; upstream leaves it out when it is read."""
    if (service.get("spec") or {}).get("type") == "ExternalName":
        service["spec"].pop("internalTrafficPolicy", None)


def set_data_sources(spec: Obj) -> None:
    """Fill a claim's old data source field from the new one, or the new from the old."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
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
