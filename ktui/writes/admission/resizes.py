"""Resizes of pods that have a node: it must support them, and have room for them (1.36).

Upstream: the plugins NodeDeclaredFeatureValidator and PodResizeValidator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ktui.apiserver.server import Server
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.kube.resources import builtin
from ktui.kube.status import StatusError, forbidden
from ktui.writes import stored_objects
from ktui.writes.admission.pod_resources import pod_total

_OF_POD, _OF_INIT = "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"


async def node_of(server: Server, namespace: str, name: str) -> tuple[str, Obj | None]:
    """Return the name of a pod's node, "" if it has none, and the node, None if that does not exist."""
    pod = await stored_objects.find_one(server, builtin("", "pods"), namespace, name)
    where = str(((pod or {}).get("spec") or {}).get("nodeName") or "")
    return where, await stored_objects.find_one(server, builtin("", "nodes"), "", where) if where else None


def check_resize(old: Obj, new: Obj, where: str, node: Obj | None) -> None:
    """Raise StatusError 403 if the node of a resized pod cannot run it."""
    if not where or old["metadata"].get("generation") == new["metadata"].get("generation"):
        return
    features = list(_features(old["spec"], new["spec"]))
    if node is None:
        raise _refused(new, f"node {quote(where)} not found")
    status, labels = node.get("status") or {}, node["metadata"].get("labels") or {}
    if lacking := [name for name in features if name not in (status.get("declaredFeatures") or [])]:
        why = f"which are not available on node {quote(where)}"
        raise _refused(new, f"pod update requires features {', '.join(lacking)} {why}")
    if (system := labels.get("kubernetes.io/os", "linux")) != "linux":
        why = f"pod resize is only supported on linux nodes, node {quote(where)} is {quote(system)}"
        raise _refused(new, why, "UnsupportedPlatform")
    if faults := [*_missing(pod_total(new["spec"], "requests"), status.get("allocatable") or {})]:
        why = f"node didn't have enough allocatable resources: {'; '.join(faults)}"
        raise _refused(new, why, "NodeCapacity")


def _features(was: Obj, now: Obj) -> Iterator[str]:
    """Yield the features of a kubelet that the change needs, in order."""
    if was.get("resources") != now.get("resources"):
        yield _OF_POD
    pairs = zip(was.get("initContainers") or [], now.get("initContainers") or [], strict=True)
    if any(a.get("restartPolicy") != "Always" and a.get("resources") != b.get("resources") for a, b in pairs):
        yield _OF_INIT


def _missing(requests: Obj, allocatable: Obj) -> Iterator[str]:
    for name, unit in (("cpu", 1000), ("memory", 1)):
        wanted, there = (amount(str(each.get(name, "0"))) for each in (requests, allocatable))
        if wanted > there:
            shown = (math.ceil(each * unit) for each in (wanted, there))
            yield "{}, requested: {}, allocatable: {}".format(name, *shown)


def _refused(pod: Obj, why: str, reason: str = "") -> StatusError:
    refused = forbidden(builtin("", "pods"), str(pod["metadata"]["name"]), why)
    if reason:
        refused.details = {**(refused.details or {}), "causes": [{"reason": reason}]}
    return refused
