"""Changes that strategies make to a new object between field management and validation."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from ktui.kube.json_trees import Obj
from ktui.kube.users import Requester
from ktui.writes.defaults import TEMPLATE_GENERATION
from ktui.writes.definitions import set_new_status
from ktui.writes.field_paths import values_at
from ktui.writes.gated_fields import drop_gated
from ktui.writes.objectmeta import metadata_of, set_condition, timestamp
from ktui.writes.validation.selectors import generated_labels
from ktui.writes.validation.values.scheduling import POD_TERMS
from ktui.writes.validation.values.security import APP_ARMOR, INSTEAD_OF_ARMOR, app_armor, app_armor_of
from ktui.writes.validation.values.systems import containers_of

# Admission StorageObjectInUseProtection.
PROTECTED = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "VolumeAttributesClass": "kubernetes.io/vac-protection",  # generally available in 1.34
}
TRANSITION_TIME = "lastPhaseTransitionTime"  # of a PersistentVolume, from 1.29 on


def prepare(obj: Obj, minor: int) -> None:
    """Change a new object of a built-in kind in place."""
    drop_gated(obj)
    if change := _PREPARED.get(str(obj.get("kind"))):
        change(obj, minor)


def _protected(obj: Obj, minor: int) -> None:
    metadata, finalizer = metadata_of(obj), PROTECTED[obj["kind"]]
    if obj["kind"] == "VolumeAttributesClass" and minor < 34:
        return
    present = metadata.get("finalizers") or []
    if finalizer not in present:
        metadata["finalizers"] = [*present, finalizer]
    if obj["kind"] == "PersistentVolumeClaim":
        set_data_sources(obj.setdefault("spec", {}))
    elif obj["kind"] == "PersistentVolume" and minor >= 29:
        obj.setdefault("status", {})[TRANSITION_TIME] = timestamp()


def _pod(obj: Obj, minor: int) -> None:
    """Say why a gated pod waits, and select by the pod's own labels where it asks for that."""
    spec = obj.get("spec") or {}
    labels = metadata_of(obj).get("labels") or {}
    for path in POD_TERMS if minor >= 31 else ():
        for term in values_at(spec, path):
            _select(term, labels)
    for constraint in (spec.get("topologySpreadConstraints") or []) if minor >= 34 else ():
        _select(constraint, labels)
    _gated(obj)


def _select(part: Obj, labels: Obj) -> None:
    """Put the labels of these keys into a selector (upstream: applyLabelKeysToLabelSelector)."""
    selector = part.get("labelSelector")
    if selector is None:
        return
    more = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for member, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in part.get(member) or []
        if key in labels
    ]
    if more:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or []), *more]


def set_profiles(pod: Obj) -> list[str]:
    """Set the AppArmor profiles that annotations name, and return warnings (applyAppArmorVersionSkew)."""
    annotations, spec = metadata_of(pod).get("annotations") or {}, pod.get("spec") or {}
    windows = (spec.get("os") or {}).get("name") == "windows"
    if windows or not any(name.startswith(APP_ARMOR) for name in annotations):
        return []
    whole, warnings = (spec.get("securityContext") or {}).get("appArmorProfile"), []
    for _, container in containers_of(spec):
        context, key = container.get("securityContext") or {}, f"{APP_ARMOR}{container.get('name') or ''}"
        if key not in annotations or context.get("appArmorProfile") is not None:
            continue
        profile = app_armor_of(annotations[key])
        fits = profile is not None and not any(app_armor(profile))
        if fits and profile == whole:
            continue
        if fits:
            container["securityContext"] = {**context, "appArmorProfile": profile}
        warnings.append(f"metadata.annotations[{key}]: {INSTEAD_OF_ARMOR}")
    return warnings


def _gated(obj: Obj) -> None:
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


def drop_traffic_policy(service: Obj) -> None:
    """Remove what a service of type ExternalName does not have; upstream leaves it out when it is read.

    A wrong value stays, for validation to refuse it.
    """
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName" and spec.get("internalTrafficPolicy") in ("Cluster", "Local"):
        del spec["internalTrafficPolicy"]


def drop_removed_config(node: Obj, old: Obj | None = None) -> None:
    """Remove the configuration of a kubelet that the API once held, unless the old node has it.

    Upstream: dropDisabledFields of nodes.
    """
    spec, status = node.get("spec") or {}, node.get("status") or {}
    if old is None:
        status.pop("config", None)
    if not ((old or {}).get("spec") or {}).get("configSource"):
        spec.pop("configSource", None)


def name_secrets_only(account: Obj) -> None:
    """Keep only the names of a ServiceAccount's Secrets (upstream: cleanSecretReferences)."""
    for index, reference in enumerate(account.get("secrets") or []):
        account["secrets"][index] = {"name": reference["name"]} if (reference or {}).get("name") else {}


# What the old field can name: upstream drops anything else without a word.
_OLD_SOURCES = (("PersistentVolumeClaim", ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))


def set_data_sources(spec: Obj, stored: Obj | None = None) -> None:
    """Fill a claim's old data source field from the new one, or the new from the old."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if new and new.get("namespace") and not (stored or {}).get("dataSourceRef"):
        new = spec.pop("dataSourceRef") and None  # the gate CrossNamespaceVolumeDataSource is off
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


def relabel(job: Obj, sent: Obj) -> None:
    """Leave out the labels that a new Job has from its template, before that gets those of its pods.

    Upstream's default is the template's map itself: what is added to it later are the Job's labels as well.
    """
    if not (job.get("spec") or {}).get("manualSelector") and not (sent.get("metadata") or {}).get("labels"):
        metadata_of(job).pop("labels", None)


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
    "Node": lambda obj, _: drop_removed_config(obj),
    **dict.fromkeys(PROTECTED, _protected),
    "Pod": _pod,
    "Service": lambda obj, _: drop_traffic_policy(obj),
    "ServiceAccount": lambda obj, _: name_secrets_only(obj),
}
"""What the strategy of a kind changes in a new object, by the minor of the Kubernetes version."""
