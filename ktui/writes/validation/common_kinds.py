"""Validate the most common kinds: errors that make an object useless. Most of upstream's rules are
missing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from cryptography.x509 import load_pem_x509_csr

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    invalid_object,
    limited,
    required,
    too_long,
)
from ktui.kube.json_trees import Obj, copied
from ktui.kube.names import config_key_faults
from ktui.kube.resources import Resource
from ktui.writes.defaults import set_defaults
from ktui.writes.validation.cluster_kinds import (
    autoscaler_errors,
    budget_errors,
    level_errors,
    node_errors,
    role_errors,
    runtime_class_errors,
    schema_errors,
    storage_class_errors,
    volume_errors,
)
from ktui.writes.validation.networking import (
    ingress_class_errors,
    ingress_errors,
    network_policy_errors,
    service_errors,
)
from ktui.writes.validation.pod_specs import pod_spec_errors, template_errors
from ktui.writes.validation.selectors import (
    controller_selector_errors,
    generated_selector_errors,
    workload_selector_errors,
)
from ktui.writes.validation.updates import definitions, services
from ktui.writes.validation.updates.kinds import RULES, update_errors
from ktui.writes.validation.values import value_errors

PEM_REQUEST = b"-----BEGIN CERTIFICATE REQUEST-----"
MAX_DATA_BYTES = 1024 * 1024
# Members whose updates have their own rules, or are not validated.
_APART = frozenset({"apiVersion", "kind", "metadata", "status"})


def object_errors(obj: Obj, resource: Resource) -> list[FieldError]:
    """Return the errors in an object itself."""
    if resource.custom:
        return []
    rule = _RULES.get(resource.id)
    return [*(rule(obj) if rule is not None else ()), *value_errors(resource.id, obj)]


def validate_new(obj: Obj, resource: Resource, minor: int) -> None:
    """Validate an object to be created; StatusError 422 with every cause found."""
    errors = []
    if resource.id == "jobs.batch":
        errors += generated_selector_errors(obj, minor)
    if errors := [*errors, *object_errors(obj, resource)]:
        name = str((obj.get("metadata") or {}).get("name", ""))
        raise invalid_object(resource.kind, resource.group, name, errors)


def _pod(obj: Obj) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = pod_spec_errors(spec, "spec")
    if spec.get("schedulingGates") and spec.get("nodeName"):
        why = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", why))
    return errors


def _workload(obj: Obj) -> list[FieldError]:
    return [*workload_selector_errors(obj), *template_errors(obj)]


def _controller(obj: Obj) -> list[FieldError]:
    errors = controller_selector_errors(obj)
    return errors if (obj.get("spec") or {}).get("template") is None else [*errors, *template_errors(obj)]


def _stateful_set(obj: Obj) -> list[FieldError]:
    strategy = (obj.get("spec") or {}).get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    errors = _workload(obj)
    if rolling is not None and strategy.get("type") not in (None, "RollingUpdate"):
        shown = {"Partition": rolling.get("partition"), "MaxUnavailable": rolling.get("maxUnavailable")}
        why = "only allowed for updateStrategy 'RollingUpdate'"
        errors.append(invalid("spec.updateStrategy.rollingUpdate", shown, why))
    return errors


def _cron_job(obj: Obj) -> list[FieldError]:
    errors = [] if (obj.get("spec") or {}).get("schedule") else [required("spec.schedule")]
    return errors + template_errors(obj)


def _event(obj: Obj) -> list[FieldError]:
    """An event is in its object's namespace; for objects without a namespace in `default`."""
    own = str((obj.get("metadata") or {}).get("namespace") or "")
    about = str((obj.get("involvedObject") or obj.get("regarding") or {}).get("namespace") or "")
    if about == own or (not about and own == "default"):
        return []
    return [invalid("involvedObject.namespace", about, "does not match event.namespace")]


def _signing_request(obj: Obj) -> list[FieldError]:
    encoded = str((obj.get("spec") or {}).get("request") or "")
    try:
        pem = base64.b64decode(encoded)
        if PEM_REQUEST not in pem:
            return [invalid("spec.request", encoded, "PEM block type must be CERTIFICATE REQUEST")]
        load_pem_x509_csr(pem)
    except ValueError as error:
        return [invalid("spec.request", encoded, str(error))]
    return []


@limited
def _config(obj: Obj) -> Iterator[FieldError]:
    size = 0
    for member in ("data", "binaryData"):
        for key, value in (obj.get(member) or {}).items():
            size += len(str(value).encode())
            for fault in config_key_faults(key):
                yield invalid(f"{member}[{key}]", key, fault)
    if size > MAX_DATA_BYTES:
        yield too_long("[]" if obj.get("kind") == "ConfigMap" else "data", MAX_DATA_BYTES)


_RULES: dict[str, Callable[[Obj], list[FieldError]]] = {
    definitions.ID: definitions.definition_errors,
    "configmaps": _config,
    "clusterroles.rbac.authorization.k8s.io": role_errors,
    "cronjobs.batch": _cron_job,
    "horizontalpodautoscalers.autoscaling": autoscaler_errors,
    "ingressclasses.networking.k8s.io": ingress_class_errors,
    "ingresses.networking.k8s.io": ingress_errors,
    "networkpolicies.networking.k8s.io": network_policy_errors,
    "nodes": node_errors,
    "persistentvolumes": volume_errors,
    "poddisruptionbudgets.policy": budget_errors,
    "roles.rbac.authorization.k8s.io": role_errors,
    "runtimeclasses.node.k8s.io": runtime_class_errors,
    "storageclasses.storage.k8s.io": storage_class_errors,
    "certificatesigningrequests.certificates.k8s.io": _signing_request,
    "daemonsets.apps": _workload,
    "events": _event,
    "events.events.k8s.io": _event,
    "deployments.apps": _workload,
    "flowschemas.flowcontrol.apiserver.k8s.io": schema_errors,
    "jobs.batch": _workload,
    "pods": _pod,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": level_errors,
    "replicasets.apps": _workload,
    "replicationcontrollers": _controller,
    "secrets": _config,
    "services": service_errors,
    "statefulsets.apps": _stateful_set,
}


def change_errors(old: Obj, new: Obj, resource: Resource) -> list[FieldError]:
    """Return the errors of an update: changed immutable fields."""
    if resource.id not in RULES:
        return []
    before = copied(old)
    set_defaults(before)  # as decoding it would
    return update_errors(resource.id, before, new)


def has_changed(old: Obj, new: Obj) -> bool:
    """Whether an update changes more than metadata and status; most do not, and skip the other checks."""
    return any(old.get(name) != new.get(name) for name in (old.keys() | new.keys()) - _APART)


TLS = "kubernetes.io/tls"
PEM = b"-----BEGIN "


def object_warnings(resource: str, obj: Obj) -> list[str]:
    """Return the warnings for a new or changed object; `resource` is the resource's id."""
    if resource == "services":
        return services.warnings(obj)
    return _tls_secret(obj) if resource == "secrets" else []


def _tls_secret(secret: Obj) -> list[str]:
    """Return upstream's warnings for a TLS Secret that Go cannot load; here only for missing PEM data."""
    if secret.get("type") != TLS:
        return []
    data = secret.get("data") or {}
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if PEM not in base64.b64decode(data.get(name) or ""):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []
