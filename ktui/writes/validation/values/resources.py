"""Rules of what containers and pods request: amounts, limits, claims of devices; in upstream's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount, canonical_quantity, is_whole
from ktui.writes.admission.pod_resources import pod_total
from ktui.writes.validation.values.checks import dns_label, duplicate, inside, not_negative

_OWN = ("cpu", "memory", "ephemeral-storage")
COUNTED = frozenset({
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
})  # fmt: skip
# Names without a domain that upstream knows, for quotas too.
STANDARD = COUNTED | {
    *(f"{of}{name}" for of in ("", "requests.", "limits.") for name in _OWN), "storage", "requests.storage",
}  # fmt: skip
_PAGES, _PAGES_OF_QUOTAS = "hugepages-", ("hugepages-", "requests.hugepages-")
_OF_PODS = ("cpu", _PAGES, "memory")
Names = Callable[[str, str], Iterator[FieldError]]
"""A resource's name and its field → errors."""


def resource_amounts(resources: Obj, names: Names | None = None) -> Iterator[FieldError]:
    """Check requests and limits, of a container unless `names` says otherwise."""
    names = names or container_resource
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        yield from _resource(name, value, f".limits[{name}]", names)
        yield from _pages(name, value, f".limits[{name}]")
    for name, value in requests.items():
        yield from _resource(name, value, f".requests[{name}]", names)
        yield from _requested(name, value, limits.get(name))
        yield from _pages(name, value, f".requests[{name}]")
    there = {*limits, *requests}
    if any(n.startswith(_PAGES) for n in there) and not there & {"cpu", "memory"}:
        yield forbidden("", "HugePages require cpu or memory")


def _requested(name: str, value: str, limit: str | None) -> Iterator[FieldError]:
    """A request is at most the limit; equal to it if no node has more of this than it promises."""
    exact = name.startswith(_PAGES) or not _native(name)
    if limit is None:
        if exact:
            yield required(".limits", "Limit must be set for non overcommitable resources")
    elif exact and amount(value) != amount(limit):
        yield invalid(".requests", value, f"must be equal to {name} limit of {limit}")
    elif amount(value) > amount(limit):
        yield invalid(".requests", value, f"must be less than or equal to {name} limit of {limit}")


def _native(name: str) -> bool:
    """Whether a resource is one of Kubernetes itself (upstream: IsNativeResource)."""
    return "/" not in name or "kubernetes.io/" in name


def extended(name: str) -> bool:
    """Whether a resource is one of its own domain, not of Kubernetes (upstream: IsExtendedResourceName)."""
    return not (_native(name) or name.startswith("requests.") or label_key_faults(f"requests.{name}"))


def _resource(name: str, value: str, field: str, names: Names) -> Iterator[FieldError]:
    yield from names(name, field)
    yield from inside(field, amount_errors(name, value))


def amount_errors(name: str, value: str) -> Iterator[FieldError]:
    """Check an amount: whole objects have no fractions (upstream: ValidateResourceQuantityValue)."""
    yield from not_negative(value)
    if (name in COUNTED or extended(name)) and not is_whole(value):
        yield invalid("", value, "must be an integer")


def name_faults(name: str, pages: tuple[str, ...] = _PAGES_OF_QUOTAS) -> list[str]:
    """Return why a name is none of any resource, of huge pages with one of the prefixes `pages`.

    Upstream: validateResourceName.
    """
    if faults := label_key_faults(name):
        return list(faults)
    known = "/" in name or name in STANDARD or name.startswith(pages)
    return [] if known else ["must be a standard resource type or fully qualified"]


def container_resource(name: str, field: str) -> Iterator[FieldError]:
    yield from (invalid(field, name, why) for why in name_faults(name))
    if name.count("/") == 0:
        if name not in _OWN and not name.startswith(_PAGES):
            yield invalid(field, name, "must be a standard resource for containers")
    elif not _native(name) and not extended(name):
        yield invalid(field, name, "doesn't follow extended resource name standard")


def _of_pod(name: str, field: str) -> Iterator[FieldError]:
    if faults := name_faults(name):
        yield from (invalid(field, name, why) for why in faults)
    elif name not in ("cpu", "memory") and not name.startswith(_PAGES):
        yield not_supported(field, name, _OF_PODS)


def _pages(name: str, value: str, field: str) -> Iterator[FieldError]:
    """Huge pages are counted whole (upstream: IsHugePageResourceValueDivisible)."""
    if not name.startswith(_PAGES):
        return
    size = name.removeprefix(_PAGES)
    page = amount(size) if canonical_quantity(size) is not None else 0
    if page <= 0 or page % 1 or _rounded_up(value) % int(page):
        yield invalid(field, value, f"{value} is not positive integer multiple of {name}")


def _rounded_up(quantity: str) -> int:
    found = amount(quantity)
    whole = int(found)
    return whole + 1 if found > whole else whole


def claimed(resources: Obj, pods_claims: frozenset[str]) -> Iterator[FieldError]:
    """The claims of a container are those of its pod; none is claimed twice (validateResourceClaimNames)."""
    taken: set[tuple[str, str]] = set()
    requests: Counter[str] = Counter()
    for index, claim in enumerate(resources.get("claims") or []):
        field, name, request = f".claims[{index}]", claim.get("name") or "", claim.get("request") or ""
        if not name:
            yield required(field)
            continue
        if (name, "") in taken:
            yield duplicate(field, name)
        else:
            yield from inside(f"{field}.request", dns_label(request))
            if (name, request) in taken:
                yield duplicate(field, f"{name}/{request}")
            elif not request:
                yield from (duplicate(field, name) for _ in range(requests[name]))
            else:
                requests[name] += 1
            taken.add((name, request))
        if name not in pods_claims:
            known = f": {', '.join(sorted(pods_claims))}" if pods_claims else " which is empty"
            why = f"must be one of the names in pod.spec.resourceClaims{known}"
            yield FieldError(field, "FieldValueNotFound", f"Not found: {quote(name)}: {why}")


def pod_resources(spec: Obj, pods_claims: frozenset[str]) -> Iterator[FieldError]:
    """Check what a pod requests as a whole (upstream: validatePodResources)."""
    own = spec.get("resources")
    if own is None:
        return
    if (spec.get("os") or {}).get("name") == "windows":
        yield forbidden("", "may not be set for a windows pod")
        return
    if own.get("claims") is not None:
        yield forbidden(".claims", "claims may not be set for Resources at pod-level")
    yield from resource_amounts(own, _of_pod)
    yield from claimed(own, pods_claims)
    yield from _parts(spec, own)


def _parts(spec: Obj, own: Obj) -> Iterator[FieldError]:
    """A pod has room for its containers (upstream: validatePodResourceConsistency)."""
    requests, limits = own.get("requests") or {}, own.get("limits") or {}
    without = {name: spec.get(name) for name in ("containers", "initContainers")}
    for which, given, listed in (("requests", requests, True), ("limits", limits, False)):
        for name, value in pod_total(without, which).items():
            if (listed or name.startswith(_PAGES)) and name in given and amount(value) > amount(given[name]):
                why = f"must be greater than or equal to aggregate container {which} of {value}"
                yield invalid(f".{which}[{name}]", given[name], why)
    for index, container in enumerate(spec.get("containers") or []):
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and amount(value) > amount(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f".containers[{index}][{name}].limits", value, why)
