"""Warnings for pods and for the templates of workloads that are new or changed (upstream: pkg/api/pod)."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults
from ktui.kube.quantity import is_whole
from ktui.writes.field_paths import found_at
from ktui.writes.pod_templates import NAMED, TEMPLATES
from ktui.writes.validation.values.addresses import without_zeros
from ktui.writes.validation.values.checks import numbered
from ktui.writes.validation.values.scheduling import POD_TERMS, PREFERRED, REQUIRED
from ktui.writes.validation.values.security import (
    INSTEAD_OF_SECCOMP,
    SECCOMP_OF_POD,
    profile_warnings,
)
from ktui.writes.validation.values.systems import containers_of

# Labels of nodes that are no longer set (upstream: GetNodeLabelDeprecatedMessage).
OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region":
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone":
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type":
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods":
        "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}  # fmt: skip
_SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead'
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod":
        'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": _SYSCTLS,
    "security.alpha.kubernetes.io/unsafe-sysctls": _SYSCTLS,
}  # fmt: skip
OLD_VOLUMES = {
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
MOST_WARNINGS = 100  # of one object; a body has room for thousands
WarningRows: TypeAlias = "tuple[tuple[str, WarningRows | Callable[[Any, str], Iterable[str]]], ...]"
"""A path, and a function of what is there and of its own path → warnings, or a table for what is there."""


def warned(rows: WarningRows, obj: Obj, at: str = "") -> Iterator[str]:
    """Yield the warnings of a table; `at` is the path of the object, with a dot at the end."""
    for path, warnings in rows:
        for field, value in found_at(obj, path):
            if isinstance(warnings, tuple):
                yield from warned(warnings, value, f"{at}{field}.")
            else:
                yield from warnings(value, f"{at}{field}")


def pod_warnings(obj: Obj, old: Obj | None) -> Iterator[str]:
    """Yield the warnings for an object; `old` is None if it is new. A changed pod has none."""
    kind = str(obj.get("kind") or "")
    name = str((obj.get("metadata") or {}).get("name") or "")
    if old is None and kind in NAMED and (faults := dns_label_faults(name)):
        use = "the Pod's hostname" if kind == "Pod" else "Pod names and hostnames"
        yield (
            f"metadata.name: this is used in {use}, which can result in surprising "
            f"behavior; a DNS label is recommended: [{' '.join(faults)}]"
        )
    if kind == "Pod":
        if old is None:
            yield from warned(_POD, obj)
    elif kind in TEMPLATES and (old is None or _counts(kind, old, obj)):
        # Upstream gives the two templates of a ReplicationController in the wrong order.
        shown = old if old is not None and kind == "ReplicationController" else obj
        yield from warned(_POD, _template(shown, TEMPLATES[kind]), ".".join(TEMPLATES[kind]) + ".")


def _counts(kind: str, old: Obj, new: Obj) -> bool:
    """Whether a change increases the generation, or that of a DaemonSet's template."""
    path = TEMPLATES[kind] if kind == "DaemonSet" else TEMPLATES[kind][:1]
    return _template(old, path) != _template(new, path)


def _template(obj: Obj, path: tuple[str, ...]) -> Obj:
    for step in path:
        obj = obj.get(step) or {}
    return obj


def deprecated(names: Mapping[str, str]) -> Callable[[Obj, str], Iterator[str]]:
    """Warn of members and keys with these names."""
    return lambda found, at: (f"{at}[{name}]: {why}" for name, why in names.items() if name in found)


def _old_selector(labels: Obj, at: str) -> Iterator[str]:
    """Yield warnings for labels of nodes that have other names now."""
    return (f"{at}[{name}]: {OLD_LABELS[name]}" for name in labels if name in OLD_LABELS)


def _spread(constraint: Obj, at: str) -> Iterator[str]:
    if (key := constraint.get("topologyKey")) in OLD_LABELS:
        yield f"{at}.topologyKey: {key} is {OLD_LABELS[key]}"
    yield from _matching_none(constraint, at)


def _matching_none(part: Obj, at: str) -> Iterable[str]:
    none = part.get("labelSelector") is None
    return [f"{at}.labelSelector: a null labelSelector results in matching no pod"] if none else ()


def old_sources(*names: str) -> Callable[[Obj, str], Iterator[str]]:
    """Warn of a volume's sources whose drivers are gone."""

    def warnings(volume: Obj, at: str) -> Iterator[str]:
        for name in names:
            if volume.get(name) is not None:
                yield f"{at}.{'storageOS' if name == 'storageos' else name}: {OLD_VOLUMES[name]}"

    return warnings


def old_label_warnings(term: Obj, field: str) -> Iterator[str]:
    """Yield warnings for the labels of nodes that the requirements of a selector name."""
    for index, expression in enumerate(term.get("matchExpressions") or []):
        if (key := expression.get("key")) in OLD_LABELS:
            yield f"{field}.matchExpressions[{index}].key: {key} is {OLD_LABELS[key]}"


def _repeated(member: str) -> Callable[[list[Obj], str], Iterator[str]]:
    def warnings(items: list[Obj], at: str) -> Iterator[str]:
        for where, _, value, again in numbered(items, member):
            if again:
                yield f"{at}{where}.{member}: duplicate {member} {quote(value)}"

    return warnings


def _unnamed(secret: Obj, at: str) -> Iterable[str]:
    return () if secret.get("name") else [f'{at}.name: invalid empty name ""']


def fractions(*names: str) -> Callable[[Obj, str], Iterator[str]]:
    """Warn of amounts of bytes that are not whole."""

    def warnings(amounts: Obj, at: str) -> Iterator[str]:
        for name in names:
            if (value := amounts.get(name)) is not None and not is_whole(value):
                why = f"fractional byte value {quote(str(value))} is invalid, must be an integer"
                yield f"{at}[{name}]: {why}"

    return warnings


_OF_BYTES = fractions("memory"), fractions("ephemeral-storage")


def _containers(pod: Obj, at: str) -> Iterator[str]:
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    context = spec.get("securityContext") or {}
    if SECCOMP_OF_POD in annotations and context.get("seccompProfile") is None:
        yield f"{at}metadata.annotations[{SECCOMP_OF_POD}]: {INSTEAD_OF_SECCOMP}"
    containers = [(container, f"{at}spec{where}") for where, container in containers_of(spec)]
    for container, where in containers:
        yield from profile_warnings(annotations, container, context.get("appArmorProfile"), at)
        yield from _of_container(container, where)
    yield from _ports(containers)


def _of_container(container: Obj, at: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for warnings in _OF_BYTES:
        for member in ("limits", "requests"):
            yield from warnings(resources.get(member) or {}, f"{at}.resources.{member}")
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
            if address and not host:
                number, protocol = port.get("containerPort") or 0, port.get("protocol") or "TCP"
                shown = f"Name:{port.get('name') or ''} HostPort:0 ContainerPort:{number}"
                shown = f"{{{shown} Protocol:{protocol} HostIP:{address}}}"
                yield f"{field}: hostIP set without hostPort: {shown}"
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


def _negative(seconds: int, at: str) -> Iterable[str]:
    why = "must be >= 0; negative values are invalid and will be treated as 1"
    return [f"{at}: {why}"] if seconds < 0 else ()


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


_AFFINITY: WarningRows = (
    (f"nodeAffinity.{REQUIRED}.nodeSelectorTerms[]", old_label_warnings),
    (f"nodeAffinity.{PREFERRED}[].preference", old_label_warnings),
)
_SPEC: WarningRows = (
    ("volumes[]", old_sources(*OLD_VOLUMES)), ("volumes[]", lambda volume, _: _overlaps(volume)),
    ("hostAliases", _repeated("ip")), ("imagePullSecrets", _repeated("name")),
    ("imagePullSecrets[]", _unnamed), *(("overhead", warnings) for warnings in _OF_BYTES),
)  # fmt: skip
_SELECTING: WarningRows = tuple((path.removeprefix("affinity."), _matching_none) for path in POD_TERMS)
_POD: WarningRows = (
    ("spec.nodeSelector", _old_selector), ("spec.affinity", _AFFINITY),
    ("spec.topologySpreadConstraints[]", _spread), ("metadata.annotations", deprecated(_OLD_ANNOTATIONS)),
    ("spec", _SPEC), ("", _containers), ("spec.terminationGracePeriodSeconds", _negative),
    ("spec.affinity", _SELECTING), ("spec.dnsConfig.nameservers[]", address_warnings),
    ("spec.hostAliases[].ip:text", address_warnings),
)  # fmt: skip
"""The warnings for a pod or a template."""
