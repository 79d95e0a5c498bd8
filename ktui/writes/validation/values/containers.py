"""Rules of containers: ports, environment, mounts, probes, resources, security; in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount, is_whole
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_subdomain,
    below,
    config_key,
    counts,
    demand,
    dns_label,
    duplicate,
    exactly_one,
    has,
    header_name,
    inside,
    label_key,
    listed,
    one_of,
    one_of_or_none,
    port_name_faults,
    port_or_name,
    positive,
    relative_path,
    table_of,
    text_of,
    user_id,
    variable_name,
)

PROTOCOLS = ("SCTP", "TCP", "UDP")
_OWN = ("cpu", "memory", "ephemeral-storage")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
# What a fieldRef can name in a pod, and where: the others are known, but not available there.
_POD_FIELDS = frozenset({
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.hostIP",
    "status.hostIPs", "status.phase", "status.podIP", "status.podIPs",
})  # fmt: skip
ENV_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
VOLUME_FIELDS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
)  # fmt: skip
_KEYED_FIELD = re.compile(r"(metadata\.(?:annotations|labels))\['(.*)'\]", re.DOTALL)
_RESOURCE_FIELDS = tuple(f"{kind}.{name}" for kind in ("limits", "requests") for name in sorted(_OWN))
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_MANY = "may not have more than one field specified at a time"
_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVIDED = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}


def _variable(variable: Obj) -> Iterator[FieldError]:
    source = variable.get("valueFrom")
    if source is None:
        return
    there = [name for name in _SOURCES if source.get(name) is not None]
    if not there:
        why = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
            "`fileKeyRef`"
        )
        yield invalid(".valueFrom", "", why)
    elif variable.get("value"):
        yield invalid(".valueFrom", "", "may not be specified when `value` is not empty")
    elif len(there) > 1:
        yield invalid(".valueFrom", "", _MANY)


def _variables_from(sources: list[Obj]) -> Iterator[FieldError]:
    """Check the sources of variables; upstream's path of how many there are is that of the list."""
    for index, source in enumerate(sources):
        yield from inside(f"[{index}].prefix", variable_name(source.get("prefix") or ""))
        there = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in there:
            yield from inside(f"[{index}].{name}", has("name")(source[name]))
        if not there:
            yield invalid("", "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(there) > 1:
            yield invalid("", "", _MANY)


def field_ref(available: tuple[str, ...]) -> Check:
    """Check a reference to a field of the pod, of which those in `available` can be named."""

    def check(reference: Obj) -> Iterator[FieldError]:
        path = str(reference.get("fieldPath") or "")
        keyed = _KEYED_FIELD.fullmatch(path)
        version = str(reference.get("apiVersion") or "v1")
        if not path:
            yield required(".fieldPath")
        elif version != "v1":
            why = f"error converting fieldPath: unsupported pod version: {version}"
            yield invalid(".fieldPath", path, why)
        elif keyed:
            yield from label_key(keyed[2].lower() if keyed[1].endswith("annotations") else keyed[2])
        elif path not in _POD_FIELDS and path != "spec.host":
            why = f"error converting fieldPath: field label not supported: {path}"
            yield invalid(".fieldPath", path, why)
        elif (path := {"spec.host": "spec.nodeName"}.get(path, path)) not in available:
            yield not_supported(".fieldPath", path, available)

    return check


def resource_ref(*, of_volume: bool) -> Check:
    """Check a reference to a resource of a container, which a volume's has to name."""

    def check(reference: Obj) -> Iterator[FieldError]:
        name = str(reference.get("resource") or "")
        if of_volume and not reference.get("containerName"):
            yield required(".containerName")
        elif not name:
            yield required(".resource")
        elif name not in _RESOURCE_FIELDS and not name.startswith(_HUGE_PAGES):
            yield not_supported(".resource", name, _RESOURCE_FIELDS)
        yield from _divisor(name, str(reference.get("divisor") or "0"))

    return check


def _divisor(name: str, divisor: str) -> Iterator[FieldError]:
    measured = name.partition(".")[2]
    what = "hugepages" if measured.startswith("hugepages-") else _DIVIDED.get(measured)
    if not amount(divisor):
        return
    if measured == "cpu" and divisor not in ("1", "1m"):
        yield invalid(".divisor", name, "only divisor's values 1m and 1 are supported with the cpu resource")
    elif what and divisor not in _DIVISORS:
        why = f"only divisor's values {', '.join(_DIVISORS)} are supported with the {what} resource"
        yield invalid(".divisor", name, why)


def _ports(ports: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for index, port in enumerate(ports):
        if name := port.get("name"):
            faults = list(port_name_faults(name))
            yield from (invalid(f"[{index}].name", name, why) for why in faults)
            if name in seen:
                yield duplicate(f"[{index}].name", name)
            elif not faults:
                seen.add(name)
        yield from inside(f"[{index}]", _PORT.relative(port))


_port_or_none = demand(lambda number: 0 <= number <= 65535, "must be between 1 and 65535, inclusive")
_PORT = table_of(
    ("", has("containerPort")), ("containerPort", _port_or_none), ("hostPort", _port_or_none),
    ("protocol", one_of_or_none(*PROTOCOLS)),
)  # fmt: skip


def resource_amounts(resources: Obj) -> Iterator[FieldError]:
    """Check requests and limits."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        yield from _resource(name, value, ".limits")
    for name, value in requests.items():
        yield from _resource(name, value, ".requests")
        limit = limits.get(name)
        extended = "/" in name and not name.startswith("kubernetes.io/")
        if limit is None:
            if extended:
                yield required(".limits", "Limit must be set for non overcommitable resources")
        elif extended and amount(value) != amount(limit):
            yield invalid(".requests", value, f"must be equal to {name} limit of {limit}")
        elif amount(value) > amount(limit):
            yield invalid(".requests", value, f"must be less than or equal to {name} limit of {limit}")
    there = {*limits, *requests}
    if any(n.startswith("hugepages-") for n in there) and not there & {"cpu", "memory"}:
        yield forbidden("", "HugePages require cpu or memory")


def _resource(name: str, value: str, field: str) -> Iterator[FieldError]:
    where = f"{field}[{name}]"
    faults = label_key_faults(name)
    if "/" not in name and name not in _OWN and not name.startswith("hugepages-"):
        faults = faults or ["must be a standard resource type or fully qualified"]
        faults = [*faults, "must be a standard resource for containers"]
    yield from (invalid(where, name, why) for why in faults)
    if amount(value) < 0:
        yield invalid(where, value, "must be greater than or equal to 0")
    if "/" in name and "kubernetes.io/" not in name and not is_whole(value):
        yield invalid(where, value, "must be an integer")


def _profile_type(what: str) -> Check:
    """Demand the type of a profile, which its name does not tell."""

    def check(value: Obj) -> Iterator[FieldError]:
        if not value.get("type"):
            yield required(".type", f"type is required when {what} is set")
        elif value["type"] not in _PROFILES:
            yield not_supported(".type", value["type"], _PROFILES)

    return check


_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")


def profile(value: Obj) -> Iterator[FieldError]:
    """Check a seccomp profile: only a local one has a name."""
    name = value.get("localhostProfile")
    if value.get("type") == "Localhost":
        if name is None:
            yield required(".localhostProfile", "must be set when seccomp type is Localhost")
        else:
            yield from inside(".localhostProfile", relative_path(name))
    elif name is not None:
        yield invalid(".localhostProfile", value, "can only be set when seccomp type is Localhost")


def _security(context: Obj) -> Iterator[FieldError]:
    if context.get("allowPrivilegeEscalation") is not False:
        return
    why = "cannot set `allowPrivilegeEscalation` to false and "
    if context.get("privileged"):
        yield invalid("", context, f"{why}`privileged` to true")
    for capability in (context.get("capabilities") or {}).get("add") or []:
        if capability == "CAP_SYS_ADMIN":
            yield invalid("", context, f"{why}`capabilities.Add` CAP_SYS_ADMIN")


def _succeeds_once(probe: Obj) -> Iterable[FieldError]:
    times = probe.get("successThreshold")
    return () if times in (None, 1) else [invalid(".successThreshold", times or 0, "must be 1")]


def _headers(request: Obj) -> Iterator[FieldError]:
    for header in request.get("httpHeaders") or []:
        yield from inside(".httpHeaders", header_name(header.get("name") or ""))


_PORT_OF_HANDLER = table_of(("port", port_or_name))
_HANDLERS = {
    "exec": table_of(("", has("command"))),
    "httpGet": table_of(("port", port_or_name), ("scheme", one_of("HTTP", "HTTPS")), ("", _headers)),
    "tcpSocket": _PORT_OF_HANDLER,
    "grpc": _PORT_OF_HANDLER,
    "sleep": table_of(),
}
_handler = exactly_one(_HANDLERS, "handler")
_PROBE: Rows = (
    ("", _handler), *counts("initialDelaySeconds", "timeoutSeconds", "periodSeconds"),
    *counts("successThreshold", "failureThreshold"),
    ("terminationGracePeriodSeconds", positive("must be greater than 0")),
)  # fmt: skip
_NO_GRACE = demand(lambda _: False, "must not be set for readinessProbes")
SECCOMP: Rows = (
    ("seccompProfile", _profile_type("seccompProfile")), ("seccompProfile", profile),
)  # fmt: skip
APP_ARMOR: Rows = (("appArmorProfile", _profile_type("appArmorProfile")),)
# A reference to a key of a ConfigMap or Secret; a missing name is an invalid one.
_KEY: Rows = (("", text_of("name", any_subdomain)), ("", has("key")), ("key", config_key))
UNTIL_MOUNTS = table_of(
    ("", has("name")), ("name", dns_label), ("", has("image")),
    ("terminationMessagePolicy", one_of("File", "FallbackToLogsOnError")), ("ports", _ports),
    ("env[]", has("name")), ("env[].name", variable_name),
    ("env[].valueFrom.fieldRef", field_ref(ENV_FIELDS)),
    ("env[].valueFrom.resourceFieldRef", resource_ref(of_volume=False)),
    *below("env[].valueFrom.configMapKeyRef", _KEY), *below("env[].valueFrom.secretKeyRef", _KEY),
    ("env[]", _variable), ("envFrom", _variables_from),
)  # fmt: skip
AFTER_MOUNTS = table_of(
    ("imagePullPolicy", one_of("Always", "IfNotPresent", "Never")), ("resources", resource_amounts),
)  # fmt: skip
AFTER_CLAIMS = table_of(
    ("securityContext.runAsUser", user_id), ("securityContext.runAsGroup", user_id),
    ("securityContext.procMount", listed("Default", "Unmasked")), *below("securityContext", SECCOMP),
    ("securityContext", _security), *below("securityContext", APP_ARMOR),
)  # fmt: skip
OF_STARTED = table_of(
    ("lifecycle.postStart", _handler), ("lifecycle.preStop", _handler),
    *below("livenessProbe", _PROBE), ("livenessProbe", _succeeds_once),
    *below("readinessProbe", _PROBE), ("readinessProbe.terminationGracePeriodSeconds", _NO_GRACE),
    *below("startupProbe", _PROBE), ("startupProbe", _succeeds_once),
)  # fmt: skip
RESTARTS = table_of(("restartPolicy", listed("Always", "Never", "OnFailure")))
