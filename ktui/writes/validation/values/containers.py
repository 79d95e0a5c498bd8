"""Rules of containers: ports, environment, mounts, probes, resources, security."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.values.checks import (
    Row,
    address,
    below,
    config_key,
    counts,
    demand,
    dns_label,
    duplicate,
    has,
    header_name,
    inside,
    of_member,
    one_kind,
    one_of,
    port_name_faults,
    port_number,
    port_or_name,
    positive,
    relative_path,
    unique,
    user_id,
    variable_name,
    without_parents,
)

PROTOCOLS = ("SCTP", "TCP", "UDP")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_OWN = ("cpu", "memory", "ephemeral-storage")
# Resources that a container may not be given more of than it requests.
_NOT_OVERCOMMITTED = "hugepages-"
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_FIELDS = frozenset({
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
})  # fmt: skip
_KEYED_FIELD = re.compile(r"metadata\.(annotations|labels)\['.*'\]", re.DOTALL)
_MANY = "may not have more than one field specified at a time"


def _name_and_image(container: Obj) -> Iterator[FieldError]:
    yield from has("name")(container)
    yield from inside(".name", dns_label(container.get("name") or ""))
    yield from has("image")(container)


def _variable(variable: Obj) -> Iterator[FieldError]:
    source = variable.get("valueFrom")
    if source is None:
        return
    there = [name for name in _SOURCES if source.get(name) is not None]
    if not there:
        why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield invalid(".valueFrom", "", why)
    elif variable.get("value"):
        yield invalid(".valueFrom", "", "may not be specified when `value` is not empty")
    elif len(there) > 1:
        yield invalid(".valueFrom", "", _MANY)


def _variables_from(source: Obj) -> Iterator[FieldError]:
    there = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
    if not there:
        yield invalid("", "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(there) > 1:
        yield invalid("", "", _MANY)


def _field_path(value: str) -> Iterator[FieldError]:
    if value not in _FIELDS and not _KEYED_FIELD.fullmatch(value):
        yield invalid("", value, f"error converting fieldPath: field label not supported: {value}")


def _mount(mount: Obj) -> Iterator[FieldError]:
    if mount.get("subPath") and mount.get("subPathExpr"):
        yield invalid(".subPathExpr", mount["subPathExpr"], "subPathExpr and subPath are mutually exclusive")


def _ports(ports: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for index, port in enumerate(ports):
        name = port.get("name")
        faults = list(port_name_faults(name)) if name else ()
        yield from (invalid(f"[{index}].name", name or "", why) for why in faults)
        if name and not faults and name in seen:
            yield duplicate(f"[{index}].name", name)
        seen.add(name)


def _resources(resources: Obj) -> Iterator[FieldError]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for which, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            yield from _resource(name, value, f".{which}")
    for name, value in requests.items():
        limit = limits.get(name)
        extended = "/" in name and not name.startswith("kubernetes.io/")
        if limit is None:
            if extended:
                yield required(".limits", f"Limit must be set for non overcommitable resources: {name}")
        elif extended and amount(value) != amount(limit):
            yield invalid(".requests", value, f"must be equal to {name} limit of {limit}")
        elif amount(value) > amount(limit):
            yield invalid(".requests", value, f"must be less than or equal to {name} limit of {limit}")
    there = {*limits, *requests}
    if any(n.startswith(_NOT_OVERCOMMITTED) for n in there) and not there & {"cpu", "memory"}:
        yield forbidden("", "HugePages require cpu or memory")


def _resource(name: str, value: str, field: str) -> Iterator[FieldError]:
    where = f"{field}[{name}]"
    if "/" not in name:
        if name not in _OWN and not name.startswith(_NOT_OVERCOMMITTED):
            yield invalid(field, name, "must be a standard resource type or fully qualified")
            yield invalid(field, name, "must be a standard resource for containers")
    else:
        yield from (invalid(field, name, why) for why in label_key_faults(name))
    if amount(value) < 0:
        yield invalid(where, value, "must be greater than or equal to 0")
    if "/" in name and "kubernetes.io/" not in name and amount(value) % 1:
        yield invalid(where, value, "must be an integer")


def profile(value: Obj) -> Iterator[FieldError]:
    """Check a seccomp or AppArmor profile: only a local one has a name."""
    if value.get("type") == "Localhost":
        if not value.get("localhostProfile"):
            yield required(".localhostProfile", "must be set when seccomp type is Localhost")
    elif value.get("localhostProfile") is not None:
        why = "can only be set when seccomp type is Localhost"
        yield invalid(".localhostProfile", value["localhostProfile"], why)


def _security(context: Obj) -> Iterator[FieldError]:
    if context.get("allowPrivilegeEscalation") is not False:
        return
    if context.get("privileged"):
        why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        yield invalid("", context, why)
    if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or []):
        why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        yield invalid("", context, why)


def _propagation(container: Obj) -> Iterator[FieldError]:
    if (container.get("securityContext") or {}).get("privileged"):
        return
    for index, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("mountPropagation") == "Bidirectional":
            why = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f".volumeMounts[{index}].mountPropagation", why)


_succeeds_once = of_member("successThreshold", demand(lambda times: times == 1, "must be 1"))
_no_grace = of_member(
    "terminationGracePeriodSeconds", demand(lambda _: False, "must not be set for readinessProbes")
)


def _container_port(port: Obj) -> Iterator[FieldError]:
    if not port.get("containerPort"):
        yield required(".containerPort")
    for name in ("containerPort", "hostPort"):
        if port.get(name):
            yield from inside(f".{name}", port_number(port[name]))


_HTTP: tuple[Row, ...] = (
    ("port", port_or_name),
    ("scheme", one_of("HTTP", "HTTPS")),
    ("httpHeaders[].name", header_name),
)
HANDLER: tuple[Row, ...] = (
    ("", one_kind("handler", "must specify a handler type", lambda _: HANDLERS)),
    ("exec", has("command")),
    *below("httpGet", _HTTP),
    ("tcpSocket.port", port_or_name),
    ("grpc.port", port_or_name),
)
_PROBE: tuple[Row, ...] = (
    *HANDLER,
    *counts("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
    ("terminationGracePeriodSeconds", positive("must be greater than 0")),
)
SECURITY: tuple[Row, ...] = (
    ("runAsUser", user_id),
    ("runAsGroup", user_id),
    ("seccompProfile.type", one_of("Localhost", "RuntimeDefault", "Unconfined")),
    ("seccompProfile", profile),
    ("appArmorProfile.type", one_of("Localhost", "RuntimeDefault", "Unconfined")),
)
CONTAINER: tuple[Row, ...] = (
    ("", _name_and_image),
    ("image", demand(lambda name: name == name.strip(), "must not have leading or trailing whitespace")),
    ("imagePullPolicy", one_of("Always", "IfNotPresent", "Never")),
    ("terminationMessagePolicy", one_of("FallbackToLogsOnError", "File")),
    ("restartPolicy", one_of("Always", "Never", "OnFailure")),
    ("ports", _ports),
    ("ports[]", _container_port),
    ("ports[].protocol", one_of(*PROTOCOLS)),
    ("ports[].hostIP", address),
    ("env[]", has("name")),
    ("env[].name", variable_name),
    ("env[]", _variable),
    ("env[].valueFrom.fieldRef", has("fieldPath")),
    ("env[].valueFrom.fieldRef.fieldPath", _field_path),
    ("env[].valueFrom.resourceFieldRef", has("resource")),
    ("env[].valueFrom.configMapKeyRef", has("key")),
    ("env[].valueFrom.configMapKeyRef.key", config_key),
    ("env[].valueFrom.secretKeyRef", has("key")),
    ("env[].valueFrom.secretKeyRef.key", config_key),
    ("envFrom[]", _variables_from),
    ("envFrom[].prefix", variable_name),
    ("envFrom[].configMapRef", has("name")),
    ("envFrom[].secretRef", has("name")),
    ("volumeMounts", unique("mountPath", lambda field, path: invalid(field, path, "must be unique"))),
    ("volumeMounts[]", has("name", "mountPath")),
    ("volumeMounts[]", _mount),
    ("volumeMounts[].subPath", relative_path),
    ("volumeMounts[].subPathExpr", relative_path),
    ("volumeMounts[].mountPropagation", one_of("Bidirectional", "HostToContainer", "None")),
    ("", _propagation),
    ("volumeDevices[]", has("devicePath")),
    ("volumeDevices[].devicePath", without_parents),
    *below("livenessProbe", _PROBE),
    *below("readinessProbe", _PROBE),
    *below("startupProbe", _PROBE),
    ("livenessProbe", _succeeds_once),
    ("startupProbe", _succeeds_once),
    ("readinessProbe", _no_grace),
    *below("lifecycle.postStart", HANDLER),
    *below("lifecycle.preStop", HANDLER),
    ("resources", _resources),
    *below("securityContext", SECURITY),
    ("securityContext.procMount", one_of("Default", "Unmasked")),
    ("securityContext", _security),
)
