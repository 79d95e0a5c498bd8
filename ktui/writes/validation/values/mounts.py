"""Rules of what a container mounts: volumes as files, and as block devices."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_found_value, not_supported
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import has, inside, relative_path, without_parents


def mounts(container: Obj, volumes: frozenset[str]) -> Iterator[FieldError]:
    """Check the mounts of a container; `volumes` are the names of the pod's valid volumes.

    Upstream's path of what follows a mount's path is that of the list.
    """
    seen = set()
    devices = container.get("volumeDevices") or []
    names, paths = ({each.get(name) for each in devices} - {None} for name in ("name", "devicePath"))
    privileged = (container.get("securityContext") or {}).get("privileged")
    for index, mount in enumerate(container.get("volumeMounts") or []):
        name, path = (str(mount.get(member) or "") for member in ("name", "mountPath"))
        yield from inside(f"[{index}]", has("name")(mount))
        if name not in volumes:
            yield not_found_value(f"[{index}].name", name)
        yield from inside(f"[{index}]", has("mountPath")(mount))
        if path in seen:
            yield invalid(f"[{index}].mountPath", path, "must be unique")
        seen.add(path)
        if name in names:
            yield invalid(f"[{index}].name", name, "must not already exist in volumeDevices")
        if path in paths:
            yield invalid(f"[{index}].mountPath", path, "must not already exist as a path in volumeDevices")
        yield from inside(".subPath", relative_path(mount.get("subPath") or ""))
        if expression := mount.get("subPathExpr"):
            if mount.get("subPath"):
                why = "subPathExpr and subPath are mutually exclusive"
                yield invalid(f"[{index}].subPathExpr", expression, why)
            yield from inside(".subPathExpr", relative_path(expression))
        if (spread := mount.get("mountPropagation")) is not None:
            modes = ("Bidirectional", "HostToContainer", "None")
            if spread not in modes:
                yield not_supported(".mountPropagation", spread, modes)
            if spread == "Bidirectional" and not privileged:
                why = "Bidirectional mount propagation is available only to privileged containers"
                yield forbidden(".mountPropagation", why)
        yield from inside(".recursiveReadOnly", _read_only(mount))


def _read_only(mount: Obj) -> Iterator[FieldError]:
    how = mount.get("recursiveReadOnly")
    if how in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden("", "may only be specified when readOnly is true")
        if mount.get("mountPropagation") not in (None, "None"):
            yield forbidden("", "may only be specified when mountPropagation is None or not specified")
    elif how not in (None, "Disabled"):
        yield not_supported("", how, ("Disabled", "Enabled", "IfPossible"))


def devices(container: Obj, volumes: dict[str, Obj]) -> Iterator[FieldError]:
    """Check the block devices of a container, which are claims among the pod's valid volumes."""
    names, paths = set(), set()
    mounted = container.get("volumeMounts") or []
    taken, used = ({each.get(name) for each in mounted} - {None} for name in ("name", "mountPath"))
    for index, device in enumerate(container.get("volumeDevices") or []):
        name, path = (str(device.get(member) or "") for member in ("name", "devicePath"))
        yield from inside(f"[{index}]", has("name")(device))
        if name in names:
            yield invalid(f"[{index}].name", name, "must be unique")
        if name not in volumes:
            yield not_found_value(f"[{index}].name", name)
        elif not any(volumes[name].get(source) for source in ("persistentVolumeClaim", "ephemeral")):
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"[{index}].name", name, why)
        yield from inside(f"[{index}]", has("devicePath")(device))
        if path in paths:
            yield invalid(f"[{index}].devicePath", path, "must be unique")
        if any(True for _ in without_parents(path)):
            yield invalid(f"[{index}].devicePath", path, "can not contain backsteps ('..')")
        else:
            paths.add(path)
        if name in taken:
            yield invalid(f"[{index}].name", name, "must not already exist in volumeMounts")
        if path in used:
            yield invalid(f"[{index}].devicePath", path, "must not already exist as a path in volumeMounts")
        names.add(name)
