"""Rules of volumes, claims and storage classes (upstream: core/validation, storage/validation)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation.values.checks import (
    Rows,
    below,
    duplicate,
    exactly_one,
    has,
    inside,
    label_key,
    listed,
    more_than_nothing,
    one_of_or_none,
    qualified,
    subdomain,
    table_of,
    without_parents,
)
from ktui.writes.validation.values.claims import CLAIM_SPEC, VOLUME_MODES, access_modes
from ktui.writes.validation.values.scheduling import NODE_SELECTOR
from ktui.writes.validation.values.volumes import HOST_PATH, NFS, SHOWN, driver

_MOST_PARAMETERS, _MOST_PARAMETER_BYTES = 512, 256 * 1024


def _capacity(spec: Obj) -> Iterator[FieldError]:
    given = spec.get("capacity")
    capacity = dict(sorted((given or {}).items()))
    if not capacity:
        yield required(".capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported(".capacity", None if given is None else capacity, ("storage",))
    for name, value in capacity.items():
        if amount(value) < 0:
            whole = math.ceil(amount(value))
            yield invalid(f".capacity[{name}]", whole, "must be a valid resource quantity")
        yield from inside(f".capacity[{name}]", more_than_nothing(value))


def _volume_source(spec: Obj) -> Iterator[FieldError]:
    there = next((name for name in SOURCES if spec.get(name) is not None), "")
    yield from _source(spec)
    if there == "local" and spec.get("nodeAffinity") is None:
        yield required(".nodeAffinity", "Local volume requires node affinity")
    path, policy = (spec.get("hostPath") or {}).get("path"), spec.get("persistentVolumeReclaimPolicy")
    if (path, policy) == ("/", "Recycle"):
        yield forbidden(".persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")


def _attributes(spec: Obj) -> Iterator[FieldError]:
    name = spec.get("volumeAttributesClassName")
    if name is None:
        return
    if not name:
        yield required(".volumeAttributesClassName", "an empty string is disallowed")
    yield from inside(".volumeAttributesClassName", subdomain(name))
    if spec.get("csi") is None:
        yield required(".csi", "has to be specified when using volumeAttributesClassName")


_NOTHING = table_of()
# The sources of a persistent volume, in the order in which the first of them counts.
SOURCES = {
    "hostPath": HOST_PATH,
    **dict.fromkeys(("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker"), _NOTHING),
    "nfs": NFS,
    **dict.fromkeys(("rbd", "quobyte", "cephfs"), _NOTHING),
    "iscsi": table_of(("", has("targetPortal", "iqn"))),
    **dict.fromkeys(("cinder", "fc", "flexVolume", "azureFile", "vsphereVolume"), _NOTHING),
    **dict.fromkeys(("photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO"), _NOTHING),
    "local": table_of(("", has("path")), ("path", without_parents)),
    "storageos": _NOTHING,
    "csi": table_of(("", driver), ("", has("volumeHandle"))),
}
_source = exactly_one(SOURCES, "volume", SHOWN)


def _parameters(parameters: Obj) -> Iterator[FieldError]:
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("", _MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid("", "", "field can not be empty.")
    if sum(len(f"{name}{value}".encode()) for name, value in parameters.items()) > _MOST_PARAMETER_BYTES:
        yield too_long("", _MOST_PARAMETER_BYTES)


def _lifecycle(modes: list[str]) -> Iterator[FieldError]:
    """Check each mode; upstream's path of it is that of the list."""
    known = ("Persistent", "Ephemeral")
    yield from (not_supported("", mode, known) for mode in modes if mode not in known)


def _topologies(terms: list[Obj]) -> Iterator[FieldError]:
    """Check the topologies of a class, whose terms and values differ."""
    seen: list[dict[str, frozenset[str]]] = [{} for _ in terms]  # as upstream makes its list
    for index, term in enumerate(terms):
        keys: dict[str, frozenset[str]] = {}
        for at, expression in enumerate(term.get("matchLabelExpressions") or []):
            where = f"[{index}].matchLabelExpressions[{at}]"
            key, values = str(expression.get("key") or ""), expression.get("values") or []
            if not values:
                yield required(f"{where}.values")
            for number, value in enumerate(values):
                if value in values[:number]:
                    yield duplicate(f"{where}.values[{number}]", value)
            yield from inside(f"{where}.key", label_key(key))
            if key in keys:
                yield duplicate(f"{where}.key", key)
            keys[key] = frozenset(values)
        for _ in range(seen.count(keys)):
            yield duplicate(f"[{index}].matchLabelExpressions", "")
        seen.append(keys)


KINDS: dict[str, Rows] = {
    "csidrivers.storage.k8s.io": (
        ("spec.fsGroupPolicy", listed("File", "None", "ReadWriteOnceWithFSType")),
        ("spec.volumeLifecycleModes", _lifecycle),
    ),
    "persistentvolumeclaims": below("spec", CLAIM_SPEC),
    "persistentvolumes": below("spec", (
        ("", has("accessModes")), ("accessModes", access_modes), ("", _capacity),
        ("persistentVolumeReclaimPolicy", one_of_or_none("Delete", "Recycle", "Retain")),
        ("nodeAffinity", has("required", why="must specify required node constraints")),
        *below("nodeAffinity.required", NODE_SELECTOR), ("", _volume_source), ("storageClassName", subdomain),
        ("volumeMode", listed(*VOLUME_MODES)), ("", _attributes),
    )),
    "storageclasses.storage.k8s.io": (
        ("", has("provisioner")), ("provisioner", lambda name: qualified(name.lower())),
        ("parameters", _parameters), ("reclaimPolicy", one_of_or_none("Delete", "Retain")),
        ("volumeBindingMode", listed("Immediate", "WaitForFirstConsumer")),
        ("allowedTopologies", _topologies),
    ),
}  # fmt: skip
