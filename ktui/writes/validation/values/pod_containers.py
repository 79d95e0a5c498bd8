"""Rules of the containers of a pod, regular, init and ephemeral: what they mount, and among each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_found_value, not_supported, required
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import duplicate, has, inside, numbered, relative_path
from ktui.writes.validation.values.containers import (
    AFTER_CLAIMS,
    AFTER_MOUNTS,
    OF_STARTED,
    RESTARTS,
    UNTIL_MOUNTS,
)

_PART_OF_STARTED = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
# In the order of upstream's type; any other member than these is allowed.
_NOT_OF_DEBUGGING = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe",
    "readinessProbe", "startupProbe", "lifecycle",
)  # fmt: skip
RUNNING = ("containers", "initContainers")


def mounts(container: Obj, volumes: frozenset[str]) -> Iterator[FieldError]:
    """Check the mounts of a container; `volumes` are the names of the pod's valid volumes.

    Upstream's path of what follows a mount's path is that of the list.
    """
    devices = container.get("volumeDevices") or []
    names, paths = ({each.get(name) for each in devices} - {None} for name in ("name", "devicePath"))
    privileged = (container.get("securityContext") or {}).get("privileged")
    for at, mount, path, again in numbered(container.get("volumeMounts") or [], "mountPath"):
        name = str(mount.get("name") or "")
        yield from inside(at, has("name")(mount))
        if name not in volumes:
            yield not_found_value(f"{at}.name", name)
        yield from inside(at, has("mountPath")(mount))
        if again:
            yield invalid(f"{at}.mountPath", path, "must be unique")
        if name in names:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if path in paths:
            yield invalid(f"{at}.mountPath", path, "must not already exist as a path in volumeDevices")
        yield from inside(".subPath", relative_path(mount.get("subPath") or ""))
        if expression := mount.get("subPathExpr"):
            if mount.get("subPath"):
                why = "subPathExpr and subPath are mutually exclusive"
                yield invalid(f"{at}.subPathExpr", expression, why)
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
    paths = set()
    mounted = container.get("volumeMounts") or []
    taken, used = ({each.get(name) for each in mounted} - {None} for name in ("name", "mountPath"))
    for at, device, name, again in numbered(container.get("volumeDevices") or [], "name"):
        path = str(device.get("devicePath") or "")
        yield from inside(at, has("name")(device))
        if again:
            yield invalid(f"{at}.name", name, "must be unique")
        if name not in volumes:
            yield not_found_value(f"{at}.name", name)
        elif not any(volumes[name].get(source) for source in ("persistentVolumeClaim", "ephemeral")):
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{at}.name", name, why)
        yield from inside(at, has("devicePath")(device))
        if path in paths:
            yield invalid(f"{at}.devicePath", path, "must be unique")
        if ".." in path.split("/"):
            yield invalid(f"{at}.devicePath", path, "can not contain backsteps ('..')")
        else:
            paths.add(path)
        if name in taken:
            yield invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if path in used:
            yield invalid(f"{at}.devicePath", path, "must not already exist as a path in volumeMounts")


def _claimed(container: Obj, spec: Obj) -> Iterator[FieldError]:
    """The claims of a container are those of its pod; the requests in them differ."""
    names = sorted({str(c.get("name") or "") for c in spec.get("resourceClaims") or []} - {""})
    known = f": {', '.join(names)}" if names else " which is empty"
    claims = (container.get("resources") or {}).get("claims") or []
    for at, _, name, again in numbered(claims, "name"):
        field = f".resources.claims{at}"
        if not name:
            yield required(field)
        elif again:
            yield duplicate(field, name)
        if name and name not in names:
            why = f"must be one of the names in pod.spec.resourceClaims{known}"
            yield FieldError(field, "FieldValueNotFound", f"Not found: {quote(name)}: {why}")


def _container(container: Obj, spec: Obj, valid: dict[str, Obj]) -> Iterator[FieldError]:
    """Check what all containers of a pod have; `valid` are its valid volumes by name."""
    yield from UNTIL_MOUNTS.relative(container)
    yield from inside(".volumeMounts", mounts(container, frozenset(valid)))
    yield from inside(".volumeDevices", devices(container, valid))
    yield from AFTER_MOUNTS.relative(container)
    yield from _claimed(container, spec)
    yield from AFTER_CLAIMS.relative(container)


def _sleeps(container: Obj, grace: int | None) -> Iterator[FieldError]:
    """A hook that sleeps ends within the pod's grace period, in seconds."""
    for name in ("postStart", "preStop"):
        hook = (container.get("lifecycle") or {}).get(name) or {}
        seconds = (hook.get("sleep") or {}).get("seconds")
        if grace is not None and seconds is not None and not 0 <= seconds <= grace:
            why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid(f".lifecycle.{name}.sleep", seconds, why)


def containers(spec: Obj, valid: dict[str, Obj]) -> Iterator[FieldError]:
    """Check the regular containers of a pod; `valid` are its valid volumes by name."""
    found = spec.get("containers") or []
    if not found:
        yield required(".containers")
    for at, container, name, again in numbered(found, "name"):
        where = f".containers{at}"
        yield from inside(where, _container(container, spec, valid))
        if again:
            yield duplicate(f"{where}.name", name)
        yield from inside(where, _sleeps(container, spec.get("terminationGracePeriodSeconds")))
        yield from inside(where, OF_STARTED.relative(container))
        yield from inside(where, RESTARTS.relative(container))
    yield from inside(".containers", _host_ports(found))


def init_containers(spec: Obj, valid: dict[str, Obj]) -> Iterator[FieldError]:
    """Check init containers: only those that run on have probes and hooks."""
    names = {str(each.get("name") or "") for each in spec.get("containers") or []}
    for index, container in enumerate(spec.get("initContainers") or []):
        name, where = str(container.get("name") or ""), f".initContainers[{index}]"
        yield from inside(where, _container(container, spec, valid))
        yield from inside(where, RESTARTS.relative(container))
        if name in names:
            yield duplicate(f"{where}.name", name)
        elif name:
            names.add(name)
        yield from inside(".initContainers", _host_ports([container]))
        if container.get("restartPolicy") == "Always":
            yield from inside(where, _sleeps(container, spec.get("terminationGracePeriodSeconds")))
            yield from inside(where, OF_STARTED.relative(container))
            continue
        for part in _PART_OF_STARTED:
            if container.get(part) is not None:
                why = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{where}.{part}", why)


def ephemeral_containers(spec: Obj, valid: dict[str, Obj]) -> Iterator[FieldError]:
    """Check containers for debugging: no pod depends on them (upstream: validateEphemeralContainers)."""
    others = {str(each.get("name") or "") for member in RUNNING for each in spec.get(member) or []}
    names, why = set(others), "cannot be set for an Ephemeral Container"
    for index, container in enumerate(spec.get("ephemeralContainers") or []):
        where, name = f".ephemeralContainers[{index}]", str(container.get("name") or "")
        yield from inside(where, _container(container, spec, valid))
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield not_found_value(f"{where}.targetContainerName", target)
        for part in _NOT_OF_DEBUGGING:
            if container.get(part):
                yield forbidden(f"{where}.{part}", why)
        for at, mount in enumerate(container.get("volumeMounts") or []):
            for part in ("subPath", "subPathExpr"):
                if mount.get(part):
                    yield forbidden(f"{where}.volumeMounts[{at}].{part}", why)


def _host_ports(containers: Sequence[Obj]) -> Iterator[FieldError]:
    """The ports of the host are taken once."""
    taken = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or []):
            claimed = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{port.get('hostPort')}"
            if port.get("hostPort") and claimed in taken:
                yield duplicate(f"[{index}].ports[{number}].hostPort", claimed)
            taken.add(claimed)


def host_network(spec: Obj) -> Iterator[FieldError]:
    """On the host's network a port of a container is that of the host."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or []):
        for number, port in enumerate(container.get("ports") or []):
            host = port.get("hostPort")
            if host and host != port.get("containerPort"):
                why = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f".containers[{index}].ports[{number}].hostPort", host, why)
