"""Validate pod specs of pods and of templates: containers, volume mounts, DNS, restart policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    limited,
    not_found_value,
    not_supported,
    required,
)
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_key_faults
from ktui.writes.validation.networking import port_errors

HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


def container_part_errors(container: Obj, spec: Obj, field: str) -> Iterator[FieldError]:
    for index, port in enumerate(container.get("ports") or []):
        number, where = port.get("containerPort") or 0, f"{field}.ports[{index}]"
        if not number:
            yield required(f"{where}.containerPort")
        else:
            yield from port_errors(number, f"{where}.containerPort")
        if port.get("hostPort"):
            yield from port_errors(port["hostPort"], f"{where}.hostPort")
    for name in PROBES:
        if (probe := container.get(name)) is not None:
            yield from _handler(probe, f"{field}.{name}")
    hooks = container.get("lifecycle") or {}
    grace = spec.get("terminationGracePeriodSeconds")
    for name in ("postStart", "preStop"):
        if (hook := hooks.get(name)) is not None:
            yield from _handler(hook, f"{field}.lifecycle.{name}")
            seconds = (hook.get("sleep") or {}).get("seconds")
            if seconds is not None and grace is not None and not 0 <= seconds <= grace:
                why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                yield invalid(f"{field}.lifecycle.{name}.sleep", seconds, why)


def _handler(handler: Obj, field: str) -> Iterator[FieldError]:
    there = [name for name in HANDLERS if handler.get(name) is not None]
    for name in there[1:]:
        yield forbidden(f"{field}.{name}", "may not specify more than 1 handler type")
    if not there:
        yield required(field, "must specify a handler type")


def volume_errors(volume: Obj, field: str) -> Iterator[FieldError]:
    """Yield the errors of an unusable volume, which upstream does not count as a volume."""
    secret = volume.get("secret")
    if secret is not None and not secret.get("secretName"):
        yield required(f"{field}.secret.secretName")


def spread_errors(spec: Obj, field: str) -> Iterator[FieldError]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or []):
        where = f"{field}.topologySpreadConstraints[{index}]"
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            yield invalid(f"{where}.maxSkew", skew, "must be greater than zero")
        if not constraint.get("topologyKey"):
            yield required(f"{where}.topologyKey", "can not be empty")
        when = str(constraint.get("whenUnsatisfiable") or "")
        if when not in WHEN_UNSATISFIABLE:
            yield not_supported(f"{where}.whenUnsatisfiable", when, WHEN_UNSATISFIABLE)


def affinity_errors(spec: Obj, field: str) -> Iterator[FieldError]:
    affinity: Obj = spec.get("affinity") or {}
    for member in ("podAffinity", "podAntiAffinity"):
        rules, where = affinity.get(member) or {}, f"{field}.affinity.{member}"
        needed = "requiredDuringSchedulingIgnoredDuringExecution"
        for index, term in enumerate(rules.get(needed) or []):
            yield from _term(term, f"{where}.{needed}[{index}]")
        wished = "preferredDuringSchedulingIgnoredDuringExecution"
        for index, preferred in enumerate(rules.get(wished) or []):
            yield from _weight(preferred, f"{where}.{wished}[{index}]")
            yield from _term(
                preferred.get("podAffinityTerm") or {}, f"{where}.{wished}[{index}].podAffinityTerm"
            )


def _weight(preferred: Obj, field: str) -> Iterator[FieldError]:
    weight = preferred.get("weight") or 0
    if not 1 <= weight <= 100:
        yield invalid(f"{field}.weight", weight, "must be in the range 1-100")


def _term(term: Obj, field: str) -> Iterator[FieldError]:
    key = str(term.get("topologyKey") or "")
    if not key:
        yield required(f"{field}.topologyKey", "can not be empty")
    for fault in label_key_faults(key):
        yield invalid(f"{field}.topologyKey", key, fault)


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
        yield from (invalid(f"{field}.name", name, fault) for fault in dns_label_faults(name))
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
        return [invalid(f"{field}.restartPolicy", pod["restartPolicy"], why)]
    if pod.get("restartPolicy") != "Always":
        return []
    return [required(f"{field}.restartPolicy", 'valid values: "OnFailure", "Never"')]
