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
    demand,
    has,
    more_than_nothing,
    one_kind,
    one_of,
    one_of_or_none,
    selector,
    subdomain,
)
from ktui.writes.validation.values.pods import HOST_PATH, NFS
from ktui.writes.validation.values.scheduling import NODE_SELECTOR

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_MODES = ("Block", "Filesystem")


_one_source = one_kind(
    "volume", "must specify a volume type", lambda spec: [name for name in spec if name not in VOLUME_FIELDS]
)


def _source(spec: Obj) -> Iterator[FieldError]:
    yield from _one_source(spec)
    if (spec.get("hostPath") or {}).get("path") == "/" and spec.get(
        "persistentVolumeReclaimPolicy"
    ) == "Recycle":
        yield forbidden(".persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
    if spec.get("local") is not None and not (spec.get("nodeAffinity") or {}).get("required"):
        yield required(".nodeAffinity", "Local volume requires node affinity")


def _modes(modes: list[str]) -> Iterator[FieldError]:
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield forbidden("", "may not use ReadWriteOncePod with other access modes")


def _access(spec: Obj, lacking: str = "") -> Iterator[FieldError]:
    if not spec.get("accessModes"):
        yield required(".accessModes", lacking)
    for mode in spec.get("accessModes") or []:
        if mode not in ACCESS_MODES:
            yield not_supported(".accessModes", str(mode), ACCESS_MODES)


def _claim(spec: Obj) -> Iterator[FieldError]:
    yield from _access(spec, "at least 1 access mode is required")
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is None:
        yield required(".resources[storage]")
    elif amount(requested) <= 0:
        yield invalid(".resources[storage]", requested, "must be greater than zero")


def _volume(spec: Obj) -> Iterator[FieldError]:
    yield from _access(spec)
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
    ("parameters", demand(lambda parameters: "" not in parameters, "field can not be empty.")),
    ("allowedTopologies[].matchLabelExpressions[]", has("values")),
)
CSI_DRIVER: tuple[Row, ...] = (
    ("spec.volumeLifecycleModes[]", one_of("Ephemeral", "Persistent")),
    ("spec.fsGroupPolicy", one_of("File", "None", "ReadWriteOnceWithFSType")),
)
