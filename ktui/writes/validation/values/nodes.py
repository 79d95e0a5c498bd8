"""Rules of Nodes, in upstream's order (core/validation: ValidateNode)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_value_faults
from ktui.writes.field_paths import values_at
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.addresses import address_range, is_range
from ktui.writes.validation.values.checks import Rows, duplicate, inside, label_key, one_of, positive
from ktui.writes.validation.values.resources import amount_errors
from ktui.writes.validation.values.scheduling import EFFECTS

_FEATURE = re.compile(r"([A-Z][A-Za-z0-9]*)(/[A-Za-z][A-Za-z0-9]*)*")
_LONGEST_FEATURE = 253
_NO_FEATURE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature "
    "or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def taint_errors(node: Obj) -> Iterator[FieldError]:
    """Check the taints of a node; upstream's path of them is not that in the object."""
    seen = set()
    for index, taint in enumerate((node.get("spec") or {}).get("taints") or []):
        field = f".metadata.taints[{index}]"
        effect, key = taint.get("effect") or "", str(taint.get("key") or "")
        yield from inside(f"{field}.key", label_key(key))
        if faults := label_value_faults(taint.get("value") or ""):
            yield invalid(f"{field}.value", taint["value"], ";".join(faults))
        yield from inside(f"{field}.effect", one_of(*EFFECTS)(effect))
        pair = taint.get("key"), effect
        if pair in seen:
            shown = to_json(internal(taint, "core.v1.Taint")).decode()
            why = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
            yield FieldError(field, "FieldValueDuplicate", why)
        seen.add(pair)


def _pod_ranges(ranges: list[str]) -> Iterator[FieldError]:
    """A node has one range of addresses for its pods, or one of each family."""
    if len(ranges) < 2:
        return
    wrong = next((at for at, text in enumerate(ranges) if not is_range(text)), None)
    if wrong is not None:
        fault = f"invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {ranges[wrong]})"
        why = f"Internal error: invalid PodCIDRs. failed to check with dual stack with error:{fault}"
        yield FieldError("", "InternalError", why)
    if wrong is not None or len(ranges) > 2 or len({":" in text for text in ranges}) < 2:
        yield invalid("", ranges, "may specify no more than one CIDR for each IP family")


def amounts(status: Obj) -> Iterator[FieldError]:
    """Check what a node has and gives to pods; upstream's path of each is that of a member."""
    for member in ("capacity", "allocatable"):
        for name, value in (status.get(member) or {}).items():
            yield from inside(f".{member}.{name}", amount_errors(name, value))


def _swap(node: Obj) -> Iterator[FieldError]:
    """Check the size of a node's swap; upstream's path of it is not that in the object."""
    for capacity in values_at(node, "status.nodeInfo.swap.capacity"):
        yield from inside(".metadata.nodeSwapStatus.capacity", positive()(capacity))


def features(names: list[str]) -> Iterator[FieldError]:
    """Check the features that a kubelet declares, in order, each once (validateNodeDeclaredFeatures)."""
    for at, name in enumerate(names):
        if at and name == names[at - 1]:
            yield duplicate(f"[{at}]", name)
        elif at and name < names[at - 1]:
            yield invalid(f"[{at}]", name, "list must be sorted alphabetically")
        yield from inside(f"[{at}]", _feature(name))


def _feature(name: str) -> Iterator[FieldError]:
    if len(name.encode()) > _LONGEST_FEATURE:
        why = f"must be no more than {_LONGEST_FEATURE} characters"
    elif not _FEATURE.fullmatch(name):
        why = _NO_FEATURE
    else:
        return
    yield invalid("", name, f"invalid feature name {quote(name)}: {why}")


KINDS: dict[str, Rows] = {
    "nodes": (
        ("", taint_errors), ("status", amounts), ("", _swap), ("status.declaredFeatures", features),
        ("spec.podCIDRs[]", address_range), ("spec.podCIDRs", _pod_ranges),
    ),
}  # fmt: skip
