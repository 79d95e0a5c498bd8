"""Errors are bounded, however many there are in a body of 3 MB."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgspec.json
import pytest

from ktui.apiserver.http.request import MAX_BODY_BYTES
from ktui.apiserver.http.response import warning_headers
from ktui.kube.resources import BUILTIN
from ktui.kube.status import StatusError, bad_request
from ktui.kube.structural.schema import prune_object
from ktui.wire.gotypes import unknown_fields
from ktui.writes.decoding.body import refused_patch, strict_error, unknown_texts
from ktui.writes.objectmeta import validate_metadata
from ktui.writes.validation.custom_resources import custom_errors
from ktui.writes.validation.objects import new_errors

from .objects import resource

pytestmark = pytest.mark.slow

MOST_BYTES = 100_000
HUGE = "!" * MAX_BODY_BYTES


def keys() -> list[str]:
    """As many as a body holds."""
    return [f"!{number:08}" for number in range(180_000)]


def refusal(obj: dict[str, Any], plural: str = "configmaps") -> dict[str, Any]:
    """The Status that refuses an object; AssertionError if it is too big."""
    kind = resource(plural)
    with pytest.raises(StatusError) as refused:
        validate_metadata(obj, kind, new_errors(obj, kind, 36))
    return bounded(refused.value)


def bounded(error: StatusError) -> dict[str, Any]:
    body = error.body()
    assert len(msgspec.json.encode(body)) <= MOST_BYTES
    return body


@pytest.mark.parametrize(
    ("make", "plural"),
    [
        (lambda: {"metadata": {"name": "c", "labels": dict.fromkeys(keys(), "")}}, "configmaps"),
        (
            lambda: {"metadata": {"name": "c", "labels": dict.fromkeys((f"k{key}" for key in keys()), "!")}},
            "configmaps",
        ),
        (lambda: {"metadata": {"name": "c", "annotations": dict.fromkeys(keys(), "")}}, "configmaps"),
        (lambda: {"metadata": {"name": "c", "finalizers": keys()}}, "configmaps"),
        (lambda: {"metadata": {"name": "c", "ownerReferences": [{}] * 100_000}}, "configmaps"),
        (lambda: {"metadata": {"name": "c"}, "data": dict.fromkeys(keys(), "")}, "configmaps"),
        (lambda: {"metadata": {"name": "c"}, "spec": {"containers": [{}] * 100_000}}, "pods"),
    ],
    ids=["label keys", "label values", "annotations", "finalizers", "owners", "data", "containers"],
)
def test_many_errors(make: Callable[[], dict[str, Any]], plural: str) -> None:
    status = refusal(make(), plural)
    causes = status["details"]["causes"]
    assert 10 < len(causes) <= 100
    assert status["message"].endswith(", and more errors that are not shown]")


@pytest.mark.parametrize(
    "obj",
    [
        {"metadata": {"name": "c", "labels": {HUGE: ""}}},
        {"metadata": {"name": "c", "labels": {"\x01" * MAX_BODY_BYTES: ""}}},
        {"metadata": {"name": HUGE}},
        {"metadata": {"name": "c"}, "data": {HUGE: ""}},
    ],
    ids=["label", "control characters", "name", "data"],
)
def test_long_values(obj: dict[str, Any]) -> None:
    assert "…" in refusal(obj)["message"]


def test_long_documents() -> None:
    bounded(refused_patch('{"' * MAX_BODY_BYTES, '"'))
    bounded(bad_request(HUGE))


def test_a_hundred_unknown_fields_are_named_as_upstream_does() -> None:
    assert strict_error(unknown_texts(keys())).count("unknown field") == 100


def test_warnings_within_the_limit_are_whole() -> None:
    long = "x" * 4_000
    whole = (b"warning", f'299 - "{long}"'.encode())
    assert warning_headers(["a", long, "a"]) == [(b"warning", b'299 - "a"'), whole]


def test_warnings_beyond_the_limit_are_cut_then_left_out() -> None:
    """As upstream: what was there is sent again, cut; then more until 4,096 characters are written."""
    sent = warning_headers([str(number) + "x" * 600 for number in range(10, 99)])
    texts = [value.decode().removeprefix("299 - ").strip('"') for _, value in sent]
    assert [len(text) for text in texts] == [256] * 16
    assert [text[:2] for text in texts] == [str(number) for number in range(10, 26)]


LONG, MEMBERS = "x" * 100_000, 1000


@pytest.mark.parametrize("member", [1, {"type": "string"}])
def test_paths_below_a_long_key_do_not_fill_the_memory(member: Any) -> None:
    """Neither those that are reported nor those of valid members: 100 MB here, 100 GB of 3 MB."""
    inner = {f"n{number}": member for number in range(MEMBERS)}
    if member != 1:
        inner = {"properties": inner}
    versions = [{"schema": {"openAPIV3Schema": {"properties": {LONG: inner}}}}]
    definition = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    values = {"type": "object", "additionalProperties": {"type": "object", "properties": {}}}
    schema: Any = {"type": "object", "properties": {"spec": values}}
    tracemalloc.start()
    try:
        found = unknown_fields({"spec": {"versions": versions}}, *definition, release=None)
        pruned = prune_object({"spec": {LONG: {f"n{number}": 1 for number in range(MEMBERS)}}}, schema)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == (0 if member != 1 else 10)
    assert len(pruned) == 10
    assert peak < 10_000_000


def test_errors_below_a_long_key_of_a_custom_resource_do_not_fill_the_memory() -> None:
    texts: Any = {"type": "object", "additionalProperties": {"type": "string"}}
    spec = {"type": "object", "additionalProperties": texts}
    custom = dataclasses.replace(
        next(r for r in BUILTIN.preferred() if r.resource == "leases"),
        custom=True,
        schemas={"v1": {"type": "object", "properties": {"spec": spec}}},
    )
    obj = {"metadata": {}, "spec": {LONG: {f"n{number}": number for number in range(MEMBERS)}}}
    tracemalloc.start()
    try:
        found = custom_errors(obj, custom)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 6
    assert peak < 10_000_000
