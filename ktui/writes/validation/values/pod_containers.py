"""Rules of the containers of a pod, regular, init and ephemeral: what they mount, and among each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    not_found_value,
    not_supported,
    required,
)
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import (
    Rows,
    absent,
    at_most,
    below,
    demand,
    duplicate,
    has,
    inside,
    listed,
    needs,
    numbered,
    one_of,
    relative_path,
    table_of,
    there,
)
from ktui.writes.validation.values.containers import AFTER_MOUNTS, PROBES, UNTIL_MOUNTS, hooks
from ktui.writes.validation.values.resources import claimed, resource_amounts
from ktui.writes.validation.values.security import of_container
from ktui.writes.validation.values.systems import containers_of

_PART_OF_STARTED = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
# In the order of upstream's type; any other member than these is allowed.
_NOT_OF_DEBUGGING = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe",
    "readinessProbe", "startupProbe", "lifecycle",
)  # fmt: skip
RUNNING = ("containers", "initContainers")


@dataclass(frozen=True, slots=True)
class Pod:
    """What the containers of a pod refer to: its spec, its valid volumes by name, its claims' names."""

    spec: Obj
    volumes: dict[str, Obj]
    claims: frozenset[str]


def pod_of(spec: Obj, volumes: dict[str, Obj]) -> Pod:
    claims = (str(claim.get("name") or "") for claim in spec.get("resourceClaims") or [])
    return Pod(spec, volumes, frozenset(claims) - {""})


_WITHOUT = "must specify restartPolicy when restart rules are used"
NOT_OF_INIT = "must not be set to 'RestartContainer' for non-sidecar initContainers"


_resized, _at_resize = one_of("cpu", "memory"), one_of("NotRequired", "RestartContainer")
_RULE: Rows = (
    ("action:text", listed("Restart", "RestartAllContainers")),
    ("", there("exitCodes", why="must be specified")), ("exitCodes.operator:text", listed("In", "NotIn")),
    ("exitCodes.values", at_most(255)),
)  # fmt: skip
restarting = table_of(
    ("restartPolicy", listed("Always", "Never", "OnFailure")),
    ("", needs(lambda container: container.get("restartPolicy") is not None
               or not container.get("restartPolicyRules"), ".restartPolicy", _WITHOUT)),
    ("restartPolicyRules", at_most(20)), *below("restartPolicyRules[]", _RULE),
)  # fmt: skip
"""A container's own policy and its rules (upstream: validateContainerRestartPolicy)."""
# An init container that ends is not restarted for its size (upstream: validateInitContainers).
_once = demand(lambda policy: policy != "RestartContainer", NOT_OF_INIT)
_INIT = table_of(
    ("", absent(*_PART_OF_STARTED, why="may not be set for init containers without restartPolicy=Always")),
    ("resizePolicy[].restartPolicy", _once),
)


def resizing(container: Obj, spec: Obj) -> Iterator[FieldError]:
    """Check what new sizes mean (upstream: validateResizePolicy, with the list's path in most errors)."""
    for at, policy, name, again in numbered(container.get("resizePolicy") or [], "resourceName"):
        restart = str(policy.get("restartPolicy") or "")
        if again:
            yield duplicate(f".resizePolicy{at}", name)
        yield from inside(".resizePolicy", _resized(name))
        yield from inside(".resizePolicy", _at_resize(restart))
        if spec.get("restartPolicy") == "Never" and restart != "NotRequired":
            why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid(".resizePolicy", restart, why)


def restarting_init(container: Obj) -> Iterator[FieldError]:
    """Check the policy of an init container: without one, its rules say only that it is missing."""
    if container.get("restartPolicy") is not None:
        yield from restarting(container)
    elif container.get("restartPolicyRules"):
        yield required(".restartPolicy", _WITHOUT)


def mounts(container: Obj, volumes: Collection[str]) -> Iterator[FieldError]:
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


def _container(container: Obj, pod: Pod) -> Iterator[FieldError]:
    """Check what all containers of a pod have (upstream: validateContainerCommon)."""
    yield from UNTIL_MOUNTS(container)
    yield from inside(".volumeMounts", mounts(container, pod.volumes))
    yield from inside(".volumeDevices", devices(container, pod.volumes))
    yield from AFTER_MOUNTS(container)
    resources = container.get("resources") or {}
    yield from inside(".resources", resource_amounts(resources))
    yield from inside(".resources", claimed(resources, pod.claims))
    yield from resizing(container, pod.spec)
    yield from inside(".securityContext", of_container(container.get("securityContext") or {}, pod.spec))


def _started(container: Obj, spec: Obj) -> Iterator[FieldError]:
    """Check the hooks and probes of a container that runs on."""
    yield from hooks(spec.get("terminationGracePeriodSeconds", 30))(container)
    yield from PROBES(container)


def containers(pod: Pod) -> Iterator[FieldError]:
    """Check the regular containers of a pod (upstream: validateContainers)."""
    found = pod.spec.get("containers") or []
    if not found:
        yield required(".containers")
    for at, container, name, again in numbered(found, "name"):
        where = f".containers{at}"
        yield from inside(where, _container(container, pod))
        if again:
            yield duplicate(f"{where}.name", name)
        yield from inside(where, _started(container, pod.spec))
        yield from inside(where, restarting(container))
    yield from inside(".containers", _host_ports(found))


def init_containers(pod: Pod) -> Iterator[FieldError]:
    """Check init containers: only those that run on have probes and hooks."""
    names = {str(each.get("name") or "") for each in pod.spec.get("containers") or []}
    for index, container in enumerate(pod.spec.get("initContainers") or []):
        name, where = str(container.get("name") or ""), f".initContainers[{index}]"
        yield from inside(where, _container(container, pod))
        yield from inside(where, restarting_init(container))
        if name in names:
            yield duplicate(f"{where}.name", name)
        elif name:
            names.add(name)
        yield from inside(".initContainers", _host_ports([container]))
        if container.get("restartPolicy") == "Always":
            yield from inside(where, _started(container, pod.spec))
            continue
        yield from inside(where, _INIT(container))


def ephemeral_containers(pod: Pod) -> Iterator[FieldError]:
    """Check containers for debugging: no pod depends on them (upstream: validateEphemeralContainers)."""
    others = {str(each.get("name") or "") for member in RUNNING for each in pod.spec.get(member) or []}
    names, why = set(others), "cannot be set for an Ephemeral Container"
    for index, container in enumerate(pod.spec.get("ephemeralContainers") or []):
        where, name = f".ephemeralContainers[{index}]", str(container.get("name") or "")
        yield from inside(where, _container(container, pod))
        yield from inside(where, trimmed(container))
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield not_found_value(f"{where}.targetContainerName", target)
        yield from (forbidden(f"{where}.{part}", why) for part in _NOT_OF_DEBUGGING if _set(container, part))
        for at, mount in enumerate(container.get("volumeMounts") or []):
            for part in ("subPath", "subPathExpr"):
                if mount.get(part):
                    yield forbidden(f"{where}.volumeMounts[{at}].{part}", why)


def _set(container: Obj, part: str) -> bool:
    """Whether a member is there, be it empty; of the resources, which are a struct, one of their members."""
    value = container.get(part)
    if part == "resources":
        return any(member is not None for member in (value or {}).values())
    return value is not None


def trimmed(container: Obj) -> Iterator[FieldError]:
    """The image of a template may have spaces around it, that of a pod's container not."""
    image = container.get("image") or ""
    if image != image.strip():
        yield invalid(".image", image, "must not have leading or trailing whitespace")


def file_keys(spec: Obj) -> Iterator[FieldError]:
    """Variables come from files of an empty directory (upstream: validateFileKeyRefVolumes)."""
    volumes = {str(volume.get("name") or ""): volume for volume in spec.get("volumes") or []}
    for at, container in containers_of(spec):
        for index, variable in enumerate(container.get("env") or []):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name = str(reference.get("volumeName") or "")
            field = f"{at}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                yield not_found_value(field, name)
            elif volumes[name].get("emptyDir") is None:
                yield invalid(field, name, "referenced volume must be of type emptyDir")


def _host_ports(containers: Sequence[Obj]) -> Iterator[FieldError]:
    """The ports of the host are taken once."""
    taken = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or []):
            claimed = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{port.get('hostPort')}"
            if port.get("hostPort") and claimed in taken:
                yield duplicate(f"[{index}].ports[{number}].hostPort", claimed)
            taken.add(claimed)


def host_network(spec: Obj, *, of_pod: bool) -> Iterator[FieldError]:
    """On the host's network a port of a container is that of the host; a template's may be missing."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or []):
        for number, port in enumerate(container.get("ports") or []):
            host = port.get("hostPort") or 0
            if (host or of_pod) and host != (port.get("containerPort") or 0):
                why = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f".containers[{index}].ports[{number}].hostPort", host, why)
