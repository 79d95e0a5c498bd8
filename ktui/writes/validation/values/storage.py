"""Rules of volumes, claims and storage classes (upstream: core/validation, storage/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.updates.storage import VOLUME_FIELDS
from ktui.writes.validation.values.checks import (
    Row,
    below,
    has,
    more_than_nothing,
    one_of,
    one_of_or_none,
    selector,
    subdomain,
)
from ktui.writes.validation.values.pods import HOST_PATH, NFS
from ktui.writes.validation.values.scheduling import NODE_SELECTOR

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MODES = ("Block", "Filesystem")
_ALONE = "may not use ReadWriteOncePod with other access modes"


def _source(spec: Obj) -> Iterator[FieldError]:
    there = [name for name, value in spec.items() if name not in VOLUME_FIELDS and value is not None]
    if not there:
        yield required("", "must specify a volume type")
    for name in there[1:]:
        yield forbidden(f".{name}", "may not specify more than 1 volume type")
    if (spec.get("hostPath") or {}).get("path") == "/" and spec.get(
        "persistentVolumeReclaimPolicy"
    ) == "Recycle":
        yield forbidden(".persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
    if spec.get("local") is not None and not (spec.get("nodeAffinity") or {}).get("required"):
        yield required(".nodeAffinity", "Local volume requires node affinity")


def _modes(modes: list[str]) -> Iterator[FieldError]:
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield forbidden("", _ALONE)


def _claim(spec: Obj) -> Iterator[FieldError]:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(".accessModes", "at least 1 access mode is required")
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(".accessModes", str(mode), ACCESS_MODES)
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is None:
        yield required(".resources[storage]")
    elif amount(requested) <= 0:
        yield invalid(".resources[storage]", requested, "must be greater than zero")


def _volume(spec: Obj) -> Iterator[FieldError]:
    if not spec.get("accessModes"):
        yield required(".accessModes")
    for mode in spec.get("accessModes") or []:
        if mode not in ACCESS_MODES:
            yield not_supported(".accessModes", str(mode), ACCESS_MODES)
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield required(".capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported(".capacity", [*capacity], ("storage",))


def _provisioner(obj: Obj) -> Iterator[FieldError]:
    name = str(obj.get("provisioner") or "")
    if not name:
        yield required(".provisioner")
    else:
        yield from (invalid(".provisioner", name, why) for why in label_key_faults(name.lower()))


def _parameters(parameters: Obj) -> Iterator[FieldError]:
    if "" in parameters:
        yield invalid("", parameters, "field can not be empty.")


VOLUME: tuple[Row, ...] = below(
    "spec",
    (
        ("", _volume),
        ("capacity{}", more_than_nothing),
        ("accessModes", _modes),
        ("", _source),
        ("persistentVolumeReclaimPolicy", one_of_or_none("Delete", "Recycle", "Retain")),
        ("volumeMode", one_of(*_MODES)),
        ("storageClassName", subdomain),
        *below("hostPath", HOST_PATH),
        *below("nfs", NFS),
        ("local", has("path")),
        ("csi", has("driver", "volumeHandle")),
        ("nodeAffinity", has("required")),
        *below("nodeAffinity.required", NODE_SELECTOR),
    ),
)
CLAIM: tuple[Row, ...] = below(
    "spec",
    (
        ("", _claim),
        ("accessModes", _modes),
        ("volumeMode", one_of(*_MODES)),
        ("storageClassName", subdomain),
        ("selector", selector),
        ("dataSource", has("kind", "name")),
        ("dataSourceRef", has("kind", "name")),
    ),
)
STORAGE_CLASS: tuple[Row, ...] = (
    ("", _provisioner),
    ("reclaimPolicy", one_of("Delete", "Retain")),
    ("volumeBindingMode", one_of("Immediate", "WaitForFirstConsumer")),
    ("parameters", _parameters),
    ("allowedTopologies[].matchLabelExpressions[]", has("values")),
)
CSI_DRIVER: tuple[Row, ...] = (
    ("spec.volumeLifecycleModes[]", one_of("Ephemeral", "Persistent")),
    ("spec.fsGroupPolicy", one_of("File", "None", "ReadWriteOnceWithFSType")),
)
