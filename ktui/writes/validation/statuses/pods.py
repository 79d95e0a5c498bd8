"""Rules of a pod's status, which its kubelet writes (upstream: ValidatePodStatusUpdate)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    limited,
    required,
)
from ktui.kube.json_trees import Obj
from ktui.writes.validation.updates.field_rules import IMMUTABLE, spec_of
from ktui.writes.validation.values.addresses import address, is_address, is_ipv4
from ktui.writes.validation.values.checks import (
    Check,
    any_dns_label,
    any_subdomain,
    at_most_bytes,
    demand,
    distinct,
    duplicate,
    inside,
    label_key,
    listed,
    needed,
    nothing,
    table_of,
    user_id,
)

STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_SPECS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}
_OF_SYSTEM = frozenset({"PodScheduled", "Ready", "Initialized"})
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_LONGEST_MESSAGE = 1024
_NOT_NEGATIVE = "must be a non-negative integer"
_ONE_OF_EACH = "may specify no more than one IP for each IP family"
_OF_CLAIM = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)
_OF_REQUEST = "must match one of the container's resource requests"
_IN_CONTAINERS = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)


@limited
def pod(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, now, spec = old.get("status") or {}, new.get("status") or {}, spec_of(new)
    yield from inside("status", _CONDITIONS(now))
    yield from inside("status", _fields(was, now, spec))
    yield from inside("status", restart_errors(was, now, spec))
    if claims := now.get("resourceClaimStatuses"):
        yield from inside("status.resourceClaimStatuses", _claims(spec)(claims))
    if (extended := now.get("extendedResourceClaimStatus")) is not None:
        yield from inside("status.extendedResourceClaimStatus", _extended(extended, spec))
    for name, first in (("podIPs", None), ("hostIPs", "hostIP")):
        yield from inside("status", _addresses(was, now, name, first))
    yield from inside("status", _containers(now, spec))


def _type(condition: Obj) -> Iterable[FieldError]:
    """A condition that is not of the system has a qualified name; upstream's path of it has a capital."""
    kind = condition.get("type") or ""
    return () if kind in _OF_SYSTEM else inside(".Type", label_key(kind))


_generation = demand(lambda value: value >= 0, _NOT_NEGATIVE)
_CONDITIONS = table_of(("conditions[].observedGeneration", _generation), ("conditions[]", _type))


def _fields(was: Obj, now: Obj, spec: Obj) -> Iterator[FieldError]:
    node, generation = now.get("nominatedNodeName") or "", now.get("observedGeneration") or 0
    if node and node != was.get("nominatedNodeName"):
        yield from inside(".nominatedNodeName", any_subdomain(node))
        if spec.get("nodeName"):
            yield forbidden(".nominatedNodeName", "may not be set on pods that are already bound to a node")
    if generation < 0:
        yield invalid(".observedGeneration", generation, _NOT_NEGATIVE)
    quality = now.get("qosClass") or ""
    if quality != (was.get("qosClass") or ""):
        yield invalid(".qosClass", quality, IMMUTABLE)


def _claims(spec: Obj) -> Check:
    """Return the check that each status is of a claim of the pod, of which it has one."""
    known = {each.get("name") for each in spec.get("resourceClaims") or []}
    of_pod = demand(known.__contains__, "must match the name of an entry in `spec.resourceClaims`")
    return distinct("name", table_of(("name:text", of_pod)), table_of(("resourceClaimName", any_subdomain)))


def _extended(status: Obj, spec: Obj) -> Iterator[FieldError]:
    """Which requests are for the extended resources of which containers (DRAExtendedResource)."""
    containers = {
        each.get("name"): (each.get("resources") or {}).get("requests") or {}
        for member in ("initContainers", "containers")
        for each in spec.get(member) or []
    }
    mappings, seen = status.get("requestMappings") or [], set()
    if not mappings:
        yield required(".requestMappings", "at least one request mapping is required")
    for at, mapping in enumerate(mappings):
        names = ("containerName", "resourceName", "requestName")
        container, resource, request = key = tuple(mapping.get(name) or "" for name in names)
        if container not in containers:
            why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            yield invalid(f".requestMappings[{at}].containerName", container, why)
        elif resource not in containers[container]:
            yield invalid(f".requestMappings[{at}].resourceName", resource, _IN_CONTAINERS)
        yield from inside(".requestName", any_dns_label(request))  # upstream's path of it
        if key in seen:
            yield from (
                duplicate(f".requestMappings[{at}].{name}", value)
                for name, value in zip(names, key, strict=True)
            )
        seen.add(key)
    if name := status.get("resourceClaimName"):
        yield from inside(".resourceClaimName", any_subdomain(name))
    else:
        yield required(".resourceClaimName")


def _addresses(was: Obj, now: Obj, member: str, first: str | None) -> Iterator[FieldError]:
    """Valid addresses, or those that the pod has already; two are a pair of both families."""
    addresses = [each.get("ip") or "" for each in now.get(member) or []]
    if not addresses:
        return
    if first is not None and addresses[0] != (now.get(first) or ""):
        yield invalid(f".{member}[0].ip", addresses[0], f"must be equal to `{first}`")
    known = {each.get("ip") or "" for each in was.get(member) or []}
    for at, text in enumerate(addresses):
        if text not in known:
            yield from inside(f".{member}[{at}]", address(text))
    if len(addresses) < 2:
        return
    wrong = next((at for at, text in enumerate(addresses) if not is_address(text)), None)
    if wrong is not None:
        why = f"failed to check for dual stack with error:invalid IP[{wrong}]: {addresses[wrong]}"
        yield FieldError(f".{member}", "InternalError", f"Internal error: {why}")
    if wrong is not None or len(addresses) > 2 or len(set(map(is_ipv4, addresses))) < 2:
        yield invalid(f".{member}", [{"IP": text} for text in addresses], _ONE_OF_EACH)


def _containers(now: Obj, spec: Obj) -> Iterator[FieldError]:
    """The users and devices of containers; ephemeral ones have no devices."""
    system = (spec.get("os") or {}).get("name", "linux")
    for member in STATUSES:
        for at, status in enumerate(now.get(member) or []):
            if (user := (status.get("user") or {}).get("linux")) is not None:
                check = _USERS.get(system, nothing)
                yield from inside(f".{member}[{at}].user.linux", check(user))
    for member, part in _SPECS.items():
        yield from inside(f".{member}", _devices(now.get(member) or [], spec.get(part) or []))
    for at, status in enumerate(now.get(STATUSES[2]) or []):
        if status.get("allocatedResourcesStatus"):
            field = f".{STATUSES[2]}[{at}].allocatedResourcesStatus"
            yield forbidden(field, "must not be specified in container status")


_USERS: dict[str, Check] = {
    "linux": table_of(("uid:number", user_id), ("gid:number", user_id), ("supplementalGroups[]", user_id)),
    "windows": lambda _: [forbidden("", "cannot be set for a windows pod")],
}
_MESSAGE = needed(at_most_bytes(_LONGEST_MESSAGE), "must be non-empty if specified")
_health = distinct("resourceID", table_of(("health:text", listed(*_HEALTH)), ("message", _MESSAGE)))


def _devices(statuses: list[Obj], containers: list[Obj]) -> Iterator[FieldError]:
    """The health of what a container requested."""
    names: dict[Any, set[str]] = {}
    if any(status.get("allocatedResourcesStatus") for status in statuses):
        names = {each.get("name"): _requested(each.get("resources") or {}) for each in reversed(containers)}
    for at, status in enumerate(statuses):
        for number, device in enumerate(status.get("allocatedResourcesStatus") or []):
            field, name = f"[{at}].allocatedResourcesStatus[{number}]", device.get("name") or ""
            if status.get("name") in names and name not in names[status.get("name")]:
                yield invalid(f"{field}.name", name, _OF_CLAIM if name.startswith("claim:") else _OF_REQUEST)
            yield from inside(f"{field}.resources", _health(device.get("resources") or []))


def _requested(resources: Obj) -> set[str]:
    """Return what a container requests, claims as `claim:NAME` or `claim:NAME/REQUEST`."""
    claims = resources.get("claims") or []
    named = {"/".join(filter(None, (f"claim:{each.get('name')}", each.get("request")))) for each in claims}
    return named | {name for name in resources.get("requests") or {} if not name.startswith("claim:")}


_MEMBERS = (
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", None),
)
_RESTARTS = ("Restart", "RestartAllContainers")


def restart_errors(was: Obj, now: Obj, spec: Obj) -> Iterator[FieldError]:
    """Yield an error for each container that has ended for good, and is said to run or to wait."""
    for member, part in _MEMBERS:
        ended = [(at, each) for at, each in enumerate(was.get(member) or []) if _ended(each)]
        if not ended or (part is not None and _restarts_all(spec)):
            continue
        going = {each.get("name") for each in now.get(member) or [] if not _ended(each)}
        again = _restarted(spec, part) if part is not None else lambda _: False
        for at, status in ended:
            if status.get("name") in going and not again(status):
                yield forbidden(f".{member}[{at}].state", "may not be transitioned to non-terminated state")


def _ended(status: Obj) -> bool:
    return (status.get("state") or {}).get("terminated") is not None


def _restarts_all(spec: Obj) -> bool:
    """Whether any container's end can restart all of them."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for member in ("initContainers", "containers")
        for container in spec.get(member) or []
        for rule in container.get("restartPolicyRules") or []
    )


def _restarted(spec: Obj, part: str) -> Callable[[Obj], bool]:
    """Return whether a container runs again after the end in its status."""
    containers = {each.get("name"): each for each in reversed(spec.get(part) or [])}
    usual = spec.get("restartPolicy") or "Always"

    def again(status: Obj) -> bool:
        container = containers.get(status.get("name"))
        code = status["state"]["terminated"].get("exitCode") or 0
        if container is None:
            return False
        policy = container.get("restartPolicy")
        if policy is not None and _rule(container, code) in _RESTARTS:
            return True
        policy = policy if policy in ("Always", "OnFailure", "Never") else usual
        return bool(policy == "Always" or (policy == "OnFailure" and code))

    return again


def _rule(container: Obj, code: int) -> Any:
    """Return what the first rule for an exit code does."""
    for rule in container.get("restartPolicyRules") or []:
        codes = rule.get("exitCodes") or {}
        if codes.get("operator") == ("In" if code in (codes.get("values") or []) else "NotIn"):
            return rule.get("action")
    return None
