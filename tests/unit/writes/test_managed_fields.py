"""managedFields: the algebra of field sets, and what writes make of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN, Resource
from ktui.writes.managedfields.entries import keep_times, track_update
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


RULES = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"], "items": {
    "type": "object", "properties": {"key": {"type": "string"}, "n": {"type": "integer"}},
}}  # fmt: skip
STRICT = {"type": "object", "properties": {"spec": {"type": "object", "properties": {
    "rules": RULES, "names": {"type": "array", "x-kubernetes-list-type": "set"},
    "free": {"x-kubernetes-preserve-unknown-fields": True},
}}}}  # fmt: skip
OPEN = {"type": "object", "properties": {
    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
}}  # fmt: skip
GADGETS = Resource(
    "a.b", "v2", "gadgets", "Gadget", "gadget", True, custom=True, schemas={"v1": STRICT, "v2": OPEN}
)


def gadget(spec: Any, *entries: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "a.b/v2", "kind": "Gadget", "metadata": {"managedFields": [*entries]}, "spec": spec}


def entry(fields: Any, version: str = "v1") -> dict[str, Any]:
    head = {"manager": "m", "operation": "Update", "apiVersion": f"a.b/{version}", "time": "T1"}
    return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields}


def entries_after(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, Any]]:
    new = {**new, "metadata": {"managedFields": copy.deepcopy(old["metadata"]["managedFields"])}}
    track_update(old, new, manager="n", time="T2", resource=GADGETS)
    return [(e["manager"], e["fieldsV1"]) for e in new["metadata"].get("managedFields", [])]


def test_each_manager_loses_what_changed_by_its_own_schema() -> None:
    a, b = 'k:{"key":"a"}', 'k:{"key":"b"}'
    owned = {"f:spec": {"f:rules": {".": {}, a: {".": {}, "f:key": {}}, b: {".": {}, "f:key": {}}}}}
    old, new = ({"rules": [{"key": "a"}, {"key": key}]} for key in "bc")
    assert entries_after(gadget(old, entry(owned)), gadget(new)) == [
        ("m", {"f:spec": {"f:rules": {".": {}, a: {".": {}, "f:key": {}}}}}),
        ("n", {"f:spec": {"f:rules": {}}}),  # in v2 the list is one value
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"rules": [{"key": 5}]}, {"rules": [{"n": 5}]}, {"rules": ["a"]}, {"other": 5}, "x",
        {"rules": [{"key": "a"}, {"key": "a"}]},
    ],
)  # fmt: skip
def test_what_does_not_fit_a_managers_version_ends_tracking(spec: Any) -> None:
    assert entries_after(gadget({}, entry({"f:spec": {"f:rules": {}}})), gadget(spec)) == []


def test_a_manager_of_a_version_that_is_gone_owns_nothing() -> None:
    old = gadget({"free": 1}, entry({"f:spec": {}}, "v0"), entry({"f:spec": {"f:free": {}}}))
    assert entries_after(old, gadget({"free": 1})) == [("m", {"f:spec": {"f:free": {}}})]


def test_values_of_another_type_and_duplicates() -> None:
    root = SchemaNode(STRICT, root=True)

    def changed(old: Any, new: Any) -> tuple[Any, Any]:
        changes = compare({"spec": old}, {"spec": new}, root)
        return changes.set, changes.removed

    inner = {"f:spec": {"f:free": {"f:a": {}}}}
    assert changed({"free": {"a": 1}}, {"free": 5}) == ({"f:spec": {"f:free": {}}}, inner)
    assert changed({"free": 5}, {"free": {"a": 1}}) == (
        {"f:spec": {"f:free": {".": {}, "f:a": {}}}}, {}
    )  # fmt: skip
    assert changed({"free": {"a": 1}}, {"free": None}) == ({}, inner)
    assert changed({"free": {}}, {"free": None}) == ({"f:spec": {"f:free": {}}}, {})
    one, leaf = [{"key": "a"}], {"f:spec": {"f:rules": {'k:{"key":"a"}': {}}}}
    whole = {"f:spec": {"f:rules": {'k:{"key":"a"}': {".": {}, "f:key": {}}}}}
    assert changed({"rules": one}, {"rules": one * 2}) == (leaf, whole)
    assert changed({"rules": one * 2}, {"rules": one}) == (whole, leaf)
    assert changed({"rules": one * 2}, {"rules": one * 3}) == (leaf, {})
    assert changed({"rules": one * 2}, {"rules": one * 2}) == ({}, {})
    names = {"f:spec": {"f:names": {'v:"a"': {}}}}
    assert changed({"names": ["a"]}, {"names": ["a", "a"]}) == (names, names)


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"f:spec": {".": 5, "f:free": None, "x:y": 1}}, {"f:spec": {".": {}, "f:free": {}}}),
        ({"f:spec": {".": {}}}, {"f:spec": {}}),
        ({"f:spec": 5}, None), ({"f:spec": {"free": {}}}, None), ({"k:[]": {}}, None), ({"v:": {}}, None),
        ({"i:x": {}}, None), ([], None),
    ],
)  # fmt: skip
def test_fields_that_a_client_sends_are_read_or_ignored(fields: Any, kept: Any) -> None:
    old = gadget({"free": 1}, entry({"f:spec": {"f:free": {}}}, "v2"))
    new = gadget({"free": 1}, entry(fields, "v2"))
    track_update(old, new, manager="n", time="T2", resource=GADGETS)
    assert new["metadata"]["managedFields"][0]["fieldsV1"] == (kept or {"f:spec": {"f:free": {}}})


def test_times_alone_are_no_change() -> None:
    old = gadget({"free": 1}, entry({"f:spec": {}}, "v2"))
    new = gadget({"free": 1}, {**entry({"f:spec": {}}, "v2"), "time": "T2"})
    other = gadget({"free": 2}, {**entry({"f:spec": {}}, "v2"), "time": "T2"})
    for obj in (new, other):
        keep_times({**old, "metadata": {**old["metadata"], "resourceVersion": "5"}}, obj)
    assert [obj["metadata"]["managedFields"][0]["time"] for obj in (new, other)] == ["T1", "T2"]


def test_a_manager_of_another_version_of_a_built_in_kind() -> None:
    """In autoscaling/v1 the target is one value, in v2 a struct."""
    scaler = BUILTIN.find("autoscaling", "v1", "horizontalpodautoscalers")
    assert scaler is not None
    fields = {"f:spec": {"f:scaleTargetRef": {"f:kind": {}, "f:name": {}}}}
    owner = {"manager": "m", "operation": "Update", "apiVersion": "autoscaling/v2", "fieldsV1": fields}

    def of(kind: str) -> dict[str, Any]:
        spec = {"maxReplicas": 2, "scaleTargetRef": {"kind": kind, "name": "a"}}
        metadata = {"name": "h", "managedFields": [{**owner, "fieldsType": "FieldsV1"}]}
        head = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}
        return {**head, "metadata": metadata, "spec": spec}

    new = of("B")
    track_update(of("A"), new, manager="n", time="T", resource=scaler)
    assert [entry["fieldsV1"] for entry in new["metadata"]["managedFields"]] == [
        {"f:spec": {"f:scaleTargetRef": {"f:name": {}}}}, {"f:spec": {"f:scaleTargetRef": {}}}
    ]  # fmt: skip
