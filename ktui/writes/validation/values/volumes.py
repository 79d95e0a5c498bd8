"""Rules of the volumes of pods (upstream: core/validation, validateVolumeSource)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid_number, invalid_value, required
from ktui.writes.validation.values.checks import (
    Obj,
    Row,
    absolute_path,
    below,
    dns_label,
    file_mode,
    has,
    not_negative,
    one_of,
    one_of_or_none,
    relative_path,
    unique,
    without_parents,
)

HOST_PATH_TYPES = (
    "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32


def _one_source(volume: Obj) -> Iterator[FieldError]:
    """A volume without a source is an emptyDir."""
    there = [name for name, value in volume.items() if name != "name" and value is not None]
    for name in there[1:]:
        yield forbidden(f".{name}", "may not specify more than 1 volume type")


def _lifetime(token: Obj) -> Iterator[FieldError]:
    seconds = token.get("expirationSeconds")
    if seconds is None:
        return
    if seconds < _LEAST_SECONDS:
        why = "may not specify a duration less than 10 minutes"
        yield invalid_number(".expirationSeconds", seconds, why)
    elif seconds > _MOST_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
        yield invalid_number(".expirationSeconds", seconds, why)


def _size_limit(value: str) -> Iterator[FieldError]:
    if any(True for _ in not_negative(value)):
        yield forbidden("", "SizeLimit field must be a valid resource quantity")


def _downward(item: Obj) -> Iterator[FieldError]:
    if item.get("fieldRef") is not None and item.get("resourceFieldRef") is not None:
        yield invalid_value(
            "", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"
        )
    elif item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
        yield required("", "one of fieldRef and resourceFieldRef is required")


_ITEMS: tuple[Row, ...] = (
    ("defaultMode", file_mode),
    ("items[]", has("key", "path")),
    ("items[].path", relative_path),
    ("items[].mode", file_mode),
)
_DOWNWARD: tuple[Row, ...] = (
    ("defaultMode", file_mode),
    ("items[]", has("path")),
    ("items[].path", relative_path),
    ("items[].mode", file_mode),
    ("items[]", _downward),
)
HOST_PATH: tuple[Row, ...] = (
    ("", has("path")),
    ("path", without_parents),
    ("type", one_of_or_none(*HOST_PATH_TYPES)),
)
NFS: tuple[Row, ...] = (("", has("server", "path")), ("path", absolute_path))

VOLUMES: tuple[Row, ...] = (
    ("", unique("name")),
    ("[]", has("name")),
    ("[].name", dns_label),
    ("[]", _one_source),
    *below("[].hostPath", HOST_PATH),
    *below("[].nfs", NFS),
    ("[].emptyDir.sizeLimit", _size_limit),
    ("[].configMap", has("name")),
    *below("[].configMap", _ITEMS),
    *below("[].secret", _ITEMS),
    *below("[].downwardAPI", _DOWNWARD),
    ("[].persistentVolumeClaim", has("claimName")),
    ("[].csi", has("driver")),
    ("[].ephemeral", has("volumeClaimTemplate")),
    ("[].iscsi", has("targetPortal", "iqn")),
    ("[].projected.defaultMode", file_mode),
    ("[].projected.sources[].configMap", has("name")),
    *below("[].projected.sources[].configMap", _ITEMS),
    ("[].projected.sources[].secret", has("name")),
    *below("[].projected.sources[].secret", _ITEMS),
    *below("[].projected.sources[].downwardAPI", _DOWNWARD),
    ("[].projected.sources[].serviceAccountToken", has("path")),
    ("[].projected.sources[].serviceAccountToken", _lifetime),
    ("[].projected.sources[].serviceAccountToken.path", relative_path),
    ("[].image.pullPolicy", one_of("Always", "IfNotPresent", "Never")),
)
