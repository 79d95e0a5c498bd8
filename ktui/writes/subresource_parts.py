"""What an update of a subresource changes in an object: status, decisions, ephemeral containers, sizes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from ktui.kube.json_trees import Obj, copied
from ktui.writes.before_create import TRANSITION_TIME
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.strategies import KEPT_METADATA
from ktui.writes.validation.statuses import signing_requests
from ktui.writes.validation.statuses.allocations import device_id, results_of
from ktui.writes.validation.statuses.pods import STATUSES
from ktui.writes.validation.updates.field_rules import spec_of
from ktui.writes.validation.updates.pod_parts import RUNNING


def keep(old: Obj, new: Obj, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _restore(old: Obj, new: Obj, **spec: Any) -> None:
    """Put back the old pod, but for these members of its spec; None removes one."""
    for name in (*KEPT_METADATA, "deletionTimestamp"):
        keep(new=metadata_of(new), old=metadata_of(old), name=name)
    for name in (old.keys() | new.keys()) - {"metadata", "spec"}:
        keep(old, new, name)
    new["spec"] = {**copied(spec_of(old)), **spec}
    for name in [name for name, value in spec.items() if value is None]:
        del new["spec"][name]


def _ephemeral_containers(old: Obj, new: Obj) -> None:
    _restore(old, new, ephemeralContainers=spec_of(new).get("ephemeralContainers") or None)


def _sizes(old: Obj, new: Obj) -> None:
    """Take the resources of containers and of the pod; other containers are left to validation."""
    was, now = spec_of(old), spec_of(new)
    if all(len(was.get(member) or []) == len(now.get(member) or []) for member in RUNNING):
        containers = {member: _resized(was.get(member), now.get(member)) for member in RUNNING}
        _restore(old, new, resources=now.get("resources"), **containers)


def _resized(was: list[Obj] | None, now: list[Obj] | None) -> list[Obj] | None:
    if not was or not now or [each.get("name") for each in was] != [each.get("name") for each in now]:
        return now or None
    found = [dict(each) for each in was]
    for one, other in zip(found, now, strict=True):
        for member in ("resources", "resizePolicy"):
            keep(other, one, member)
    return found


def _approval(old: Obj, new: Obj) -> None:
    """Take the conditions of a certificate signing request, and its metadata."""
    conditions = (new.get("status") or {}).get("conditions")
    for name in (old.keys() | new.keys()) - {"metadata"}:
        keep(old, new, name)
    status = {name: value for name, value in (old.get("status") or {}).items() if name != "conditions"}
    new["status"] = {**status, "conditions": conditions} if conditions else status


# What the server keeps of an old status, or drops of a new one (upstream: PrepareForUpdate of statuses).
_NODE_AMOUNTS = "nodeAllocatableResourceClaimStatuses"


def settle_status(resource: str, old: Obj, new: Obj, minor: int) -> None:
    """Put the status that is stored into `new`; the one that the client sent does not change."""
    rule = _RULES.get(resource)
    if rule is not None:
        status = rule(old.get("status") or {}, new.get("status") or {}, minor)
        if status or "status" in new:
            new["status"] = status


def _pod(was: Obj, now: Obj, minor: int) -> Obj:
    """A pod keeps its quality of service, and the generations that its kubelet has seen.

    Some gates are off: DRANodeAllocatableResources, ImageVolumeWithDigest.
    """
    status = dict(now)
    for name in ("qosClass", *(("observedGeneration",) if minor >= 34 else ())):
        if not status.get(name) and was.get(name):
            status[name] = was[name]
    seen = [each for each in was.get("conditions") or [] if each.get("observedGeneration")]
    if seen and minor >= 34 and status.get("conditions"):
        status["conditions"] = _with_generations(was["conditions"], status["conditions"])
    if _NODE_AMOUNTS in status and not was.get(_NODE_AMOUNTS):
        del status[_NODE_AMOUNTS]
    if not any(map(_has_digests, _containers(was))) and any(map(_has_digests, _containers(status))):
        for member in STATUSES:
            if status.get(member):
                status[member] = [_without_digests(each) for each in status[member]]
    return status


def _with_generations(was: list[Obj], now: list[Obj]) -> list[Obj]:
    """Return the conditions with the generations of the old ones of their types, in their order."""
    known: dict[str, deque[int]] = defaultdict(deque)
    for each in was:
        known[each.get("type") or ""].append(each.get("observedGeneration") or 0)
    found = []
    for each in now:
        generations = known.get(each.get("type") or "")
        generation = generations.popleft() if generations else 0
        keeps = generation and not each.get("observedGeneration")
        found.append({**each, "observedGeneration": generation} if keeps else each)
    return found


def _containers(status: Obj) -> list[Obj]:
    return [each for member in STATUSES for each in status.get(member) or []]


def _has_digests(container: Obj) -> bool:
    return any(mount.get("volumeStatus") is not None for mount in container.get("volumeMounts") or ())


def _without_digests(container: Obj) -> Obj:
    if not _has_digests(container):
        return container
    mounts = container["volumeMounts"]
    return {
        **container,
        "volumeMounts": [{k: v for k, v in mount.items() if k != "volumeStatus"} for mount in mounts],
    }


def _node(was: Obj, now: Obj, _: int) -> Obj:
    """The configuration of kubelets by the server is gone since 1.24."""
    return now if was.get("config") is not None else {k: v for k, v in now.items() if k != "config"}


def _volume(was: Obj, now: Obj, minor: int) -> Obj:
    """The time of a volume's phase is the server's unless the client sends another one."""
    known, sent = was.get(TRANSITION_TIME), now.get(TRANSITION_TIME)
    if minor < 29:
        return now
    if was.get("phase") == now.get("phase"):
        return {**now, TRANSITION_TIME: known} if sent is None and known is not None else now
    return {**now, TRANSITION_TIME: timestamp()} if sent in (None, known) else now


def _claim(was: Obj, now: Obj, _: int) -> Obj:
    """A claim loses the states of devices that it no longer has."""
    gone = {device_id(each) for each in results_of(was)} - {device_id(each) for each in results_of(now)}
    devices = [each for each in now.get("devices") or [] if device_id(each) not in gone]
    left = {name: value for name, value in now.items() if name != "devices"}
    return {**left, "devices": devices} if devices else left


def _signing_request(was: Obj, now: Obj, _: int) -> Obj:
    return signing_requests.with_times(was, signing_requests.with_decisions(was, now), timestamp())


def _approved(was: Obj, now: Obj, _: int) -> Obj:
    return signing_requests.with_times(was, now, timestamp())


_RULES: dict[str, Callable[[Obj, Obj, int], Obj]] = {
    "certificatesigningrequests.certificates.k8s.io": _signing_request,
    "certificatesigningrequests.certificates.k8s.io/approval": _approved,
    "nodes": _node,
    "persistentvolumes": _volume,
    "pods": _pod,
    "resourceclaims.resource.k8s.io": _claim,
}


PARTS: dict[str, Callable[[Obj, Obj], None]] = {
    "approval": _approval,
    "ephemeralcontainers": _ephemeral_containers,
    "resize": _sizes,
}
"""By subresource: what puts back all that it does not change of the old object into the new one."""
