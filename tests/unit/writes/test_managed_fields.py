"""managedFields: the algebra of field sets, and what writes make of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN
from ktui.writes.managedfields.entries import track_update
from ktui.writes.managedfields.fieldset import compare, difference, intersection, ordered, union
from ktui.writes.managedfields.nodes import BuiltinNode, SchemaNode

CORE = BUILTIN.find("", "v1", "pods")
assert CORE is not None
LEAF = st.just({})
SETS = st.recursive(
    LEAF,
    lambda inner: st.dictionaries(
        st.sampled_from(["f:a", "f:b", "f:c"]), inner, min_size=1, max_size=3
    ).flatmap(lambda d: st.sampled_from([d, {".": {}, **d}])),
    max_leaves=8,
)
ROOTS = st.dictionaries(st.sampled_from(["f:a", "f:b", "f:c"]), SETS, max_size=3)


def paths(node: dict[str, Any], at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for key, below in node.items():
        if key == ".":
            continue
        if not below or "." in below:
            found.add((*at, key))
        found |= paths(below, (*at, key))
    return found


@given(ROOTS, ROOTS)
def test_sets_behave_as_sets(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert paths(union(one, other)) == paths(one) | paths(other)
    assert paths(difference(one, other)) == paths(one) - paths(other)
    assert paths(intersection(one, other)) == paths(one) & paths(other)
    assert ordered(one) == one


def test_items_are_in_the_order_of_their_keys_values() -> None:
    wanted = [
        ".", "f:a", 'k:{"port":-1}', 'k:{"port":80,"protocol":"TCP"}', 'k:{"port":80,"protocol":"UDP"}',
        'k:{"port":443,"protocol":"TCP"}', 'k:{"port":"a"}', 'k:{"port":{}}', 'k:bad":1', 'v:"a"',
    ]  # fmt: skip
    assert list(ordered({key: {} for key in sorted(wanted, reverse=True)})) == wanted


def test_a_key_that_nests_too_deeply_is_sorted_as_a_text() -> None:
    deep = 'k:{"a":' + "[" * 3000 + "]" * 3000 + "}"
    assert list(ordered({deep: {}, 'k:{"a":1}': {}})) == ['k:{"a":1}', deep]


def test_keyed_lists_are_taken_apart_and_others_are_one_value() -> None:
    old = {"spec": {"containers": [{"name": "a", "args": ["1"]}]}}
    new = {"spec": {"containers": [{"name": "a", "args": ["2"]}, {"name": "b"}]}}
    changes = compare(old, new, BuiltinNode("core.v1.Pod"))
    assert changes.set == {
        "f:spec": {
            "f:containers": {
                'k:{"name":"a"}': {"f:args": {}},
                'k:{"name":"b"}': {".": {}, "f:name": {}},
            }
        }
    }
    assert changes.removed == {}
    assert compare(old, new, SchemaNode(None, root=True)).set == {"f:spec": {"f:containers": {}}}


def test_removed_fields_are_told_apart() -> None:
    changes = compare({"data": {"a": "1", "b": "2"}}, {"data": {"b": "3"}}, BuiltinNode("core.v1.ConfigMap"))
    assert changes.set == {"f:data": {"f:b": {}}}
    assert changes.removed == {"f:data": {"f:a": {}}}


def test_a_label_selector_is_one_value() -> None:
    new = {"spec": {"selector": {"matchLabels": {"a": "b"}}}}
    assert compare({"spec": {"selector": None}}, new, BuiltinNode("batch.v1.Job")).set == {
        "f:spec": {"f:selector": {}}
    }


def test_a_create_names_the_members_that_go_itself_does_not_write() -> None:
    pod: dict[str, Any] = {
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "resources": {}}]},
    }
    track_update(None, pod, manager="kubectl", time="T", resource=CORE)
    assert pod["metadata"]["managedFields"] == [
        {
            "manager": "kubectl",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "T",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:resources": {}}}},
            },
        }
    ]


def created(manager: str = "one") -> dict[str, Any]:
    obj: dict[str, Any] = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}}
    track_update(None, obj, manager=manager, time="T1", resource=CORE)
    return obj


def test_a_field_changes_hands_with_its_value() -> None:
    old = created()
    new = copy.deepcopy(old)
    new["data"]["a"] = "9"
    track_update(old, new, manager="two", time="T2", resource=CORE)
    one, two = new["metadata"]["managedFields"]
    assert (one["manager"], one["time"], one["fieldsV1"]) == ("one", "T1", {"f:data": {".": {}, "f:b": {}}})
    assert (two["manager"], two["time"], two["fieldsV1"]) == ("two", "T2", {"f:data": {"f:a": {}}})


def test_who_owns_nothing_any_more_is_forgotten() -> None:
    old = created()
    new = copy.deepcopy(old)
    del new["data"]
    track_update(old, new, manager="two", time="T2", resource=CORE)
    assert "managedFields" not in new["metadata"]


def test_no_change_leaves_the_time_alone() -> None:
    old = created()
    new = copy.deepcopy(old)
    track_update(old, new, manager="one", time="T2", resource=CORE)
    assert new == old


@pytest.mark.parametrize("sent", [[], None])
def test_an_empty_list_forgets_all_owners(sent: Any) -> None:
    old = created()
    new = copy.deepcopy(old)
    new["metadata"]["managedFields"] = sent
    track_update(old, new, manager="one", time="T2", resource=CORE)
    assert ("managedFields" in new["metadata"]) == (sent is None)
