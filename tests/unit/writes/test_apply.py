"""Server-side apply: what is owned, merged, dropped and refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.writes.managedfields.apply import ANNOTATION, Apply
from ktui.writes.managedfields.entries import track_update
from ktui.writes.managedfields.fieldset import paths_of
from ktui.writes.managedfields.merging import fields_of, merge_config, without
from ktui.writes.managedfields.nodes import BuiltinNode, Node, SchemaNode, root_of
from ktui.writes.managedfields.typed_config import list_faults

Obj = dict[str, Any]
KEYED = BuiltinNode("core.v1.Pod")


def find(group: str, version: str, name: str) -> Resource:
    resource = BUILTIN.find(group, version, name)
    assert resource is not None
    return resource


def kind_of(kind: str) -> Resource:
    return next(resource for resource in BUILTIN if resource.kind == kind)


CONFIG_MAPS = find("", "v1", "configmaps")


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
        (
            {"ports": [{"name": "a"}]},
            "element 0: associative list with keys has an element that omits key field "
            '"port" (and doesn\'t have default value)',
        ),
    ],
)
def test_items_that_cannot_be_told_apart(spec: Obj, fault: str) -> None:
    wanted = [f".spec.ports: {fault}"] if fault else []
    assert list(list_faults({"spec": spec}, root_of(CUSTOM))) == wanted


def test_what_loses_all_of_its_members_is_gone() -> None:
    spec = {"a": {"b": {"c": 1}}, "empty": {}, "kept": {"x": 1, "y": 2}}
    paths = {"f:a": {"f:b": {"f:c": {}}}, "f:kept": {"f:x": {}}}
    assert without(spec, paths, KEYED) == {"empty": {}, "kept": {"y": 2}}


def step(resource: Resource, old: Obj | None, manager: str, body: Obj, operation: str = "Apply") -> Obj:
    """Apply `body` (forced), or update the object to it; return the object."""
    if operation == "Update":
        new = copy.deepcopy(body)
        new["metadata"] = {**(old or {}).get("metadata", {}), **new.get("metadata", {})}
        track_update(old, new, manager=manager, time="t1", resource=resource)
        return new
    change = Apply(copy.deepcopy(body), manager, resource, force=True)
    new = change.merged(old) if old is not None else copy.deepcopy(body)
    change.track(old, new, "t2")
    return new


def run(resource: Resource, *steps: tuple[str, str, Obj | None]) -> Any:
    """Run (operation, manager, spec) one after another; return the spec that they leave."""
    old: Obj | None = None
    for operation, manager, spec in steps:
        body = {"metadata": {"name": "a"}, "spec": spec} if spec is not None else {"metadata": {"name": "a"}}
        old = step(resource, old, manager, body, operation)
    assert old is not None
    return old.get("spec")


STRUCTS = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "one": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
                },
                "map": {
                    "type": "object",
                    "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "list": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "size": {"type": "integer"},
                            "tags": {
                                "type": "array",
                                "x-kubernetes-list-type": "set",
                                "items": {"type": "string"},
                            },
                        },
                    },
                },
            },
        }
    },
}
TREES = Resource(
    "g", "v1", "ts", "T", "t", True, versions=("v1",), custom=True, encoding="json", schemas={"v1": STRUCTS}
)
A, B, C = {"name": "a"}, {"name": "b"}, {"name": "c"}


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        # What one applier set and leaves out goes, with its container.
        ([("Apply", "me", {"one": {"name": "a", "size": 1}}), ("Apply", "me", None)], None),
        # What an updater added to the same struct stays.
        (
            [
                ("Apply", "me", {"one": {"name": "a"}}),
                ("Update", "it", {"one": {"name": "a", "size": 1}}),
                ("Apply", "me", None),
            ],
            {"one": {"size": 1}},
        ),
        (
            [
                ("Apply", "me", {"one": {"name": "a"}}),
                ("Update", "it", {"one": {"name": "a", "size": 1}}),
                ("Apply", "me", {"one": {}}),
            ],
            {"one": {"size": 1}},
        ),
        # What an updater has changed is its own.
        (
            [
                ("Apply", "me", {"one": {"name": "a"}}),
                ("Update", "it", {"one": {"name": "b", "size": 1}}),
                ("Apply", "me", None),
            ],
            {"one": {"name": "b", "size": 1}},
        ),
        # Entries of maps, one level down.
        (
            [
                ("Apply", "me", {"map": {"a": {"b": "x", "c": "y"}}}),
                ("Apply", "me", {"map": {"a": {"c": "z"}}}),
            ],
            {"map": {"a": {"c": "z"}}},
        ),
        (
            [("Apply", "me", {"map": {"a": {"b": "x"}}}), ("Apply", "me", {"map": {"b": {"b": "x"}}})],
            {"map": {"b": {"b": "x"}}},
        ),
        # Items that another applier has too stay, without what only the first one set in them.
        (
            [
                ("Apply", "one", {"list": [A, B, C]}),
                ("Apply", "two", {"list": [C, {"name": "d"}]}),
                ("Apply", "one", {"list": [A]}),
            ],
            {"list": [A, C, {"name": "d"}]},
        ),
        (
            [
                ("Apply", "one", {"list": [A, {"name": "b", "tags": ["c"]}]}),
                ("Apply", "two", {"list": [{"name": "b", "tags": ["d"]}]}),
                ("Apply", "one", {"list": [A]}),
            ],
            {"list": [A, {"name": "b", "tags": ["d"]}]},
        ),
        # An updater's field does not keep an item whose key has no owner.
        (
            [
                ("Apply", "me", {"list": [A, B]}),
                ("Update", "it", {"list": [A, {"name": "b", "size": 2}]}),
                ("Apply", "me", {"list": [A]}),
            ],
            {"list": [A]},
        ),
        # Nothing to apply: neither an empty list nor null takes what others have.
        ([("Apply", "me", {"list": [A], "one": A}), ("Apply", "it", {"list": []})], {"list": [A], "one": A}),
        ([("Apply", "me", {"list": [A], "one": A}), ("Apply", "it", {"one": None})], {"list": [A], "one": A}),
        # The applier's order, and new items after their neighbours.
        (
            [("Update", "it", {"list": [A, B, C]}), ("Apply", "me", {"list": [C, {"name": "x"}, A]})],
            {"list": [B, C, {"name": "x"}, A]},
        ),
        (
            [("Update", "it", {"list": [A, B]}), ("Apply", "me", {"list": [{"name": "x"}, B]})],
            {"list": [A, {"name": "x"}, B]},
        ),
    ],
)
def test_only_what_has_no_owner_any_more_goes(
    steps: list[tuple[str, str, Obj | None]], left: Obj | None
) -> None:
    assert run(TREES, *steps) == left


@pytest.mark.parametrize("left_out", [[], ["b"], ["a", "b"]])
def test_an_updater_that_became_an_applier_loses_nothing(left_out: list[str]) -> None:
    """What kubectl does with its client-side entry at the first server-side apply."""
    data = {"a": "1", "b": "2", "c": "3"}
    old = step(CONFIG_MAPS, None, "kubectl", config(**data), "Update")
    (entry,) = old["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:b": {}, "f:c": {}}}
    entry["operation"] = "Apply"
    wanted = {name: value for name, value in data.items() if name not in left_out}
    new = step(CONFIG_MAPS, old, "kubectl", config(**wanted))
    assert new["data"] == wanted
    assert new["metadata"]["name"] == "a"


def test_what_has_no_owner_stays() -> None:
    """A node's taints, which admission adds, and the metadata of an object that loses its labels."""
    nodes = find("", "v1", "nodes")
    body: Obj = {"metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {"podCIDR": "10.0.0.0/24"}}
    old = step(nodes, None, "me", body)
    old["spec"]["taints"] = [{"key": "x", "effect": "NoSchedule"}]
    new = step(nodes, old, "me", {"metadata": {"name": "n"}, "spec": {}})
    assert new["spec"] == {"taints": [{"key": "x", "effect": "NoSchedule"}]}
    assert new["metadata"]["name"] == "n"
    assert "labels" not in new["metadata"]


SPECS = st.fixed_dictionaries(
    {},
    optional={
        "one": st.fixed_dictionaries({}, optional={"name": st.sampled_from("ab"), "size": st.integers(1, 2)}),
        "map": st.dictionaries(
            st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.sampled_from("12")), max_size=2
        ),
        "list": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("abc")}, optional={"size": st.integers(1, 2)}),
            unique_by=lambda item: item["name"],
        ),
    },
)


def values(obj: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each plain value with its path; items of lists by their names."""
    if isinstance(obj, dict):
        for name, value in obj.items():
            yield from values(value, (*at, name))
    elif isinstance(obj, list):
        for item in obj:
            yield from values(item, (*at, f"[{item['name']}]"))
    else:
        yield at, obj


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["Apply", "Update"]), st.sampled_from("xyz"), SPECS), max_size=5))
def test_an_apply_leaves_what_it_sets_and_what_others_have(steps: list[tuple[str, str, Obj]]) -> None:
    old = step(TREES, None, "first", {"metadata": {"name": "a"}, "spec": {}})
    for operation, manager, spec in steps:
        before = dict(values(old.get("spec") or {}))
        entries = old["metadata"].get("managedFields") or []
        new = step(TREES, old, manager, {"metadata": {"name": "a"}, "spec": spec}, operation)
        after = dict(values(new.get("spec") or {}))
        assert after.items() >= dict(values(spec)).items()
        if operation == "Apply":
            mine = [e for e in entries if (e["operation"], e["manager"]) == ("Apply", manager)]
            owned_before = set(paths_of(mine[0]["fieldsV1"])) if mine else set()
            lost = {path for path in before if path not in after and before[path] is not None}
            for path in lost:  # only what this applier had itself, or what was in an item that it had
                text = [".spec" + shown(path[:end]) for end in range(1, len(path) + 1)]
                assert owned_before & set(text)
        old = new


def shown(path: tuple[str, ...]) -> str:
    return "".join(f'[name="{name[1:-1]}"]' if name.startswith("[") else f".{name}" for name in path)


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
