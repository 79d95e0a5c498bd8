"""Rules of a pod's volumes, and of the sources that persistent volumes share with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, subdomain_faults
from ktui.kube.quantity import amount
from ktui.writes.objectmeta import annotation_errors
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    RuleTree,
    absolute_path,
    below,
    between,
    duplicate,
    exactly_one,
    file_mode,
    has,
    inside,
    labels,
    one_of,
    refuse,
    relative_path,
    table_of,
    text_of,
    without_parents,
)
from ktui.writes.validation.values.claims import CLAIM_SPEC
from ktui.writes.validation.values.containers import VOLUME_FIELDS, field_ref, resource_ref

HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32
_ISCSI = re.compile(
    r"iqn\.\d{4}-\d{2}\.([a-z0-9.-]+)(:[^,;*&$|\s]+)$|eui.[\da-fA-F]{16}$|naa.[\da-fA-F]{32}$"
)
_LONGEST_DRIVER = 63


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


def _portal(source: Obj) -> Iterator[FieldError]:
    yield from has("targetPortal", "iqn")(source)
    name = str(source.get("iqn") or "")
    if name and not name.startswith(("iqn", "eui", "naa")):
        yield invalid(".iqn", name, "must be valid format starting with iqn, eui, or naa")
    elif name and not _ISCSI.match(name):
        yield invalid(".iqn", name, "must be valid format")
    yield from inside(".lun", between(0, 255)(source.get("lun") or 0))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and not source.get("secretRef"):
        yield required(".secretRef")


def _one_field(item: Obj) -> Iterator[FieldError]:
    of_pod, of_container = item.get("fieldRef"), item.get("resourceFieldRef")
    if of_pod is None and of_container is None:
        yield required("", "one of fieldRef and resourceFieldRef is required")
    elif of_pod is None:
        yield from inside(".resourceFieldRef", resource_ref(of_volume=True)(of_container))
    elif of_container is not None:
        yield invalid("", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")


_inner_path = text_of("path", inner_path)
_ITEM: Rows = (("", has("key", "path")), ("", _inner_path), ("mode", file_mode))
_FILE = table_of(
    ("", has("path")), ("", _inner_path), ("fieldRef", field_ref(VOLUME_FIELDS)), ("", _one_field),
    ("mode", file_mode),
)  # fmt: skip


def _files(source: Obj) -> Iterator[FieldError]:
    """Check the files of a downward API volume; upstream's path of each is that of the volume."""
    for item in source.get("items") or []:
        yield from _FILE.relative(item)


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
            yield from _inner_path(token)
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


_projected_items = table_of(("", has("name")), *below("items[]", _ITEM)).relative
# The check of each source of a projected volume, and the paths of its files.
_PROJECTIONS: dict[str, tuple[Check, Callable[[Obj], list[str]]]] = {
    "secret": (_projected_items, _of_items),
    "configMap": (_projected_items, _of_items),
    "downwardAPI": (_files, _of_items),
    "serviceAccountToken": (table_of(("expirationSeconds", token_lifetime)).relative, lambda _: []),
    "clusterTrustBundle": (_bundle, lambda source: [str(source.get("path") or "")]),
}


def driver(source: Obj) -> Iterator[FieldError]:
    """Check the driver of a CSI volume."""
    yield from has("driver")(source)
    name = str(source.get("driver") or "")
    if len(name) > _LONGEST_DRIVER:
        yield too_long(".driver", _LONGEST_DRIVER)
    if name:
        yield from (invalid(".driver", name, why) for why in subdomain_faults(name.lower()))
    if (secret := source.get("nodePublishSecretRef")) is not None and not secret.get("name"):
        yield required(".nodePublishSecretRef.name")


def _template_metadata(metadata: Obj) -> Iterator[FieldError]:
    """A claim that is made for a pod gets labels and annotations, nothing else."""
    yield from inside(".annotations", annotation_errors(metadata.get("annotations") or {}, ""))
    yield from inside(".labels", labels(metadata.get("labels") or {}))
    for name in metadata:
        if name not in ("annotations", "labels") and metadata[name]:
            yield forbidden(f".{name}", "cannot be set")


_ITEMS: Rows = (("defaultMode", file_mode), *below("items[]", _ITEM))
_NOTHING = table_of()
HOST_PATH = table_of(("", _host_path))
NFS = table_of(("", has("server", "path")), ("", text_of("path", absolute_path)))
# The sources of a volume, in the order in which the first of them counts.
_BAD_SIZE = refuse(lambda v: amount(v) < 0, "", "SizeLimit field must be a valid resource quantity")
SOURCES: dict[str, RuleTree] = {
    "emptyDir": table_of(("sizeLimit", _BAD_SIZE)),
    "hostPath": HOST_PATH,
    "gitRepo": table_of(("", has("repository"))),
    "gcePersistentDisk": table_of(("", has("pdName"))),
    "awsElasticBlockStore": table_of(("", has("volumeID"))),
    "secret": table_of(("", has("secretName")), *_ITEMS),
    "nfs": NFS,
    "iscsi": table_of(("", _portal)),
    "glusterfs": table_of(("", has("endpoints", "path"))),
    "flocker": _NOTHING,
    "persistentVolumeClaim": table_of(("", has("claimName"))),
    "rbd": table_of(("", has("monitors", "image"))),
    "cinder": table_of(("", has("volumeID"))),
    "cephfs": table_of(("", has("monitors"))),
    "quobyte": _NOTHING,
    "downwardAPI": table_of(("defaultMode", file_mode), ("", _files)),
    "fc": _NOTHING,
    "flexVolume": table_of(("", has("driver"))),
    "configMap": table_of(("", has("name")), *_ITEMS),
    "azureFile": table_of(("", has("secretName", "shareName"))),
    "vsphereVolume": table_of(("", has("volumePath"))),
    "photonPersistentDisk": table_of(("", has("pdID"))),
    "portworxVolume": table_of(("", has("volumeID"))),
    "azureDisk": table_of(("", has("diskName"))),
    "storageos": _NOTHING,
    "projected": table_of(("defaultMode", file_mode), ("", _projected)),
    "scaleIO": _NOTHING,
    "csi": table_of(("", driver)),
    "ephemeral": table_of(
        ("", has("volumeClaimTemplate")),
        ("volumeClaimTemplate.metadata", _template_metadata),
        *below("volumeClaimTemplate.spec", CLAIM_SPEC),
    ),
    "image": table_of(("pullPolicy", one_of("Always", "IfNotPresent", "Never"))),
}
SHOWN = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}  # upstream's fields where there are too many
_source = exactly_one(SOURCES, "volume", SHOWN)


def volumes(found: list[Obj], valid: dict[str, Any]) -> Iterator[FieldError]:
    """Check the volumes of a pod, and add the valid ones to `valid` by their names."""
    for index, volume in enumerate(found):
        name = str(volume.get("name") or "")
        errors = list(inside(f"[{index}]", _source(volume)))
        if not name:
            errors.append(required(f"[{index}].name"))
        else:
            errors += (invalid(f"[{index}].name", name, why) for why in dns_label_faults(name))
        if name in valid:
            errors.append(duplicate(f"[{index}].name", name))
        if not errors:
            valid[name] = volume
        yield from errors
