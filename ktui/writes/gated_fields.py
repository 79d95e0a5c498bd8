"""Fields, but for those of statuses, that a Kubernetes 1.36 does not have by default: their gates are off.

A field is dropped without a word, unless the old object has it somewhere (upstream: dropDisabledFields of
each strategy; for pods and their templates pkg/api/pod/util.go).
"""

from __future__ import annotations

from ktui.kube.json_trees import Obj
from ktui.writes.field_paths import values_at
from ktui.writes.pod_templates import pod_spec_of

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_PROJECTIONS, _HOOKS = (
    ("volumes[].projected.sources[]",),
    tuple(f"{each}[].lifecycle" for each in _CONTAINERS),
)
# Each field with the paths of what can have it. The gates are, in this order, ClusterTrustBundleProjection,
# PodCertificateRequest, GenericWorkload and ContainerStopSignals.
_OF_SPEC: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("clusterTrustBundle", _PROJECTIONS), ("podCertificate", _PROJECTIONS), ("schedulingGroup", ("",)),
    ("stopSignal", _HOOKS),
)  # fmt: skip
# By the kind: VolumeLimitScaling, CoordinatedLeaderElection, DRANodeAllocatableResources and
# DRAListTypeAttributes, MaxUnavailableStatefulSet. Endpoints lose their old topology under any gate.
_OF_KINDS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "CSIDriver": (("spec", ("preventPodSchedulingIfMissing",)),),
    "EndpointSlice": (("endpoints[]", ("deprecatedTopology",)),),
    "Lease": (("spec", ("strategy",)), ("spec", ("preferredHolder",))),
    "ResourceSlice": (
        ("spec.devices[]", ("nodeAllocatableResourceMappings",)),
        ("spec.devices[].attributes{}", ("ints", "bools", "strings", "versions")),
    ),
    "StatefulSet": (("spec.updateStrategy.rollingUpdate", ("maxUnavailable",)),),
}


def drop_gated(obj: Obj, old: Obj | None = None) -> None:
    """Remove in place what gates that are off allow; `old` is None for a new object."""
    before, kind = old or {}, str(obj.get("kind"))
    if spec := pod_spec_of(obj):
        _drop(spec, pod_spec_of(before) or {})
    if kind == "EndpointSlice" and obj.get("endpoints") != before.get("endpoints"):
        before = {}
    for path, names in _OF_KINDS.get(kind, ()):
        if not any(_holders(before, (path,), name) for name in names):
            for name in names:
                for holder in _holders(obj, (path,), name):
                    del holder[name]


def has_gated(obj: Obj) -> bool:
    """Whether an object has any of these fields."""
    spec = pod_spec_of(obj) or {}
    of_kind = _OF_KINDS.get(str(obj.get("kind")), ())
    return any(_holders(spec, paths, name) for name, paths in _OF_SPEC) or any(
        _holders(obj, (path,), name) for path, names in of_kind for name in names
    )


def _holders(obj: Obj, paths: tuple[str, ...], name: str) -> list[Obj]:
    """Return the parts at these paths that have a member."""
    return [part for path in paths for part in values_at(obj, path) if part.get(name) is not None]


def _drop(spec: Obj, old: Obj) -> None:
    for name, paths in _OF_SPEC:
        found = _holders(spec, paths, name)
        if not found or _holders(old, paths, name):
            continue
        for holder in found:
            del holder[name]
        if paths is _HOOKS:
            _without_hooks(spec, {id(hooks) for hooks in found if not hooks})


def _without_hooks(spec: Obj, emptied: set[int]) -> None:
    """Remove the hooks of containers, a stop signal and nothing else, of which nothing is left."""
    for name in _CONTAINERS if emptied else ():
        for container in spec.get(name) or []:
            if id(container.get("lifecycle")) in emptied:
                del container["lifecycle"]
