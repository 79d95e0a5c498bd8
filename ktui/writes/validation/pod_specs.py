"""Validate pod specs of pods and of templates: containers, volume mounts, DNS, restart policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid_value,
    limited,
    not_found_value,
    not_supported,
    required,
)
from ktui.kube.names import dns_label_faults
from ktui.writes.validation.pod_parts import (
    affinity_errors,
    container_part_errors,
    spread_errors,
    volume_errors,
)

Obj = dict[str, Any]

ENDLESS = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})


@limited
def pod_spec_errors(spec: Obj, field: str, claims: Sequence[Obj] = ()) -> Iterator[FieldError]:
    """Yield the errors of a spec at `field`; `claims` are claim templates, which are also volumes."""
    if not spec.get("containers"):
        yield required(f"{field}.containers")
    volumes = set()
    for at, volume in enumerate(spec.get("volumes") or []):
        faults = list(volume_errors(volume, f"{field}.volumes[{at}]"))
        yield from faults
        if not faults:
            volumes.add(volume.get("name"))
    volumes |= {(claim.get("metadata") or {}).get("name") for claim in claims}
    for member in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(member) or []):
            where = f"{field}.{member}[{at}]"
            yield from _container_errors(container, where, volumes)
            yield from container_part_errors(container, spec, where)
    if spec.get("dnsPolicy") == "None" and not spec.get("dnsConfig"):
        yield required(f"{field}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
    yield from spread_errors(spec, field)
    yield from affinity_errors(spec, field)


def _container_errors(container: Obj, field: str, volumes: set[Any]) -> Iterator[FieldError]:
    name = container.get("name") or ""
    if not name:
        yield required(f"{field}.name")
    else:
        yield from (invalid_value(f"{field}.name", name, fault) for fault in dns_label_faults(name))
    if not container.get("image"):
        yield required(f"{field}.image")
    for at, mount in enumerate(container.get("volumeMounts") or []):
        mounted = mount.get("name") or ""
        if not mounted:
            yield required(f"{field}.volumeMounts[{at}].name")
        elif mounted not in volumes:
            yield not_found_value(f"{field}.volumeMounts[{at}].name", mounted)


def template_errors(obj: Obj) -> list[FieldError]:
    """Return the errors of a workload's pod template, by the rules of its kind."""
    kind, path = str(obj.get("kind")), "spec"
    spec = obj.get("spec") or {}
    if kind == "CronJob":
        spec, path = ((spec.get("jobTemplate") or {}).get("spec")) or {}, "spec.jobTemplate.spec"
    field = f"{path}.template.spec"
    pod = (spec.get("template") or {}).get("spec") or {}
    errors = pod_spec_errors(pod, field, spec.get("volumeClaimTemplates") or [])
    if kind not in ENDLESS:
        return errors + _ending(spec, pod, field)
    if pod.get("restartPolicy") not in (None, "Always"):
        errors.append(not_supported(f"{field}.restartPolicy", pod["restartPolicy"], ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{field}.activeDeadlineSeconds", why))
    return errors


def _ending(spec: Obj, pod: Obj, field: str) -> list[FieldError]:
    """The pods of a Job must end; with a policy for failures they are not restarted in place."""
    if spec.get("podFailurePolicy") is not None and pod.get("restartPolicy") not in (None, "Never"):
        why = 'only "Never" is supported when podFailurePolicy is specified'
        return [invalid_value(f"{field}.restartPolicy", pod["restartPolicy"], why)]
    if pod.get("restartPolicy") != "Always":
        return []
    return [required(f"{field}.restartPolicy", 'valid values: "OnFailure", "Never"')]
