"""Rules of claims and classes of devices, and what slices share with them (upstream: resource/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from ktui.kube.fielderrors import (
    FieldError,
    invalid,
    not_supported,
    required,
    too_long,
)
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_value_faults
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_dns_label,
    any_subdomain,
    at_most_bytes,
    below,
    conforms,
    demand,
    different,
    duplicate,
    every,
    inside,
    items,
    label_key,
    named_by,
    needed,
    one_of,
    one_of_or_none,
    qualified,
    table_of,
    there,
)
from ktui.writes.validation.values.resources import extended
from ktui.writes.validation.values.volumes import driver_name, template_metadata

MOST_SELECTORS = MOST_CONFIGS = 32
_LONGEST_EXPRESSION, _LONGEST_PARAMETERS = 10 * 1024, 10 * 1024
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
# What cel-go says of an empty expression; others are not compiled here.
_EMPTY_EXPRESSION = (
    "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting "
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}"
)

_identifier = every(at_most_bytes(32), demand(
    re.compile("[A-Za-z_][A-Za-z0-9_]*").fullmatch,
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')",
))  # fmt: skip
_label_value = conforms(label_value_faults)


def _subdomains(name: str) -> Iterable[FieldError]:
    return chain.from_iterable(map(any_subdomain, name.split("/")))


pool_name = needed(every(at_most_bytes(253), _subdomains))
"""The name of a pool: subdomains, separated by slashes."""


def attribute_name(name: str) -> Iterator[FieldError]:
    """Check an attribute's name, which may have a domain; upstream accepts any with two slashes."""
    domain, slash, rest = name.partition("/")
    if not slash:
        yield from _identifier(name)
    elif "/" not in rest:
        yield from driver_name(domain) if domain else [invalid("", "", "the domain must not be empty")]
        yield from _identifier(rest) if rest else [invalid("", "", "the name must not be empty")]


def full_attribute_name(name: str) -> Iterator[FieldError]:
    """Check an attribute's name that has to have a domain."""
    yield from attribute_name(name)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        yield invalid("", name, why)


def _tolerated(toleration: Obj) -> Iterator[FieldError]:
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    if operator == "Exists":
        if value:
            yield invalid(".value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from inside(".value", _label_value(value))
    else:
        yield not_supported(".operator", operator, ("Equal", "Exists"))


def _expression(text: str) -> Iterable[FieldError]:
    if len(text.encode()) > _LONGEST_EXPRESSION:
        return [too_long("", _LONGEST_EXPRESSION)]
    return () if text else [invalid("", "", _EMPTY_EXPRESSION)]


def json_object(value: Any) -> Iterable[FieldError]:
    """Check a driver's own data: an object that is not too large."""
    if len(msgspec.json.encode(value)) > _LONGEST_PARAMETERS:
        return [too_long("", _LONGEST_PARAMETERS)]
    return () if isinstance(value, dict) else [invalid("", "<value omitted>", "must be a valid JSON object")]


cel_selector = table_of(("", there("cel")), ("cel.expression:text", _expression))
"""A selector of devices; its expression is not compiled here."""
CONFIGURATION: Rows = (
    ("", there("opaque")), ("opaque.driver:text", driver_name), ("opaque", there("parameters")),
    ("opaque.parameters", json_object),
)  # fmt: skip
"""The rules of parameters for a driver."""
device_toleration = table_of(("key:text", qualified), ("", _tolerated), ("effect", one_of_or_none(*_EFFECTS)))
device_taint = table_of(
    ("key:text", label_key), ("value:text", _label_value), ("effect:text", one_of(*_EFFECTS))
)


def request_names(devices: Obj) -> dict[str, set[str]]:
    """Return the names of a claim's requests, each with those of its subrequests."""
    name = named_by("name")
    return {
        name(each): set(map(name, each.get("firstAvailable") or ())) for each in devices.get("requests") or []
    }


def request_of(names: dict[str, set[str]]) -> Check:
    """Demand the name of one of these requests, as `gpu` or `gpu/first`."""

    def check(name: str) -> Iterator[FieldError]:
        request, *subs = name.split("/")
        for step in (request, *subs) if len(subs) < 2 else ():
            yield from any_dns_label(step)
        if len(subs) > 1 or request not in names or not names[request].issuperset(subs):
            yield invalid("", name, _NO_REQUEST)

    return check


_BINDING, _FAILURE = "bindingConditions", "bindingFailureConditions"
_condition_names = items(4, label_key)


def binding_conditions(device: Obj) -> Iterator[FieldError]:
    """Check the conditions for binding and for its failure: both or none, and none in both."""
    lists = {name: device.get(name) for name in (_BINDING, _FAILURE)}
    for name, conditions in lists.items():
        yield from inside(f".{name}", _condition_names(conditions or []))
    for name, conditions in lists.items():
        seen, others = set[str](), set(lists[_BINDING] or ()) if name == _FAILURE else set()
        for index, condition in enumerate(conditions or []):
            if condition in seen:
                yield duplicate(f".{name}[{index}]", condition)
            if condition in others:
                why = f"{_FAILURE} must not overlap with {_BINDING}"
                yield invalid(f".{name}[{index}]", condition, why)
            seen.add(condition)
    for name, other in ((_BINDING, _FAILURE), (_FAILURE, _BINDING)):
        if not lists[name] and lists[other]:
            yield invalid(f".{name}", lists[name], f"{name} are required to use {other}")


_MOST_REQUESTS, _MOST_CONSTRAINTS, _MOST_CHOICES = 32, 32, 8
_ONE_WAY = "exactly one of `exactly` or `firstAvailable` is required"
# The gate with which upstream says this is on from 1.36.
_ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)


def _counted(wanted: Obj) -> Iterable[FieldError]:
    mode, count = wanted.get("allocationMode") or "", wanted.get("count") or 0
    if mode == "All":
        return (
            [invalid(".count", count, "must not be specified when allocationMode is 'All'")] if count else ()
        )
    if mode == "ExactCount":
        return [invalid(".count", count, "must be greater than zero")] if count <= 0 else ()
    return [not_supported(".allocationMode", mode, ("All", "ExactCount"))]


_selectors = items(MOST_SELECTORS, cel_selector)
# Which devices are wanted, and how many.
_WANTED: Rows = (
    ("deviceClassName:text", needed(any_subdomain)), ("selectors", _selectors), ("", _counted),
    ("tolerations[]", device_toleration),
)  # fmt: skip
_EXACTLY, _NAME = table_of(*_WANTED), ("name:text", any_dns_label)
_choices = different(_MOST_CHOICES, table_of(_NAME, *_WANTED), named_by("name"))


def _one_way(request: Obj) -> Iterable[FieldError]:
    """A request is for what is in `exactly`, or for the first of several subrequests."""
    choices, exactly = request.get("firstAvailable") or [], request.get("exactly")
    if choices and exactly is not None:
        return [invalid("", None, f"{_ONE_WAY}, but multiple fields are set")]
    if choices:
        return inside(".firstAvailable", _choices(choices))
    return inside(".exactly", _EXACTLY(exactly)) if exactly is not None else [required("", _ONE_WAY)]


def _one_attribute(constraint: Obj) -> Iterable[FieldError]:
    """A constraint is of one attribute that is the same, or different, in several requests."""
    for member in ("matchAttribute", "distinctAttribute"):
        if (name := constraint.get(member)) is not None:
            return inside(f".{member}", full_attribute_name(name))
    return [required("", _ONE_ATTRIBUTE)]


_requests = different(_MOST_REQUESTS, table_of(_NAME, ("", _one_way)), named_by("name"))


def _claim(devices: Obj) -> Iterator[FieldError]:
    """Check the requests of a claim, and what is said about them: constraints and configurations."""
    about = "requests", different(_MOST_REQUESTS, request_of(request_names(devices)))
    return table_of(
        ("requests", _requests),
        ("constraints", items(_MOST_CONSTRAINTS, table_of(about, ("", _one_attribute)))),
        ("config", items(MOST_CONFIGS, table_of(about, *CONFIGURATION))),
    )(devices)


NEW_CLAIM: Rows = (("spec.devices!", _claim),)
KINDS: dict[str, Rows] = {
    "deviceclasses.resource.k8s.io": below("spec", (
        ("selectors", _selectors),
        ("config", items(MOST_CONFIGS, table_of(*CONFIGURATION))),
        ("extendedResourceName", demand(extended, "must be a valid extended resource name")),
    )),
    "resourceclaimtemplates.resource.k8s.io": (
        ("spec.metadata", template_metadata), ("spec.spec.devices!", _claim),
    ),
}  # fmt: skip
