"""Rules of containers: ports, environment, probes and hooks; in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ktui.kube.fielderrors import FieldError, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
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
    inside,
    label_key,
    one_of,
    one_of_or_none,
    positive,
    subdomain,
    table_of,
    without_parents,
)
from ktui.writes.validation.values.int_or_string import port_name_faults, port_or_name

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

_header_name = demand(
    re.compile("[-A-Za-z0-9]+").fullmatch,
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')",
)
_variable_name = demand(
    re.compile("[ -<>-~]*").fullmatch,
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
)


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
        yield from inside(f"[{index}].prefix", _variable_name(source.get("prefix") or ""))
        there = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in there:
            reference = str(source[name].get("name") or "")
            missing = [] if reference else [required("")]
            yield from inside(f"[{index}].{name}.name", missing or subdomain(reference))
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
        yield from inside(f"[{index}]", _PORT(port))


_port_or_none = demand(lambda number: 0 <= number <= 65535, "must be between 1 and 65535, inclusive")
_PORT = table_of(
    ("", has("containerPort")), ("containerPort", _port_or_none), ("hostPort", _port_or_none),
    ("protocol", one_of_or_none(*PROTOCOLS)),
)  # fmt: skip


def _headers(request: Obj) -> Iterator[FieldError]:
    for header in request.get("httpHeaders") or []:
        yield from inside(".httpHeaders", _header_name(header.get("name") or ""))


_PORT_OF_HANDLER = table_of(("port", port_or_name))
_HANDLERS = {
    "exec": table_of(("", has("command"))),
    "httpGet": table_of(("port", port_or_name), ("scheme", one_of("HTTP", "HTTPS")), ("", _headers)),
    "tcpSocket": _PORT_OF_HANDLER,
    "grpc": _PORT_OF_HANDLER,
}
_handler = exactly_one(_HANDLERS, "handler")


@lru_cache(maxsize=16)
def hooks(grace: int) -> Check:
    """Check what runs after the start and before the stop (upstream: validateLifecycle).

    A hook that sleeps ends within the pod's grace period, in seconds.
    """

    def sleeps(sleep: Obj) -> Iterator[FieldError]:
        if not 0 <= (seconds := sleep.get("seconds") or 0) <= grace:
            why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid("", seconds, why)

    hook = exactly_one({**_HANDLERS, "sleep": table_of(("", sleeps))}, "handler")
    return table_of(("lifecycle.postStart", hook), ("lifecycle.preStop", hook))


_PROBE: Rows = (
    ("", _handler), *counts("initialDelaySeconds", "timeoutSeconds", "periodSeconds"),
    *counts("successThreshold", "failureThreshold"),
    ("terminationGracePeriodSeconds", positive("must be greater than 0")),
)  # fmt: skip
_once = demand(lambda times: times == 1, "must be 1")
_NO_GRACE = demand(lambda _: False, "must not be set for readinessProbes")
# A reference to a key of a ConfigMap or Secret; a missing name is an invalid one.
_KEY: Rows = (("name:text", any_subdomain), ("", has("key")), ("key", config_key))
_FILE_KEY: Rows = (
    ("", has("key")), ("key", _variable_name), ("", has("volumeName")), ("volumeName", dns_label),
    ("", has("path")), ("path", without_parents),
)  # fmt: skip
UNTIL_MOUNTS = table_of(
    ("", has("name")), ("name", dns_label), ("", has("image")),
    ("terminationMessagePolicy", one_of("File", "FallbackToLogsOnError")), ("ports", _ports),
    ("env[]", has("name")), ("env[].name", _variable_name),
    ("env[].valueFrom.fieldRef", field_ref(ENV_FIELDS)),
    ("env[].valueFrom.resourceFieldRef", resource_ref(of_volume=False)),
    *below("env[].valueFrom.configMapKeyRef", _KEY), *below("env[].valueFrom.secretKeyRef", _KEY),
    *below("env[].valueFrom.fileKeyRef", _FILE_KEY),
    ("env[]", _variable), ("envFrom", _variables_from),
)  # fmt: skip
AFTER_MOUNTS = table_of(("imagePullPolicy", one_of("Always", "IfNotPresent", "Never")))
PROBES = table_of(
    *below("livenessProbe", _PROBE), ("livenessProbe.successThreshold", _once),
    *below("readinessProbe", _PROBE), ("readinessProbe.terminationGracePeriodSeconds", _NO_GRACE),
    *below("startupProbe", _PROBE), ("startupProbe.successThreshold", _once),
)  # fmt: skip
