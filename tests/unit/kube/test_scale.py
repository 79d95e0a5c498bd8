"""Scales of built-in workloads and of custom resources."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.scale import paths_of, rescaled, scale_of, selector_text
from ktui.kube.status import StatusError

CUSTOM = paths_of(
    {
        "specReplicasPath": ".spec.size.wanted",
        "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.chosen",
    }
)


def test_a_workload() -> None:
    workload = {
        "metadata": {"name": "web", "uid": "u", "labels": {"a": "b"}, "resourceVersion": "5"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}},
        "status": {"replicas": 2},
    }
    scale = scale_of(workload)
    assert scale["metadata"] == {"name": "web", "uid": "u", "resourceVersion": "5"}
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "app=x"}


def test_a_custom_resource_says_where_its_replicas_are() -> None:
    obj = {"spec": {"size": {"wanted": 4}}, "status": {"size": 1, "chosen": "a in (b)"}}
    scale = scale_of(obj, CUSTOM)
    assert (scale["spec"], scale["status"]) == ({"replicas": 4}, {"replicas": 1, "selector": "a in (b)"})
    assert rescaled(obj, 6, CUSTOM)["spec"] == {"size": {"wanted": 6}}
    assert obj["spec"] == {"size": {"wanted": 4}}


def test_a_custom_resource_without_replicas() -> None:
    with pytest.raises(StatusError) as caught:
        scale_of({"spec": {}}, CUSTOM)
    assert caught.value.code == 500
    assert caught.value.message.endswith('the spec replicas field ".spec.size.wanted" does not exist')


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            {"spec": {"size": {"wanted": 4}}, "status": {"chosen": {"matchLabels": {"b": "2", "a": True}}}},
            ".status.chosen accessor error: map[matchLabels:map[a:true b:2]] is of the type "
            "map[string]interface {}, expected string",
        ),
        (
            {"spec": {"size": {"wanted": "4"}}},
            ".spec.size.wanted accessor error: 4 is of the type string, expected int64",
        ),
        (
            {"spec": {"size": {"wanted": 4}}, "status": {"size": [1, None]}},
            ".status.size accessor error: [1 <nil>] is of the type []interface {}, expected int64",
        ),
    ],
)
def test_a_custom_resource_that_keeps_something_else_there(obj: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as caught:
        scale_of(obj, CUSTOM)
    assert (caught.value.code, caught.value.message) == (500, message)


def test_a_selector_that_is_none() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Like", "values": ["x"]}]}
    with pytest.raises(StatusError) as caught:
        scale_of({"spec": {"selector": selector}})
    assert (caught.value.code, caught.value.message) == (400, '"Like" is not a valid label selector operator')


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, ""),
        ({"b": "2", "a": "1"}, "a=1,b=2"),
        ("app=x", "app=x"),
        (
            {
                "matchLabels": {"z": "1"},
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["y", "x"]},
                    {"key": "b", "operator": "NotIn", "values": ["x"]},
                    {"key": "c", "operator": "Exists"},
                    {"key": "d", "operator": "DoesNotExist"},
                ],
            },
            "a in (x,y),b notin (x),c,!d,z=1",
        ),
    ],
)
def test_selectors_in_one_line(selector: Any, text: str) -> None:
    assert selector_text(selector) == text
