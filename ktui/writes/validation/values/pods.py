"""Rules of pod specs, in pods and in templates, in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, subdomain_faults
from ktui.writes.objectmeta import annotation_errors
from ktui.writes.validation.values.checks import (
    Row,
    address,
    below,
    between,
    demand,
    dns_label,
    duplicate,
    inside,
    labels,
    one_of,
    refuse,
    subdomain,
    table_of,
    user_id,
)
from ktui.writes.validation.values.containers import APP_ARMOR, SECCOMP, resource_amounts
from ktui.writes.validation.values.pod_containers import (
    RUNNING,
    containers,
    ephemeral_containers,
    host_network,
    init_containers,
)
from ktui.writes.validation.values.scheduling import AFFINITY, spread, toleration
from ktui.writes.validation.values.volumes import volumes

_MOST_NAMESERVERS, _MOST_SEARCHES, _MOST_SEARCHED = 3, 32, 2048
_MIRROR, _DELETION_COST = "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile("-?[1-9][0-9]{0,9}|0")
_LONGEST_SYSCTL = 253
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"


def _dns(spec: Obj) -> Iterator[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if not config:
            yield required(".dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(".dnsConfig.nameservers", why)
            return
    yield from inside(".dnsConfig", _resolver(config or {}))


def _resolver(config: Obj) -> Iterator[FieldError]:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_NAMESERVERS:
        yield invalid(".nameservers", servers, f"must not have more than {_MOST_NAMESERVERS} nameservers")
    for index, server in enumerate(servers):
        yield from inside(f".nameservers[{index}]", address(server))
    if len(searches) > _MOST_SEARCHES:
        why = f"must not have more than {_MOST_SEARCHES} search paths"
        yield invalid(".searches", searches, why)
    if len(" ".join(searches).encode()) > _MOST_SEARCHED:
        why = f"must not have more than {_MOST_SEARCHED} characters (including spaces) in the search list"
        yield invalid(".searches", searches, why)
    for index, search in enumerate(searches):
        domain = search.removesuffix(".")
        if search != "." and subdomain_faults(domain.replace("_", "a")):  # an underscore is like a letter
            faults = subdomain_faults(domain)
            yield from (invalid(f".searches[{index}]", domain, fault) for fault in faults)
    for index, option in enumerate(config.get("options") or []):
        if not option.get("name"):
            yield required(f".options[{index}]", "must not be empty")


def _gates(gates: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for index, gate in enumerate(gates):
        name = str(gate.get("name") or "")
        yield from (invalid(f"[{index}]", name, why) for why in label_key_faults(name))
        if name in seen:
            yield duplicate(f"[{index}]", name)
        seen.add(name)


def _gate_type(gate: Obj) -> Iterator[FieldError]:
    name = str(gate.get("conditionType") or "")
    yield from (invalid(".conditionType", name, why) for why in label_key_faults(name))


def _alias(alias: Obj) -> Iterator[FieldError]:
    yield from inside(".ip", address(alias.get("ip") or ""))
    for index, name in enumerate(alias.get("hostnames") or []):
        yield from (invalid(f".hostnames[{index}]", name, why) for why in subdomain_faults(name))


def _sysctls(sysctls: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for index, each in enumerate(sysctls):
        name = str(each.get("name") or "")
        if not name:
            yield required(f"[{index}].name")
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            why = f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
            yield invalid(f"[{index}].name", name, why)
        elif name in seen:
            yield duplicate(f"[{index}].name", name)
        seen.add(name)


def _shared(spec: Obj) -> Iterator[FieldError]:
    """A shared process namespace; upstream has these members in the security context."""
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(".securityContext.shareProcessNamespace", True, why)


def _own_users(spec: Obj) -> Iterator[FieldError]:
    """A pod with users of its own has no namespace of the host."""
    if spec.get("hostUsers") is not False:
        return
    for name, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name):
            yield forbidden(f".{shown}", "when `hostUsers` is false")


def _system(spec: Obj) -> Iterator[FieldError]:
    name = (spec.get("os") or {}).get("name")
    if spec.get("os") is None:
        return
    if not name:
        yield required(".os.name")
    elif name not in ("linux", "windows"):
        yield not_supported(".os", str(name), ("linux", "windows"))
    elif name == "linux":
        for where, part in _contexts(spec):
            if part.get("windowsOptions") is not None:
                yield forbidden(f"{where}.windowsOptions", "windows options cannot be set for a linux pod")
    else:
        yield from _not_of(spec, "", ("hostUsers", "shareProcessNamespace"))
        for name in ("hostPID", "hostIPC"):
            if spec.get(name):
                yield forbidden(f".{name}", "cannot be set for a windows pod")
        for where, part in _contexts(spec):
            yield from _not_of(part, where, _NOT_OF_WINDOWS)


def _not_of(part: Obj, where: str, names: Sequence[str]) -> Iterator[FieldError]:
    for name in names:
        if part.get(name) is not None:
            yield forbidden(f"{where}.{name}", "cannot be set for a windows pod")


def _contexts(spec: Obj) -> Iterator[tuple[str, Obj]]:
    """Yield the security contexts of a pod and of its containers, with their paths."""
    yield ".securityContext", spec.get("securityContext") or {}
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(member) or []):
            yield f".{member}[{index}].securityContext", container.get("securityContext") or {}


_NOT_OF_WINDOWS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
    "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
    "runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
_REST = table_of(
    ("restartPolicy", one_of("Always", "OnFailure", "Never")),
    ("dnsPolicy", one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    ("nodeSelector", labels), ("securityContext.fsGroup", user_id), ("securityContext.runAsUser", user_id),
    ("securityContext.runAsGroup", user_id), ("securityContext.supplementalGroups[]", user_id),
    ("", _shared), ("securityContext.sysctls", _sysctls),
    ("securityContext.fsGroupChangePolicy", one_of("Always", "OnRootMismatch")),
    *below("securityContext", (*SECCOMP, *APP_ARMOR)),
    ("securityContext.supplementalGroupsPolicy", one_of("Merge", "Strict")),
    ("securityContext.seLinuxChangePolicy", one_of("MountOption", "Recursive")),
    *below("affinity", AFFINITY), ("", _dns), ("readinessGates[]", _gate_type), ("schedulingGates", _gates),
    ("topologySpreadConstraints", spread), ("", _own_users), ("serviceAccountName", subdomain),
    ("nodeName", subdomain), ("activeDeadlineSeconds", between(1, 2**31 - 1)), ("hostname", dns_label),
    ("subdomain", dns_label), ("tolerations[]", toleration), ("hostAliases[]", _alias),
    ("priorityClassName", subdomain), ("runtimeClassName", subdomain),
    ("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    ("overhead", lambda amounts: resource_amounts({"limits": amounts})), ("", _system),
)  # fmt: skip


def _spec(spec: Obj, claims: Sequence[str] = ()) -> Iterator[FieldError]:
    """Check a pod's spec; `claims` are names of claim templates, which are volumes too."""
    valid: dict[str, Obj] = {}
    yield from inside(".volumes", volumes(spec.get("volumes") or [], valid))
    valid |= {name: {"persistentVolumeClaim": {"claimName": name}} for name in claims}
    yield from containers(spec, valid)
    yield from init_containers(spec, valid)
    yield from ephemeral_containers(spec)
    yield from host_network(spec)
    yield from _REST.relative(spec)


def _tokens(spec: Obj) -> Iterator[FieldError]:
    """A token is of the pod's account: without one there is none. Templates are not checked."""
    if spec.get("serviceAccountName"):
        return
    for at, volume in enumerate(spec.get("volumes") or []):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or []):
            if source.get("serviceAccountToken") is not None:
                where = f".volumes[{at}].projected.sources[{number}].serviceAccountToken"
                yield forbidden(where, "must not be specified when serviceAccountName is not set")


def _annotations(part: Obj, field: str) -> Iterator[FieldError]:
    """Check the annotations that mean something in a pod or template."""
    found = (part.get("metadata") or {}).get("annotations") or {}
    if _MIRROR in found and not (part.get("spec") or {}).get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{field}[{_MIRROR}]", found[_MIRROR], why)
    cost = found.get(_DELETION_COST)
    if cost is not None and not (_INTEGER.fullmatch(cost) and abs(int(cost)) < 1 << 31):
        yield invalid(f"{field}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def template_errors(template: Obj, claims: Sequence[str] = ()) -> Iterator[FieldError]:
    """Yield the errors of a pod template; upstream's paths of its labels and annotations skip `metadata`."""
    metadata = template.get("metadata") or {}
    for error in labels(metadata.get("labels") or {}):
        yield replace(error, field=".labels")
    for error in annotation_errors(metadata.get("annotations") or {}):
        yield replace(error, field=".annotations")
    yield from _annotations(template, ".annotations")
    spec = template.get("spec") or {}
    yield from inside(".spec", _spec(spec, claims))
    if spec.get("ephemeralContainers"):
        yield forbidden(".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


_NOT_YET = "cannot be set until all schedulingGates have been cleared"
NEW_POD = (("spec", refuse(lambda s: s.get("schedulingGates") and s.get("nodeName"), ".nodeName", _NOT_YET)),)
# The image of a template may have spaces around it.
_image = demand(lambda image: image == image.strip(), "must not have leading or trailing whitespace")
POD: tuple[Row, ...] = (
    ("", lambda pod: _annotations(pod, ".metadata.annotations")), ("spec", _spec), ("spec", _tokens),
    *((f"spec.{member}[].image", _image) for member in RUNNING),
)  # fmt: skip
