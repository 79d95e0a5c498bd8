"""Rules of ResourceSlices: pools, where the devices are, and each device (upstream: resource/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import ROUND_UP
from itertools import chain
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import added, amount
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_dns_label,
    any_subdomain,
    at_most_bytes,
    below,
    demand,
    different,
    every,
    has,
    inside,
    items,
    named_by,
    needed,
    positive,
    table_of,
    up_to,
)
from ktui.writes.validation.values.devices import attribute_name, binding_conditions, device_taint, pool_name
from ktui.writes.validation.values.scheduling import NODE_SELECTOR
from ktui.writes.validation.values.volumes import driver_name

_MOST_DEVICES, _MOST_WITH_MORE = 128, 64
_MOST_SETS, _MOST_CONSUMED, _MOST_COUNTERS = 8, 2, 32
_MOST_ATTRIBUTES, _MOST_VALUES, _MOST_TAINTS = 32, 48, 16
_LONGEST_VALUE, _LONGEST_KEY, _LONGEST_COUNTER = 64, 63 + 1 + 32, 63
LISTS = ("ints", "bools", "strings", "versions")
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is "
    "set to true in the ResourceSlice spec"
)
_NO_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec"
)
_NUMBER, _BUILD = r"(0|[1-9][0-9]*)", "[0-9a-zA-Z-]+"
_PART = rf"({_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_semver = demand(
    re.compile(
        rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(\.{_PART})*)?(\+{_BUILD}(\.{_BUILD})*)?"
    ).fullmatch,
    "must be a string compatible with semver.org spec 2.0.0",
)


def _one_term(selector: Obj) -> Iterator[FieldError]:
    terms = selector.get("nodeSelectorTerms")
    if len(terms or []) != 1:
        shown = terms and [internal(term, "core.v1.NodeSelectorTerm") for term in terms]
        yield invalid(".nodeSelectorTerms", shown, "must have exactly one node selector term")


def _node(why: str) -> Check:
    return lambda name: any_subdomain(name) if name else [invalid("", name, why)]


_not_false = demand(lambda value: value is not False, "must be either unset or set to true")


def _one_of(*members: str, why: str, several: str) -> Check:
    """Demand that one of these members says where devices are."""

    def check(part: Obj) -> Iterator[FieldError]:
        chosen = _chosen(part, *members)
        if not chosen:
            yield required("", why)
        elif len(chosen) > 1:
            yield invalid("", _braced(chosen), several)

    return check


def _chosen(part: Obj, *members: str) -> list[str]:
    """Return which of these members say where devices are: an empty selector is one too."""
    return [name for name in members if part.get(name) or isinstance(part.get(name), dict)]


def _braced(names: list[str]) -> str:
    return "{" + ", ".join(f"`{name}`" for name in names) + "}"


def _most_devices(devices: list[Obj]) -> int:
    """Return how many devices a slice may have: fewer with taints, counters or lists."""
    for device in devices:
        attributes = (device.get("attributes") or {}).values()
        lists = any((each or {}).get(name) is not None for each in attributes for name in LISTS)
        if lists or device.get("taints") or device.get("consumesCounters"):
            return _MOST_WITH_MORE
    return _MOST_DEVICES


def _sizes(device: Obj) -> Iterator[FieldError]:
    """Check how many attributes, capacities and values of lists a device has."""
    attributes = device.get("attributes") or {}
    if (count := len(attributes) + len(device.get("capacity") or {})) > _MOST_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_ATTRIBUTES}"
        yield invalid("", count, why)
    listed = (sum(len((each or {}).get(name) or ()) for name in LISTS) for each in attributes.values())
    if (values := sum(max(1, number) for number in listed)) > _MOST_VALUES:
        yield invalid("", values, f"the total number of attribute values must not exceed {_MOST_VALUES}")


def _shortened(key: str) -> str:
    """Return a key as paths show it: of a long one the middle is left out."""
    left = _LONGEST_KEY - 3
    return key if len(key) <= _LONGEST_KEY else f"{key[: (left + 1) // 2]}...{key[-(left // 2) :]}"


def _no_policy(capacity: Obj) -> Iterator[FieldError]:
    """Only a device that several claims share has a policy of what each may request."""
    if capacity.get("requestPolicy") is not None:
        yield forbidden(".requestPolicy", "allowMultipleAllocations must be true")


def _no_place(device: Obj) -> Iterator[FieldError]:
    if any(device.get(name) is not None for name in ("nodeName", "nodeSelector", "allNodes")):
        yield invalid("", None, _NO_PLACE)


_MOST_OPTIONS = 10
_ONE_POLICY = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)


def request_policy(capacity: Obj) -> Iterator[FieldError]:
    """Check the policy of a capacity that several claims share: values, or a range of them, and a default."""
    if (policy := capacity.get("requestPolicy")) is None:
        return
    most, default = str(capacity.get("value") or "0"), policy.get("default")
    values, span = policy.get("validValues") or [], policy.get("validRange")
    if values and span is not None:
        yield forbidden(".requestPolicy", _ONE_POLICY)
    elif (values or span is not None) and default is None:
        used = "validValues" if values else "validRange"
        yield required(".requestPolicy.default", f"required when {used} is defined")
    elif values:
        yield from inside(".requestPolicy.validValues", _values(values, default, most))
    elif span is not None:
        yield from inside(".requestPolicy.validRange", _range(span, default, most))


def _values(values: list[str], default: str, most: str) -> Iterator[FieldError]:
    """Check values, which ascend up to the capacity; one of them is the default."""
    for index in range(1, len(values)):
        if amount(values[index - 1]) > amount(values[index]):
            yield invalid(f"[{index}]", values[index], "values must be sorted in ascending order")

    def check(option: str) -> Iterator[FieldError]:
        if amount(option) > amount(most):
            yield invalid("", option, f"option is larger than capacity value: {most}")

    yield from different(_MOST_OPTIONS, check, lambda value: str(_whole(value)))(values)
    checked = values if len(values) <= _MOST_OPTIONS else []
    if amount(default) not in [amount(value) for value in checked]:
        yield invalid("", default, "default value is not valid according to the requestPolicy")


def _range(span: Obj, default: str, most: str) -> Iterator[FieldError]:
    """Check a range up to the capacity, in which the default is, and its steps."""
    least, end, step = span.get("min"), span.get("max"), span.get("step")
    if least is None:
        yield required(".min", "required when validRange is defined")
        return
    if amount(least) > amount(most):
        yield invalid(".min", least, f"min is larger than capacity value: {most}")
    if amount(default) < amount(least):
        yield invalid(".min", default, f"default is less than min: {least}")
    if end is not None:
        if amount(least) > amount(end):
            yield invalid(".max", least, f"min is larger than max: {end}")
        if amount(end) > amount(most):
            yield invalid(".max", end, f"max is larger than capacity value: {most}")
        if amount(default) > amount(end):
            yield invalid(".max", default, f"default is more than max: {end}")
    if step is not None:
        total = added(least, step)
        if amount(total) > amount(most):
            yield invalid(".step", step, f"one step {total} is larger than capacity value: {most}")
        for value in (default, end) if end is not None else (default,):
            yield from _on_step(value, least, step)


def _on_step(value: str, least: str, step: str) -> Iterator[FieldError]:
    """Check that whole steps lead to a value; upstream divides by a step of zero, and answers 500."""
    size = _whole(step)
    if size and (_whole(value) - _whole(least)) % size:
        why = f"value is not a multiple of a given step ({step}) from ({least})"
        yield invalid(".step", value, why)


def _whole(quantity: str) -> int:
    """Return a quantity's value, rounded away from zero."""
    return int(amount(quantity).to_integral_value(ROUND_UP))


def _counter_set(name: str) -> Check:
    """Return the check of sets of counters, which have this member as their name."""
    return table_of((f"{name}:text", needed(any_dns_label)), ("", has("counters")), ("counters", _counters))


def _counter_names(counters: Obj) -> Iterable[FieldError]:
    """Check the names of counters; upstream's path of them is that of the map."""
    return chain.from_iterable(map(any_dns_label, counters))


_counters = up_to(_MOST_COUNTERS, _counter_names)


def _mapped(values: Obj, check: Check) -> Iterator[FieldError]:
    """Check a map by names of attributes: each name at the map itself, and what it names."""
    for name, value in values.items():
        yield from attribute_name(name)
        yield from inside(f"[{_shortened(name)}]", check(value or {}))


def _one_value(attribute: Obj) -> Iterator[FieldError]:
    given = [name for name in ("int", "bool", "string", "version", *LISTS) if attribute.get(name) is not None]
    if len(given) != 1:
        shown: Any = internal(attribute, "resource.v1.DeviceAttribute") if given else ""
        yield invalid("", shown, "exactly one value must be specified")


_text = at_most_bytes(_LONGEST_VALUE)
_version, _some = every(_semver, _text), demand(len, "must not be empty if specified")
_ATTRIBUTE = table_of(
    ("string", _text), ("version", _version), ("ints", _some), ("bools", _some), ("strings", _some),
    ("strings[]", _text), ("versions", _some), ("versions[]", _version), ("", _one_value),
)  # fmt: skip


def _capacity(device: Obj) -> Iterator[FieldError]:
    """Check capacities; only those of a device that several claims share have a policy."""
    policies = request_policy if device.get("allowMultipleAllocations") else _no_policy
    return inside(".capacity", _mapped(device.get("capacity") or {}, policies))


_SELECTOR: Rows = below("nodeSelector", NODE_SELECTOR)
_OWN_PLACE: Rows = (
    ("nodeName", _node("must not be empty")), *_SELECTOR, ("allNodes", _not_false),
    ("", _one_of("nodeName", "nodeSelector", "allNodes", why=_ONE_OF_DEVICE, several=_ONE_OF_DEVICE)),
)  # fmt: skip


def _devices(spec: Obj) -> Iterator[FieldError]:
    """Check devices, each of which says where it is if the slice says so."""
    device = table_of(
        ("name:text", any_dns_label), ("", _sizes),
        ("attributes", lambda values: _mapped(values, _ATTRIBUTE)),
        ("", _capacity), ("taints", items(_MOST_TAINTS, device_taint)),
        ("consumesCounters",
         different(_MOST_CONSUMED, _counter_set("counterSet"), named_by("counterSet"))),
        *(_OWN_PLACE if spec.get("perDeviceNodeSelection") else (("", _no_place),)), ("", binding_conditions),
    )  # fmt: skip
    devices = spec.get("devices") or []
    yield from inside(".devices", different(_most_devices(devices), device, named_by("name"))(devices))


def _either(spec: Obj) -> Iterator[FieldError]:
    if spec.get("devices") is not None and spec.get("sharedCounters") is not None:
        yield invalid("", "", "only one of `sharedCounters` or `devices` is allowed")


_WAYS = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_SLICE: Rows = (
    ("driver:text", driver_name), ("pool!.name:text", pool_name),
    ("pool!.resourceSliceCount:number", positive()),
    ("pool!.generation", demand(lambda value: value >= 0, "must be greater than or equal to zero")),
    ("nodeName", _node("must be either unset or set to a non-empty string")), *_SELECTOR,
    ("nodeSelector", _one_term), ("allNodes", _not_false), ("perDeviceNodeSelection", _not_false),
    ("", _one_of(*_WAYS, why=_ONE_PLACE, several=f"{_ONE_PLACE}, but multiple fields are set")),
    ("", _either), ("", _devices),
    ("sharedCounters", different(_MOST_SETS, _counter_set("name"), named_by("name"))),
)  # fmt: skip
KINDS: dict[str, Rows] = {"resourceslices.resource.k8s.io": below("spec!", _SLICE)}
