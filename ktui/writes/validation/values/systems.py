"""Rules of a pod's operating system, and of the host that its containers share; in upstream's order."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import absent, inside

_MEMBERS = ("initContainers", "containers", "ephemeralContainers")


def containers_of(spec: Obj) -> Iterator[tuple[str, Obj]]:
    """Yield all containers of a pod with their paths (upstream: VisitContainersWithPath)."""
    for member in _MEMBERS:
        for index, container in enumerate(spec.get(member) or []):
            yield f".{member}[{index}]", container


def system(spec: Obj) -> Iterator[FieldError]:
    """Check the operating system, and that a pod sets only what it has (upstream: validateOS and others)."""
    name = (spec.get("os") or {}).get("name")
    if spec.get("os") is None:
        return
    if not name:
        yield required(".os.name")
    elif name not in ("linux", "windows"):
        yield not_supported(".os", str(name), ("linux", "windows"))
    elif name == "linux":
        for where, part in _contexts(spec):
            yield from inside(where, _of_linux(part))
    else:
        yield from _not_of_windows(spec)


def _not_of_windows(spec: Obj) -> Iterator[FieldError]:
    context = spec.get("securityContext") or {}
    for name in _OF_PODS:
        where, part = ("", spec) if name in _OF_SPEC else (".securityContext", context)
        value = part.get(name)
        if value is not None and (value or name not in _UNSET_IF_EMPTY):
            yield forbidden(f"{where}.{name}", _WINDOWS)
    for at, container in containers_of(spec):
        errors = absent(*_OF_CONTAINERS, why=_WINDOWS)(container.get("securityContext") or {})
        yield from inside(f"{at}.securityContext", errors)


def _contexts(spec: Obj) -> Iterator[tuple[str, Obj]]:
    """Yield the security contexts of a pod and of its containers, with their paths."""
    yield ".securityContext", spec.get("securityContext") or {}
    for at, container in containers_of(spec):
        yield f"{at}.securityContext", container.get("securityContext") or {}


_of_linux = absent("windowsOptions", why="windows options cannot be set for a linux pod")
_WINDOWS = "cannot be set for a windows pod"
_OF_PODS = (
    "appArmorProfile", "seLinuxOptions", "hostUsers", "hostPID", "hostIPC", "seccompProfile", "fsGroup",
    "fsGroupChangePolicy", "sysctls", "shareProcessNamespace", "runAsUser", "runAsGroup",
    "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
# Those that are members of the spec itself, and those that count only if they are not empty.
_OF_SPEC = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_UNSET_IF_EMPTY = ("hostPID", "hostIPC", "sysctls")
_OF_CONTAINERS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
    "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def host_processes(spec: Obj) -> Iterator[FieldError]:
    """All containers or none are processes of a Windows host (upstream: validateWindowsHostProcessPod)."""
    whole = _host_process(spec)
    all_of_host, any_of_host = True, False
    for at, container in containers_of(spec):
        own = _host_process(container)
        if whole is not None and own is not None and own != whole:
            shown = "true" if whole else "false"
            why = f"pod hostProcess value must be identical if both are specified, was {shown}"
            yield invalid(f"{at}.securityContext.windowsOptions.hostProcess", own, why)
        of_host = whole if own is None else own
        all_of_host, any_of_host = all_of_host and bool(of_host), any_of_host or bool(of_host)
    if any_of_host and not all_of_host:
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid("", "", why)
    if any_of_host and not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(".hostNetwork", False, why)


def _host_process(part: Obj) -> bool | None:
    options = (part.get("securityContext") or {}).get("windowsOptions") or {}
    found: bool | None = options.get("hostProcess")
    return found


NOT_OF_OWN_USERS = "when `hostUsers` is false"


def own_users(spec: Obj) -> Iterator[FieldError]:
    """A pod with users of its own has no namespace of the host, nor a block device (validateHostUsers)."""
    if spec.get("hostUsers") is not False:
        return
    for name, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name):
            yield forbidden(f".{shown}", NOT_OF_OWN_USERS)
    for at, container in containers_of(spec):
        if container.get("volumeDevices"):
            yield forbidden(f"{at}.volumeDevices", NOT_OF_OWN_USERS)
