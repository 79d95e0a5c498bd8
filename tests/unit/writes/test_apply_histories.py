"""Applies and updates of several managers one after another: who loses what."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.kube.resources import Resource
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.entries import track_update
from ktui.writes.managedfields.fieldset import paths_of

from .objects import CONFIG_MAPS, resource

Obj = dict[str, Any]


def config_of(data: dict[str, str]) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def step(kind: Resource, old: Obj | None, manager: str, body: Obj, operation: str = "Apply") -> Obj:
    """Apply `body` (forced), or update the object to it; return the object."""
    if operation == "Update":
        new = copy.deepcopy(body)
        new["metadata"] = {**(old or {}).get("metadata", {}), **new.get("metadata", {})}
        track_update(old, new, manager=manager, time="t1", resource=kind)
        return new
    change = Apply(copy.deepcopy(body), manager, kind, force=True)
    new = change.merged(old) if old is not None else copy.deepcopy(body)
    change.track(old, new, "t2")
    return new


def run(kind: Resource, *steps: tuple[str, str, Obj | None]) -> Any:
    """Run (operation, manager, spec) one after another; return the spec that they leave."""
    old: Obj | None = None
    for operation, manager, spec in steps:
        body = {"metadata": {"name": "a"}, "spec": spec} if spec is not None else {"metadata": {"name": "a"}}
        old = step(kind, old, manager, body, operation)
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
    old = step(CONFIG_MAPS, None, "kubectl", config_of(data), "Update")
    (entry,) = old["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:b": {}, "f:c": {}}}
    entry["operation"] = "Apply"
    wanted = {name: value for name, value in data.items() if name not in left_out}
    new = step(CONFIG_MAPS, old, "kubectl", config_of(wanted))
    assert new["data"] == wanted
    assert new["metadata"]["name"] == "a"


def test_what_has_no_owner_stays() -> None:
    """A node's taints, which admission adds, and the metadata of an object that loses its labels."""
    nodes = resource("nodes")
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
