"""Rules of a pod's volumes, of claims, and of the sources that persistent volumes share with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, subdomain_faults
from ktui.kube.quantity import amount
from ktui.writes.objectmeta import annotation_errors
from ktui.writes.validation.values import disks
from ktui.writes.validation.values.checks import (
    Check,
    Row,
    Rows,
    at_most_bytes,
    below,
    demand,
    dns_label,
    duplicate,
    every,
    exactly_one,
    has,
    inside,
    labels,
    listed,
    needed,
    one_of,
    refuse,
    relative_path,
    selector,
    subdomain,
    table_of,
    without_parents,
)
from ktui.writes.validation.values.containers import VOLUME_FIELDS, field_ref, resource_ref

HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32
_LONGEST_DRIVER = 63

_absolute_path = demand(lambda path: path.startswith("/"), "must be an absolute path")
_file_mode = demand(
    lambda mode: 0 <= mode <= 0o777, "must be a number between 0 and 0777 (octal), both inclusive"
)


ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_ONLY_CLAIMS = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"


def access_modes(modes: list[str]) -> Iterator[FieldError]:
    yield from (not_supported("", str(mode), ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        yield forbidden("", "may not use ReadWriteOncePod with other access modes")


def _storage(spec: Obj) -> Iterator[FieldError]:
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is None:
        yield required(".resources[storage]")
    elif amount(requested) <= 0:
        yield invalid(".resources[storage]", requested, "must be greater than zero")


def _default_group(source: Obj) -> Iterator[FieldError]:
    kind = str(source.get("kind") or "")
    if not source.get("apiGroup") and kind != "PersistentVolumeClaim":
        yield invalid("", kind, _ONLY_CLAIMS)


_SOURCE = table_of(
    ("", has("name", "kind")), ("", _default_group), ("apiGroup", subdomain), ("namespace", dns_label),
)  # fmt: skip


def _one_source(spec: Obj) -> Iterator[FieldError]:
    """The old and the new field agree; upstream shows a path, which has no members in JSON."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if old is None or new is None:
        return
    if new.get("namespace"):
        yield invalid("", {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(old.get(name) != new.get(name) for name in ("apiGroup", "kind", "name")):
        yield invalid("", {}, "must match dataSourceRef")


CLAIM_SPEC: Rows = (
    ("", has("accessModes", why="at least 1 access mode is required")), ("selector", selector),
    ("accessModes", access_modes), ("", _storage), ("storageClassName", subdomain),
    ("volumeMode", listed(*VOLUME_MODES)), ("dataSource", _SOURCE), ("dataSourceRef", _SOURCE),
    ("", _one_source), ("volumeAttributesClassName", subdomain),
)  # fmt: skip


def inner_path(value: str) -> Iterator[FieldError]:
    """A path below a volume: relative, and not one of the names that are the kubelet's own."""
    yield from relative_path(value)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid("", value, "must not start with '..'")


def _host_path(source: Obj) -> Iterator[FieldError]:
    if not source.get("path"):
        yield required(".path")
        return
    yield from inside(".path", without_parents(source["path"]))
    if (kind := source.get("type")) is not None and kind not in HOST_PATH_TYPES:
        yield not_supported(".type", kind, HOST_PATH_TYPES)


def _one_field(item: Obj) -> Iterator[FieldError]:
    of_pod, of_container = item.get("fieldRef"), item.get("resourceFieldRef")
    if of_pod is None and of_container is None:
        yield required("", "one of fieldRef and resourceFieldRef is required")
    elif of_pod is None:
        yield from inside(".resourceFieldRef", resource_ref(of_volume=True)(of_container))
    elif of_container is not None:
        yield invalid("", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")


_INNER_PATH: Row = ("path:text", inner_path)
_ITEM: Rows = (("", has("key", "path")), _INNER_PATH, ("mode", _file_mode))
_FILE = table_of(
    ("", has("path")), _INNER_PATH, ("fieldRef", field_ref(VOLUME_FIELDS)), ("", _one_field),
    ("mode", _file_mode),
)  # fmt: skip


def _files(source: Obj) -> Iterator[FieldError]:
    """Check the files of a downward API volume; upstream's path of each is that of the volume."""
    for item in source.get("items") or []:
        yield from _FILE(item)


def _projected(source: Obj) -> Iterator[FieldError]:
    """Check the sources of a projected volume, whose files differ in their paths."""
    taken: set[str] = set()
    for index, each in enumerate(source.get("sources") or []):
        where = f".sources[{index}]"
        there = [name for name in _PROJECTIONS if each.get(name) is not None]
        for name in there:
            check, paths = _PROJECTIONS[name]
            yield from inside(f"{where}.{name}", check(each[name]))
            for path in paths(each[name]):
                if path in taken:
                    shown = each[name].get("name") or "" if name in ("secret", "configMap") else path
                    yield invalid("", shown, "conflicting duplicate paths")
                taken.add(path)
        if token := each.get("serviceAccountToken"):  # upstream's path of its path is that of the volume
            yield from has("path")(token)
            yield from inside(".path", inner_path(token.get("path") or ""))
        if len(there) > 1:
            yield forbidden(where, "may not specify more than 1 volume type per source")


def _of_items(source: Obj) -> list[str]:
    return [item["path"] for item in source.get("items") or [] if item.get("path")]


def token_lifetime(seconds: int) -> Iterator[FieldError]:
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        bound = "less than 10 minutes" if seconds < _LEAST_SECONDS else "larger than 2^32 seconds"
        yield invalid("", seconds, f"may not specify a duration {bound}")


def _bundle(bundle: Obj) -> Iterator[FieldError]:
    """Check a trust bundle: by its name, or by its signer and a selector."""
    name, signer, path = bundle.get("name"), bundle.get("signerName"), str(bundle.get("path") or "")
    if name is not None and signer is not None:
        yield invalid("", bundle, "only one of name and signerName may be used")
    elif name is None and signer is None:
        yield required("", "either name or signerName must be specified")
    elif name == "":
        yield required(".name", "must be a valid object name")
    elif signer == "":
        yield required(".signerName", "must be a valid signer name")
    elif name is not None and bundle.get("labelSelector") is not None:
        why = "labelSelector must be unset if name is specified"
        yield invalid(".labelSelector", bundle["labelSelector"], why)
    if not path:
        yield required(".path")
    yield from inside(".path", inner_path(path))


_projected_items = table_of(("", has("name")), *below("items[]", _ITEM))
# The check of each source of a projected volume, and the paths of its files.
_PROJECTIONS: dict[str, tuple[Check, Callable[[Obj], list[str]]]] = {
    "secret": (_projected_items, _of_items),
    "configMap": (_projected_items, _of_items),
    "downwardAPI": (_files, _of_items),
    "serviceAccountToken": (table_of(("expirationSeconds", token_lifetime)), lambda _: []),
    "clusterTrustBundle": (_bundle, lambda source: [str(source.get("path") or "")]),
}


driver_name = needed(every(
    at_most_bytes(_LONGEST_DRIVER),
    lambda name: [invalid("", name, why) for why in subdomain_faults(name.lower())],
))  # fmt: skip
"""The name of a CSI driver, or of one of devices (upstream: ValidateCSIDriverName)."""


def _secret_of_driver(source: Obj) -> Iterator[FieldError]:
    """Check the name of a pod's secret for a driver; upstream's path of it is that of the source."""
    yield from inside(".name", subdomain((source.get("nodePublishSecretRef") or {}).get("name") or ""))


def template_metadata(metadata: Obj) -> Iterator[FieldError]:
    """A claim that is made for a pod gets labels and annotations: nothing else, not even an empty list."""
    yield from inside(".annotations", annotation_errors(metadata.get("annotations") or {}, ""))
    yield from inside(".labels", labels(metadata.get("labels") or {}))
    for name in _UNSETTABLE:
        value = metadata.get(name)
        if value or isinstance(value, list) or (name == "deletionGracePeriodSeconds" and value is not None):
            yield forbidden(".uID" if name == "uid" else f".{name}", "cannot be set")


# What a template's metadata cannot have, in the order of Go's ObjectMeta.
_UNSETTABLE = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers",
    "managedFields",
)  # fmt: skip
_ITEMS: Rows = (("defaultMode", _file_mode), *below("items[]", _ITEM))
_NOTHING = table_of()
HOST_PATH = table_of(("", _host_path))
NFS = table_of(("", has("server", "path")), ("path:text", _absolute_path))
_BAD_SIZE = refuse(lambda v: amount(v) < 0, "", "SizeLimit field must be a valid resource quantity")
PULL_POLICY = one_of("Always", "IfNotPresent", "Never")
_OWN = {
    "emptyDir": table_of(("sizeLimit", _BAD_SIZE)),
    "hostPath": HOST_PATH,
    "secret": table_of(("", has("secretName")), *_ITEMS),
    "nfs": NFS,
    "persistentVolumeClaim": table_of(("", has("claimName"))),
    "downwardAPI": table_of(("defaultMode", _file_mode), ("", _files)),
    "configMap": table_of(("", has("name")), *_ITEMS),
    "projected": table_of(("defaultMode", _file_mode), ("", _projected)),
    "csi": table_of(
        ("driver:text", driver_name),
        ("nodePublishSecretRef", has("name")),
        ("", _secret_of_driver),
    ),
    "ephemeral": table_of(
        ("", has("volumeClaimTemplate")),
        ("volumeClaimTemplate.metadata", template_metadata),
        *below("volumeClaimTemplate.spec", CLAIM_SPEC),
    ),
    "image": table_of(("pullPolicy", PULL_POLICY)),
}  # fmt: skip
# The sources of a volume, in the order in which the first of them counts.
SOURCES = disks.sources((
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs",
    "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte",
    "downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk",
    "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi", "ephemeral", "image",
), _OWN)  # fmt: skip
SHOWN = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}  # upstream's fields where there are too many
_DISK = ".gcePersistentDisk."
_source = exactly_one(SOURCES, "volume", SHOWN)
_IMAGE = table_of(("", has("reference")), ("pullPolicy", PULL_POLICY))
_source_of_pod = exactly_one({**SOURCES, "image": _IMAGE}, "volume", SHOWN)


def _volume(volume: Obj, pod: Obj | None) -> Iterator[FieldError]:
    """Check what a volume is of; upstream has another path of the errors in Google's disks."""
    for error in (_source if pod is None else _source_of_pod)(volume):
        if error.field.startswith(_DISK):
            error = replace(error, field=f".persistentDisk.{error.field.removeprefix(_DISK)}")
        yield error
    yield from disks.long_portal(volume)
    if next((name for name in SOURCES if volume.get(name) is not None), "") == "ephemeral":
        yield from _claim_name(volume, str((((pod or {}).get("metadata")) or {}).get("name") or ""))


def _claim_name(volume: Obj, pod: str) -> Iterator[FieldError]:
    """The claim that is made for a pod's volume has a name of both."""
    name = str(volume.get("name") or "")
    for why in subdomain_faults(f"{pod}-{name}") if pod and name else ():
        yield invalid(".name", name, f"PVC name {quote(f'{pod}-{name}')}: {why}")


def volumes(found: list[Obj], valid: dict[str, Any], pod: Obj | None = None) -> Iterator[FieldError]:
    """Check the volumes of a pod or template, and add the valid ones to `valid` by their names.

    `pod` is None for a template.
    """
    for index, volume in enumerate(found):
        name = str(volume.get("name") or "")
        errors = list(inside(f"[{index}]", _volume(volume, pod)))
        if not name:
            errors.append(required(f"[{index}].name"))
        else:
            errors += (invalid(f"[{index}].name", name, why) for why in dns_label_faults(name))
        if name in valid:
            errors.append(duplicate(f"[{index}].name", name))
        if not errors:
            valid[name] = volume
        yield from errors
