"""Server-side apply: what is owned, merged, dropped and refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.writes.managedfields.apply import ANNOTATION, Apply
from ktui.writes.managedfields.entries import track_update
from ktui.writes.managedfields.fieldset import paths_of
from ktui.writes.managedfields.merging import fields_of, merge_config, without
from ktui.writes.managedfields.nodes import BuiltinNode, Node, SchemaNode, root_of
from ktui.writes.managedfields.typed_config import type_faults

from .objects import CONFIG_MAPS

Obj = dict[str, Any]
KEYED = BuiltinNode("core.v1.Pod")


def kind_of(kind: str) -> Resource:
    return next(resource for resource in BUILTIN if resource.kind == kind)


def config(**data: str) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def apply(old: Obj | None, manager: str, force: bool = False, **data: str) -> Obj:
    step = Apply(config(**data), manager, CONFIG_MAPS, force=force)
    new = step.merged(old) if old is not None else copy.deepcopy(step.config)
    step.track(old, new, "t2" if old else "t1")
    return new


def owners(obj: Obj) -> dict[str, list[str]]:
    return {
        f"{entry['operation']} {entry['manager']}": list(paths_of(entry["fieldsV1"]))
        for entry in obj["metadata"]["managedFields"]
    }


def test_an_applier_owns_the_leaves_of_its_configuration() -> None:
    pod = {
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}], "nodeSelector": {}},
    }
    assert list(paths_of(fields_of(pod, KEYED))) == [
        ".metadata.labels.a",
        ".spec.nodeSelector",
        '.spec.containers[name="c"]',
        '.spec.containers[name="c"].args',
        '.spec.containers[name="c"].image',
        '.spec.containers[name="c"].name',
    ]


def test_two_appliers_share_an_object() -> None:
    first = apply(None, "one", a="1")
    both = apply(first, "two", b="2")
    assert both["data"] == {"a": "1", "b": "2"}
    assert owners(both) == {"Apply one": [".data.a"], "Apply two": [".data.b"]}


def test_what_is_no_longer_applied_goes() -> None:
    assert apply(apply(None, "one", a="1", b="2"), "one", a="1")["data"] == {"a": "1"}
    shared = apply(apply(None, "one", a="1", b="2"), "two", b="2")
    left = apply(shared, "one", a="1")
    assert left["data"] == {"a": "1", "b": "2"}
    assert owners(left)["Apply two"] == [".data.b"]


def test_another_managers_field_is_a_conflict() -> None:
    first = apply(None, "one", a="1", b="2")
    with pytest.raises(StatusError) as caught:
        apply(first, "two", a="9")
    assert caught.value.code == 409
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    with pytest.raises(StatusError) as caught:
        apply(first, "two", a="9", b="9")
    assert caught.value.message == (
        'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b'
    )
    assert caught.value.details is not None and len(caught.value.details["causes"]) == 2


def test_force_takes_the_field_over() -> None:
    taken = apply(apply(None, "one", a="1", b="2"), "two", force=True, a="9")
    assert taken["data"] == {"a": "9", "b": "2"}
    assert owners(taken) == {"Apply one": [".data.b"], "Apply two": [".data.a"]}


def test_a_conflict_with_an_update_names_its_version() -> None:
    updated = config(a="1")
    track_update(None, updated, manager="kubectl", time="2026-01-01T00:00:00Z", resource=CONFIG_MAPS)
    with pytest.raises(StatusError, match=r'"kubectl" using v1: \.data\.a'):
        apply(updated, "two", a="9")
    agreed = apply(updated, "two", a="1")
    assert owners(agreed) == {"Apply two": [".data.a"], "Update kubectl": [".data", ".data.a"]}


def test_applying_the_same_again_changes_nothing() -> None:
    first = apply(None, "one", a="1")
    assert apply(first, "one", a="1") == first


def test_keyed_lists_merge_by_key() -> None:
    live = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]}}
    wanted = {"spec": {"containers": [{"name": "b", "image": "3"}, {"name": "c", "image": "4"}]}}
    merged = merge_config(live, wanted, KEYED)
    assert [(c["name"], c["image"]) for c in merged["spec"]["containers"]] == [
        ("a", "1"),
        ("b", "3"),
        ("c", "4"),
    ]
    gone: Obj = {"f:spec": {"f:containers": {'k:{"name":"a"}': {".": {}, "f:name": {}}}}}
    assert [c["name"] for c in without(merged, gone, KEYED)["spec"]["containers"]] == ["b", "c"]
    assert without(merged, {"f:spec": {"f:containers": {'k:{"name":"b"}': {"f:image": {}}}}}, KEYED)["spec"][
        "containers"
    ][1] == {"name": "b"}


LISTS = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "plain": {"type": "array", "items": {"type": "object"}},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "rules": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["id", "at"],
                    "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "port": {"type": "integer"},
                            "protocol": {"type": "string", "default": "TCP"},
                            "name": {"type": "string"},
                        },
                    },
                },
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic"},
            },
        }
    },
}
CUSTOM = Resource(
    "g", "v1", "ws", "W", "w", True, versions=("v1",), custom=True, encoding="json", schemas={"v1": LISTS}
)


def test_lists_of_custom_resources_are_what_their_schema_says() -> None:
    live = {
        "spec": {
            "plain": [{"a": 1}],
            "set": ["x"],
            "ports": [{"port": 1, "protocol": "TCP", "name": "one"}, {"port": 1, "protocol": "UDP"}],
            "whole": {"a": 1},
        }
    }
    wanted = {
        "spec": {
            "plain": [{"b": 2}],
            "set": ["y"],
            "ports": [{"port": 1, "name": "uno"}, {"port": 2}],
            "whole": {"b": 2},
        }
    }
    assert merge_config(live, wanted, root_of(CUSTOM))["spec"] == {
        "plain": [{"b": 2}],
        "set": ["x", "y"],
        "ports": [
            {"port": 1, "protocol": "TCP", "name": "uno"},
            {"port": 1, "protocol": "UDP"},
            {"port": 2},
        ],
        "whole": {"b": 2},
    }
    assert sorted(paths_of(fields_of(wanted, root_of(CUSTOM)))) == [
        ".spec.plain",
        '.spec.ports[port=1,protocol="TCP"]',
        '.spec.ports[port=1,protocol="TCP"].name',
        '.spec.ports[port=1,protocol="TCP"].port',
        '.spec.ports[port=2,protocol="TCP"]',
        '.spec.ports[port=2,protocol="TCP"].port',
        '.spec.set[="y"]',
        ".spec.whole",
    ]


def test_metadata_of_custom_resources_is_everybodys() -> None:
    config = {"metadata": {"finalizers": ["a/b"], "ownerReferences": [{"uid": "u", "kind": "K"}]}}
    assert list(paths_of(fields_of(config, SchemaNode(None, root=True)))) == [
        '.metadata.finalizers[="a/b"]',
        '.metadata.ownerReferences[uid="u"]',
    ]


@pytest.mark.parametrize(
    ("kind", "path", "keyed"),
    [
        ("Pod", ("spec", "imagePullSecrets"), True),
        ("ServiceAccount", ("imagePullSecrets",), False),
        ("ServiceAccount", ("secrets",), True),
        ("Job", ("status", "conditions"), False),
        ("Deployment", ("status", "conditions"), True),
        ("Namespace", ("spec", "finalizers"), False),
        ("Namespace", ("metadata", "finalizers"), True),
        ("ValidatingWebhookConfiguration", ("webhooks",), True),
        ("EndpointSlice", ("ports",), False),
        ("Service", ("spec", "ports"), True),
    ],
)
def test_built_in_lists_of_one_name(kind: str, path: tuple[str, ...], keyed: bool) -> None:
    node: Node = root_of(kind_of(kind))
    for name in path:
        node = node.member(name)
    assert (node.keys([{"name": "a", "port": 1}]) is not None) is keyed


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"ports": [{"port": 1}, {"port": 1, "protocol": "UDP"}]}, ""),
        (
            {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]},
            'duplicate entries for key [port=1,protocol="TCP"]',
        ),
        ({"ports": [{"name": "a"}]}, ""),  # the protocol has a default
        (
            {"rules": [{"name": "a"}]},
            'element 0: associative list with keys has an element that omits all key fields ["id" "at"] '
            "(and doesn't have default values for any key fields)",
        ),
        ({"rules": [{"id": 1}]}, ""),
    ],
)
def test_items_that_cannot_be_told_apart(spec: Obj, fault: str) -> None:
    wanted = [f".spec.{name}: {fault}" for name in spec if fault]
    assert list(type_faults({"spec": spec}, CUSTOM)) == wanted


def test_what_loses_all_of_its_members_is_gone() -> None:
    spec = {"a": {"b": {"c": 1}}, "empty": {}, "kept": {"x": 1, "y": 2}}
    paths = {"f:a": {"f:b": {"f:c": {}}}, "f:kept": {"f:x": {}}}
    assert without(spec, paths, KEYED) == {"empty": {}, "kept": {"y": 2}}


def test_kubectl_takes_over_what_its_client_side_apply_set() -> None:
    """Without force: the annotation says that these values are kubectl's own."""
    kept = json.dumps({**config(a="1", b="2"), "metadata": {"name": "a", "annotations": {}}})
    live = config(a="1", b="9")
    live["metadata"]["annotations"] = {ANNOTATION: kept}
    track_update(None, live, manager="kubectl-client-side-apply", time="t", resource=CONFIG_MAPS)
    new = apply(live, "kubectl", a="5")
    assert new["data"] == {"a": "5", "b": "9"}
    assert new["metadata"]["annotations"][ANNOTATION] == (
        '{"apiVersion":"v1","data":{"a":"5"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )
    with pytest.raises(StatusError, match=r"\.data\.b"):  # it was changed since
        apply(live, "kubectl", b="5")
    with pytest.raises(StatusError, match=r"\.data\.a"):
        apply(live, "other", a="5")
    live["metadata"]["annotations"][ANNOTATION] = "[" * 100_000
    with pytest.raises(StatusError, match=r"\.data\.a"):
        apply(live, "kubectl", a="5")


def test_a_map_that_became_empty_keeps_its_other_owner() -> None:
    """As a kube-apiserver 1.36: the map itself is not removed with its last entry."""
    entry = {"manager": "m", "operation": "Update", "apiVersion": "v1"}
    old = config(k="1")
    old["metadata"]["managedFields"] = [{**entry, "fieldsV1": {"f:data": {".": {}, "f:k": {}}}}]
    applied = apply(old, "b", force=True, k="2")
    assert owners(applied) == {"Apply b": [".data.k"], "Update m": [".data"]}
    left = Apply({**config(), "data": {}}, "b", CONFIG_MAPS)
    del left.config["data"]
    new = left.merged(applied)
    left.track(applied, new, "t3")
    assert "data" not in new and owners(new) == {"Update m": [".data"]}


def test_two_entries_of_one_manager_are_read_as_the_last() -> None:
    """A scaling may leave them."""
    one, other = ({"f:data": {f"f:{name}": {}}} for name in "ab")
    entry = {"manager": "m", "operation": "Update", "apiVersion": "v1"}
    old = config(a="1", b="1")
    old["metadata"]["managedFields"] = [{**entry, "fieldsV1": one}, {**entry, "fieldsV1": other}]
    new = config(a="1", b="1", c="1")
    track_update(old, new, manager="n", time="t", resource=CONFIG_MAPS)
    assert owners(new) == {"Update m": [".data.b"], "Update n": [".data.c"]}
