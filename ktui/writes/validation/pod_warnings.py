"""Warnings for pods and for the templates of workloads that are new or changed (upstream: pkg/api/pod)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Any

from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults
from ktui.kube.quantity import is_whole
from ktui.writes.validation.values.addresses import without_zeros
from ktui.writes.validation.values.checks import numbered
from ktui.writes.validation.values.scheduling import PREFERRED, REQUIRED

# Kinds whose name becomes part of the names of pods, and the path of each kind's template.
_NAMED = ("Pod", "Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob", "ReplicationController")
_TEMPLATES = {
    **dict.fromkeys((*_NAMED[1:], "DaemonSet"), ("spec", "template")),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "PodTemplate": ("template",),
}
_OLD_LABELS = {
    "beta.kubernetes.io/arch": ("1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("1.14", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("1.17", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("1.17", "node.kubernetes.io/instance-type"),
}
_SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead'
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod":
        'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": _SYSCTLS,
    "security.alpha.kubernetes.io/unsafe-sysctls": _SYSCTLS,
}  # fmt: skip
_OLD_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_NO_POD = "a null labelSelector results in matching no pod"
MOST_WARNINGS = 100  # of one object; a body has room for thousands


def pod_warnings(obj: Obj, old: Obj | None) -> Iterator[str]:
    """Yield the warnings for an object; `old` is None if it is new. A changed pod has none."""
    kind = str(obj.get("kind") or "")
    name = str((obj.get("metadata") or {}).get("name") or "")
    if old is None and kind in _NAMED and (faults := dns_label_faults(name)):
        use = "the Pod's hostname" if kind == "Pod" else "Pod names and hostnames"
        yield (
            f"metadata.name: this is used in {use}, which can result in surprising "
            f"behavior; a DNS label is recommended: [{' '.join(faults)}]"
        )
    if kind == "Pod":
        if old is None:
            yield from _of_pod(obj, "")
    elif kind in _TEMPLATES and (old is None or obj.get("spec") != old.get("spec")):
        part: Any = obj
        for step in _TEMPLATES[kind]:
            part = (part or {}).get(step)
        yield from _of_pod(part or {}, ".".join(_TEMPLATES[kind]) + ".")


def _of_pod(pod: Obj, at: str) -> Iterator[str]:
    """Yield the warnings for a pod or template; `at` is its path, with a dot at the end."""
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    yield from _labels(spec, f"{at}spec")
    for name, why in _OLD_ANNOTATIONS.items():
        if name in annotations:
            yield f"{at}metadata.annotations[{name}]: {why}"
    for index, volume in enumerate(spec.get("volumes") or []):
        for name, why in _OLD_VOLUMES.items():
            if volume.get(name) is not None:
                shown = "storageOS" if name == "storageos" else name
                yield f"{at}spec.volumes[{index}].{shown}: {why}"
    for volume in spec.get("volumes") or []:
        yield from _overlaps(volume)
    yield from _repeated(spec, f"{at}spec")
    for name in ("memory", "ephemeral-storage"):
        yield from _fraction(spec.get("overhead") or {}, name, f"{at}spec.overhead")
    containers = list(_containers(spec, f"{at}spec"))
    for container, where in containers:
        yield from _of_container(container, where)
    yield from _ports(containers)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{at}spec.terminationGracePeriodSeconds: {why}"
    yield from _affinity(spec.get("affinity") or {}, f"{at}spec.affinity")
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or []):
        yield from address_warnings(server, f"{at}spec.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or []):
        yield from address_warnings(str(alias.get("ip") or ""), f"{at}spec.hostAliases[{index}].ip")


def _labels(spec: Obj, at: str) -> Iterator[str]:
    """Yield warnings for labels of nodes that have other names now, and for selectors that are missing."""
    for name in spec.get("nodeSelector") or {}:
        if name in _OLD_LABELS:
            yield f"{at}.nodeSelector[{name}]: {_renamed(name)}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    where = f"{at}.affinity.nodeAffinity"
    terms = [
        (term, f"{where}.{REQUIRED}.nodeSelectorTerms[{index}]")
        for index, term in enumerate((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or [])
    ]
    terms += [
        (each.get("preference") or {}, f"{where}.{PREFERRED}[{index}].preference")
        for index, each in enumerate(affinity.get(PREFERRED) or [])
    ]
    for term, field in terms:
        for index, expression in enumerate(term.get("matchExpressions") or []):
            if (key := expression.get("key")) in _OLD_LABELS:
                yield f"{field}.matchExpressions[{index}].key: {key} is {_renamed(key)}"
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or []):
        field = f"{at}.topologySpreadConstraints[{index}]"
        if (key := constraint.get("topologyKey")) in _OLD_LABELS:
            yield f"{field}.topologyKey: {key} is {_renamed(key)}"
        if constraint.get("labelSelector") is None:
            yield f"{field}.labelSelector: {_NO_POD}"


def _renamed(label: str) -> str:
    since, name = _OLD_LABELS[label]
    return f'deprecated since v{since}; use "{name}" instead'


def _repeated(spec: Obj, at: str) -> Iterator[str]:
    for member, name in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        for where, _, value, again in numbered(spec.get(member) or [], name):
            if again:
                yield f"{at}.{member}{where}.{name}: duplicate {name} {quote(value)}"
    for index, item in enumerate(spec.get("imagePullSecrets") or []):
        if not item.get("name"):
            yield f'{at}.imagePullSecrets[{index}].name: invalid empty name ""'


def _fraction(amounts: Obj, name: str, at: str) -> Iterator[str]:
    if (value := amounts.get(name)) is not None and not is_whole(value):
        yield f"{at}[{name}]: fractional byte value {quote(str(value))} is invalid, must be an integer"


def _containers(spec: Obj, at: str) -> Iterator[tuple[Obj, str]]:
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(member) or []):
            yield container, f"{at}.{member}[{index}]"


def _of_container(container: Obj, at: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in ("memory", "ephemeral-storage"):
        for member in ("limits", "requests"):
            yield from _fraction(resources.get(member) or {}, name, f"{at}.resources.{member}")
    for where, variable, name, again in numbered(container.get("env") or [], "name"):
        value, used = str(variable.get("value") or ""), f"$({name})"
        if again and (variable.get("valueFrom") is not None or value == used or used not in value):
            hides = f"hides previous definition of {quote(name)}, which may be dropped when using apply"
            yield f"{at}.env{where}: {hides}"


def _ports(containers: Iterable[tuple[Obj, str]]) -> Iterator[str]:
    """Yield warnings for ports of all containers that are the same, or nearly, and then for their names."""
    known: dict[tuple[Any, Any], list[tuple[str, str, int]]] = {}
    names: dict[str, str] = {}
    repeated = []
    for container, at in containers:
        for index, port in enumerate(container.get("ports") or []):
            field = f"{at}.ports[{index}]"
            address, host = str(port.get("hostIP") or ""), port.get("hostPort") or 0
            others = known.setdefault((port.get("containerPort") or 0, port.get("protocol") or "TCP"), [])
            for other, its_address, its_host in others[:MOST_WARNINGS]:
                if (address, host) == (its_address, its_host):
                    yield f"{field}: duplicate port definition with {other}"
                elif not host or not its_host:
                    yield f"{field}: overlapping port definition with {other}"
                elif host == its_host and (not address) != (not its_address):
                    yield f"{field}: dangerously ambiguous port definition with {other}"
            others.append((field, address, host))
            if (name := port.get("name")) and name in names:
                used = f"services and probes that select ports by name will use {names[name]}"
                repeated.append(f"{field}: duplicate port name {quote(name)} with {names[name]}, {used}")
            elif name:
                names[name] = field
    yield from repeated


def _affinity(affinity: Obj, at: str) -> Iterator[str]:
    for member in ("podAffinity", "podAntiAffinity"):
        part = affinity.get(member) or {}
        for name, inner in ((REQUIRED, ""), (PREFERRED, "podAffinityTerm")):
            for index, term in enumerate(part.get(name) or []):
                selects = (term.get(inner) or {}) if inner else term
                if selects.get("labelSelector") is None:
                    field = f"{at}.{member}.{name}[{index}]" + (f".{inner}" if inner else "")
                    yield f"{field}.labelSelector: {_NO_POD}"


def _overlaps(volume: Obj) -> Iterator[str]:
    """Yield warnings for files of a volume with the same path, or below one another."""
    name = quote(str(volume.get("name") or ""))
    for member, owner in (("configMap", "name"), ("secret", "secretName"), ("downwardAPI", "")):
        source = volume.get(member) or {}
        shown = _shown(member, source.get(owner))
        paths = [(str(item.get("path") or ""), "") for item in source.get("items") or []]
        yield from (f"volume {name} ({shown}): overlapping paths: {each}" for each in _collisions(paths))
    if volume.get("projected") is None:
        return
    found: list[tuple[str, str]] = []
    for source in volume["projected"].get("sources") or []:
        if not any(part is not None for part in source.values()):
            yield f"volume {name} (Projected) has no sources provided"
            continue
        for member in ("configMap", "secret", "downwardAPI"):
            part = source.get(member) or {}
            shown = _shown(member, part.get("name"))
            found += [(str(item.get("path") or ""), shown) for item in part.get("items") or []]
        if token := source.get("serviceAccountToken"):
            found.append((str(token.get("path") or ""), "ServiceAccountToken"))
        if bundle := source.get("clusterTrustBundle"):
            of = bundle.get("name") or bundle.get("signerName") or ""
            found.append((str(bundle.get("path") or ""), f"ClusterTrustBundle {quote(of)}"))
    yield from (f"volume {name} (Projected): overlapping paths: {each}" for each in _collisions(found))


def _shown(member: str, name: Any) -> str:
    kind = {"configMap": "ConfigMap", "secret": "Secret", "downwardAPI": "DownwardAPI"}[member]
    return kind if member == "downwardAPI" else f"{kind} {quote(str(name or ''))}"


def _collisions(paths: list[tuple[str, str]]) -> Iterator[str]:
    """Yield `"a" with "a/b"` for the first paths that collide with an earlier one."""
    seen: list[tuple[str, str]] = []
    for path, owner in paths[:MOST_WARNINGS]:
        path = path.rstrip("/")
        for other, its_owner in seen:
            if path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/"):
                yield f"{_path(path, owner)} with {_path(other, its_owner)}"
        seen.append((path, owner))


def _path(path: str, owner: str) -> str:
    return f"{quote(path)} ({owner})" if owner else quote(path)


def address_warnings(text: str, field: str) -> Iterator[str]:
    """Yield a warning for an address that is not in its usual form."""
    try:
        parsed = ipaddress.ip_address(without_zeros(text))
    except ValueError:
        return
    usual = str(parsed.ipv4_mapped or parsed if isinstance(parsed, ipaddress.IPv6Address) else parsed)
    if without_zeros(text) != text and ":" not in text:
        why = f"will be considered invalid in a future Kubernetes release: use {quote(usual)}"
        yield f"{field}: non-standard IP address {quote(text)} {why}"
    elif ":" in text and text != usual:
        yield f"{field}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({quote(usual)})"
