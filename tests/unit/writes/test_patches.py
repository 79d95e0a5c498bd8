"""The three patch languages."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.golang.formatting import go_value
from ktui.kube.resources import BUILTIN
from ktui.wire.schema import META
from ktui.writes.patches.converter import conversion_fault, converted
from ktui.writes.patches.jsonpatch import PatchFailed, json_patch, merge_patch
from ktui.writes.patches.patch_documents import of_json_patch, of_merge_patch, patched_text
from ktui.writes.patches.strategic import BadDirective, BadItem, BadList, consumed, strategic_merge
from tests.unit.growth import Compared, growth

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [  # the examples of RFC 7386, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result


@given(JSON, JSON)
def test_merge_patch_is_idempotent_and_leaves_its_inputs_alone(target: Any, patch: Any) -> None:
    before = copy.deepcopy((target, patch))
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once
    assert (target, patch) == before


@pytest.mark.parametrize(
    ("target", "operations", "result"),
    [
        ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"l": [1, 3]}, [{"op": "add", "path": "/l/1", "value": 2}], {"l": [1, 2, 3]}),
        ({"l": [1]}, [{"op": "add", "path": "/l/-", "value": 2}], {"l": [1, 2]}),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": 1}, [{"op": "replace", "path": "/a", "value": None}], {"a": None}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a/b": 1, "m~n": 2}, [{"op": "test", "path": "/a~1b", "value": 1}], {"a/b": 1, "m~n": 2}),
        ({"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/m~0n"}], {"a/b": 1}),
        ({"": {"": 1}}, [{"op": "replace", "path": "//", "value": 2}], {"": {"": 2}}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"z": 1}}], {"z": 1}),
        ({"a": 1}, [], {"a": 1}),
        ({"a": 1}, [{"op": "add", "path": "/b"}], {"a": 1, "b": None}),  # as if it were null
        ({"a": 1}, [{"op": "replace", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"a": 1}, [{"op": "copy", "from": "/c", "path": "/b"}], {"a": 1, "b": None}),
        ({"a": 1}, [{"op": "add", "path": "ignored/b", "value": 2}], {"a": 1, "b": 2}),
        ({"l": [1, 2]}, [{"op": "add", "path": "/l/-1", "value": 3}], {"l": [1, 2, 3]}),
        ({"l": [1, 2]}, [{"op": "replace", "path": "/l/-1", "value": 3}], {"l": [1, 3]}),
        ({"l": [1, 2]}, [{"op": "remove", "path": "/l/+01"}], {"l": [1]}),
    ],
)
def test_json_patch(target: Any, operations: list[Any], result: Any) -> None:
    assert json_patch(target, operations) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nope"},
        {"op": "replace", "path": "/nope/x", "value": 1},
        {"op": "replace", "path": "", "value": 1},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "/l/9", "value": 1},
        {"op": "add", "path": "/l/x", "value": 1},
        {"op": "add", "path": "/l/-3", "value": 1},
        {"op": "remove", "path": "/l/1"},
        {"op": "add", "path": "b", "value": 1},
        {"op": "test", "path": "/a", "value": True},
        {"op": "test", "path": "/a", "value": 1.0},
        {"op": "move", "path": "/b"},
        {"op": "bogus", "path": "/a"},
        {"op": "add"},
        "add",
    ],
)
def test_a_failing_operation_changes_nothing(operation: Any) -> None:
    target = {"a": 1, "l": [1]}
    with pytest.raises(PatchFailed):
        json_patch(target, [{"op": "add", "path": "/new", "value": 1}, operation])
    assert target == {"a": 1, "l": [1]}


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.text(max_size=4), JSON)
def test_what_was_added_can_be_removed_again(target: dict[str, Any], name: str, value: Any) -> None:
    target.pop(name, None)
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    added = json_patch(target, [{"op": "add", "path": path, "value": value}])
    assert added == {**target, name: value}
    assert json_patch(added, [{"op": "remove", "path": path}]) == target


ONE, TWO = {"name": "one", "image": "i:1"}, {"name": "two", "image": "i:1"}
POD = {"spec": {"containers": [ONE, TWO]}}
NAMES = [{"name": "two"}, {"name": "x"}, {"name": "one"}]


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        (
            POD,
            {"spec": {"containers": [{"name": "two", "image": "i:3"}]}},
            {"spec": {"containers": [{"name": "one", "image": "i:1"}, {"name": "two", "image": "i:3"}]}},
        ),
        (
            POD,
            {"spec": {"containers": [{"name": "x"}, {"name": "y"}]}},
            {"spec": {"containers": [{"name": "x"}, {"name": "y"}, ONE, TWO]}},
        ),
        (
            POD,
            {"spec": {"containers": [{"name": "one", "$patch": "delete"}]}},
            {"spec": {"containers": [{"name": "two", "image": "i:1"}]}},
        ),
        (
            POD,
            {"spec": {"containers": [{"$patch": "replace"}, {"name": "x"}]}},
            {"spec": {"containers": [{"name": "x"}]}},
        ),
        ({"spec": {"x": 1}}, {"spec": {"$patch": "replace", "y": 2}}, {"spec": {"y": 2}}),
        ({"spec": {"x": 1}}, {"spec": {"x": None}}, {"spec": {}}),
        ({"spec": {}}, {"spec": {"overhead": {"x": None, "y": "1"}}}, {"spec": {"overhead": {"y": "1"}}}),
        (
            {"metadata": {"finalizers": ["a"]}},
            {"metadata": {"finalizers": ["b", "a"]}},
            {"metadata": {"finalizers": ["b", "a"]}},
        ),
        (
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
            {"metadata": {"finalizers": ["b"]}},
        ),
        (
            POD,
            {"spec": {"containers": [{"name": "x"}], "$setElementOrder/containers": NAMES}},
            {"spec": {"containers": [TWO, {"name": "x"}, ONE]}},
        ),
        (POD, {"spec": {"$setElementOrder/containers": NAMES[:1]}}, {"spec": {"containers": [ONE, TWO]}}),
    ],
)
def test_strategic_merge(target: Any, patch: Any, result: Any) -> None:
    before = copy.deepcopy((target, patch))
    assert strategic_merge(target, patch, "core.v1.Pod") == result
    assert (target, patch) == before


PORTS = [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "protocol": "TCP"}]
TAINTS = [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]
NEW = {"name": "two", "image": "n"}
AT, AGAIN = {"path": "/"}, {"port": 80, "targetPort": 2}
A, B = {"type": "A", "name": "a", "ip": "1"}, {"type": "B", "name": "b", "ip": "2"}
UNION = {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": AT, "emptyDir": None}
GONE = {"name": "one", "$patch": "delete"}
HOOKS = "admissionregistration.v1.ValidatingWebhook"


@pytest.mark.parametrize(
    ("message", "field", "target", "patch", "result"),
    [
        # Atomic, whatever their names: the whole list is replaced.
        ("core.v1.NodeSpec", "taints", TAINTS, TAINTS[:1], TAINTS[:1]),
        ("core.v1.NodeSpec", "taints", TAINTS[:1], TAINTS, TAINTS),
        ("core.v1.NamespaceSpec", "finalizers", ["a"], ["b"], ["b"]),
        ("discovery.v1.EndpointSlice", "ports", [{"port": 80}], [{"port": 81}], [{"port": 81}]),
        ("apiextensions.v1.CustomResourceDefinitionSpec", "versions", [ONE], [TWO], [TWO]),
        # Keyed lists.
        (f"{HOOKS}Configuration", "webhooks", [ONE, TWO], [NEW], [ONE, NEW]),
        (HOOKS, "matchConditions", [ONE, TWO], [NEW], [ONE, NEW]),
        ("admissionregistration.v1.ValidatingAdmissionPolicySpec", "variables", [TWO], [NEW], [NEW]),
        ("storage.v1.CSINodeSpec", "drivers", [ONE, TWO], [NEW], [ONE, NEW]),
        ("batch.v1.JobStatus", "conditions", [A], [B], [B, A]),
        ("core.v1.ServiceAccount", "secrets", [A], [B], [B, A]),
        ("core.v1.PodStatus", "hostIPs", [A], [B], [B, A]),
        ("core.v1.PodStatus", "resourceClaimStatuses", [A], [B], [B, A]),
        ("core.v1.PodSpec", "imagePullSecrets", [A], [B], [B, A]),
        ("core.v1.Container", "ports", PORTS, [PORTS[1] | A], [PORTS[0], PORTS[1] | A]),
        ("core.v1.ServiceSpec", "ports", [{"port": 80, "targetPort": 1}], [AGAIN], [AGAIN]),
        # kubectl sends retained keys for unions.
        (
            "core.v1.PodSpec",
            "volumes",
            [{"name": "v", "emptyDir": {}}],
            [UNION],
            [{"name": "v", "hostPath": AT}],
        ),
        # All items of a key are deleted.
        ("core.v1.PodSpec", "containers", [ONE, TWO, ONE], [GONE], [TWO]),
    ],
)
def test_lists_merge_by_the_rules_of_their_types(
    message: str, field: str, target: list[Any], patch: list[Any], result: list[Any]
) -> None:
    assert strategic_merge({field: target}, {field: patch}, message) == {field: result}


def test_retained_keys_include_those_of_the_patch() -> None:
    live = {"type": "x", "rollingUpdate": {}}
    patch: dict[str, Any] = {"$retainKeys": ["type"], "type": "z"}
    spec = strategic_merge({"strategy": live}, {"strategy": patch}, "apps.v1.DeploymentSpec")
    assert spec == {"strategy": {"type": "z"}}
    for wrong in (patch | {"rollingUpdate": {}}, {"$retainKeys": "type"}):
        with pytest.raises(BadDirective, match="invalid patch format of retainKeys"):
            strategic_merge({"strategy": live}, {"strategy": wrong})


@pytest.mark.parametrize(
    ("server", "patch", "order", "result"),
    [
        ("ab", "", "ab", "ab"),
        ("abc", "", "ca", "bca"),
        ("abcd", "", "db", "acdb"),
        ("abc", "d", "dabc", "dabc"),
        ("abc", "d", "d", "dabc"),
        ("ab", "xy", "xayb", "xayb"),
    ],
)
def test_the_order_of_merged_items(server: str, patch: str, order: str, result: str) -> None:
    def items(names: str) -> list[Any]:
        return [{"name": name} for name in names]

    document: dict[str, Any] = {"$setElementOrder/containers": items(order)}
    if patch:
        document["containers"] = items(patch)
    merged = strategic_merge({"containers": items(server)}, document, "core.v1.PodSpec")
    assert "".join(item["name"] for item in merged["containers"]) == result


def test_an_unknown_directive_is_refused() -> None:
    with pytest.raises(BadItem, match=r"unknown patch type: explode in map: map\[\$patch:explode\]"):
        strategic_merge({"a": {}}, {"a": {"$patch": "explode"}})


@pytest.mark.parametrize(
    ("touched", "text"),
    [
        ({}, '{"a":{"y":1,"x":{"n":1,"m":2}},"b":[{"y":1,"x":2}]}'),
        (None, '{"a":{"x":{"m":2,"n":1},"y":1},"b":[{"x":2,"y":1}]}'),
        (of_merge_patch({"a": {"z": 1}, "b": 5}), '{"a":{"x":{"n":1,"m":2},"y":1},"b":[{"y":1,"x":2}]}'),
        (
            of_json_patch([{"op": "add", "path": "/b/0/z", "value": 1}]),
            '{"a":{"y":1,"x":{"n":1,"m":2}},"b":[{"x":2,"y":1}]}',
        ),
        (
            of_json_patch([{"op": "move", "from": "/a/x/m", "path": "/c"}, "nonsense"]),
            '{"a":{"x":{"m":2,"n":1},"y":1},"b":[{"y":1,"x":2}]}',
        ),
    ],
)
def test_only_what_a_patch_goes_into_is_sorted(touched: dict[str, Any] | None, text: str) -> None:
    patched = {"b": [{"y": 1, "x": 2}], "a": {"y": 1, "x": {"n": 1, "m": 2}}}
    assert patched_text(patched, touched) == text


def test_copies_do_not_grow_without_bound() -> None:
    double = {"op": "copy", "from": "/a", "path": "/a/-"}
    with pytest.raises(PatchFailed, match="exceed the limit"):
        json_patch({"a": ["x" * 1000]}, [double] * 40)
    deeper = {"op": "copy", "from": "/a", "path": "/a" * 60}
    tree: dict[str, object] = {}
    for _ in range(60):
        tree = {"a": tree}
    with pytest.raises(PatchFailed, match="depth"):
        json_patch(tree, [deeper, {**deeper, "path": "/a" * 119}, {**deeper, "path": "/a" * 150}])


@pytest.mark.parametrize(
    ("target", "patch", "why"),
    [
        ({"env": []}, {"env": [{"value": "v"}]}, "map[value:v] does not contain declared merge key: name"),
        ({"env": []}, {"env": [{"name": "a", "$patch": "merge"}]}, "merging lists cannot yet be specified"),
        (
            {"env": ["x"]},
            {"env": [{"name": "a"}]},
            "list element types are not identical: [[x] [map[name:a]]]",
        ),
        ({"env": [5]}, {"env": [5.5]}, "list element types are not identical: [[5] [5.5]]"),
        ({}, {"$setElementOrder/env": "x"}, "expected a []interface {}, but received a string"),
        (
            {"env": [{"name": "a"}]},
            {"env": [{"name": "b"}], "$setElementOrder/env": [{"name": "a"}]},
            "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
        ),
        ({}, {"data": {"a": "1"}, "$patch": "merge"}, "unknown patch type: merge in map: map[$patch:merge"),
    ],
)
def test_items_and_directives_that_upstream_cannot_use(target: Any, patch: Any, why: str) -> None:
    with pytest.raises(BadItem, match=re.escape(why)):
        strategic_merge(target, patch, "core.v1.Container")


def test_lists_of_lists_cannot_be_merged() -> None:
    with pytest.raises(BadList):
        strategic_merge({"env": [["x"]]}, {"env": ["y"]}, "core.v1.Container")


def test_of_a_missing_list_nothing_is_looked_for() -> None:
    assert strategic_merge({}, {"ownerReferences": [{"name": "x"}]}) == {"ownerReferences": [{"name": "x"}]}


def test_a_directive_about_a_missing_map_is_dropped() -> None:
    assert strategic_merge({}, {"labels": {"$patch": "replace", "only": "this"}}) == {}


# The steps of merges grow with their input only. Comparisons in C code are counted by `Compared`.


def _merge(target: Any, patch: Any) -> Any:
    return strategic_merge(target, patch, META if "finalizers" in target else "core.v1.PodSpec")


def _containers(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [{"name": Compared(f"c{n}"), "image": "i"} for n in range(first, first + count)]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: ({"containers": _containers(n)}, {"containers": _containers(n, first=n)}),
        lambda n: ({"containers": _containers(n)}, {"containers": _containers(n)[::-1]}),
        lambda n: (
            {"containers": _containers(n)},
            {"containers": [{"name": Compared(f"c{i}"), "$patch": "delete"} for i in range(n)]},
        ),
        lambda n: (
            {"finalizers": [Compared(f"a/{i}") for i in range(n)]},
            {"finalizers": [Compared(f"b/{i}") for i in range(n)]},
        ),
        lambda n: (
            {"finalizers": [Compared(f"a/{i}") for i in range(n)]},
            {"$deleteFromPrimitiveList/finalizers": [Compared(f"b/{i}") for i in range(n)]},
        ),
        lambda n: (
            {"a": {Compared(f"k{i}"): 1 for i in range(n)}},
            {"a": {"$retainKeys": [Compared(f"r{i}") for i in range(n)]}},
        ),
    ],
    ids=["new items", "same items", "deleted items", "set", "removed from a set", "retained keys"],
)
def test_the_steps_of_a_strategic_merge_grow_with_its_input_only(make: Callable[[int], Any]) -> None:
    assert growth(_merge, make, 200) < 2.3
    target, patch = make(1000)
    Compared.count = 0
    _merge(target, patch)
    assert Compared.count < 20_000


def test_items_with_odd_keys_are_found() -> None:
    patch = [{"name": ["odd"], "image": "5"}, {"name": ["odd"], "command": ["c"]}]
    merged = strategic_merge({"containers": [ONE]}, {"containers": patch}, "core.v1.PodSpec")
    assert merged["containers"] == [{"name": ["odd"], "image": "5", "command": ["c"]}, ONE]
    with pytest.raises(BadItem, match="does not contain declared merge key"):
        strategic_merge({"containers": [{"image": "i"}]}, {"containers": patch}, "core.v1.PodSpec")


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ({"metadata": {"labels": {"$patch": "replace", "a": "b"}}}, "map[metadata:map[labels:map[a:b]]]"),
        ({"$setElementOrder/finalizers": ["a"], "finalizers": ["a"], "spec": 1.5}, "map[spec:1.5]"),
        ({"$retainKeys": ["a"], "a": {"$deleteFromPrimitiveList/b": ["c"]}},
         "map[a:map[$deleteFromPrimitiveList/b:[c]]]"),
    ],
)  # fmt: skip
def test_a_strategic_patch_is_shown_as_merging_leaves_it(patch: Any, shown: str) -> None:
    assert go_value(consumed(patch)) == shown


QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ([], "cannot restore struct from: slice"),
        ({"containers": {"a": 1}}, "cannot restore slice from map"),
        ({"containers": [True]}, "cannot restore struct from: bool"),
        ({"nodeSelector": 5}, "cannot restore map from int64"),
        ({"nodeSelector": 1 << 63}, "cannot restore map from float64"),
        ({"nodeSelector": {"a": []}}, "unrecognized type: string"),
        ({"nodeName": 5}, "cannot convert int64 to string"),
        ({"hostNetwork": "x"}, "unrecognized type: bool"),
        ({"activeDeadlineSeconds": 1.5}, "cannot convert float64 to int64"),
        ({"restartPolicy": 5}, "cannot convert int64 to v1.RestartPolicy"),
        ({"volumes": [{"name": "a", "emptyDir": {"medium": 5}}]}, "cannot convert int64 to v1.StorageMedium"),
        ({"volumes": [{"emptyDir": {"sizeLimit": "a"}}]}, QUANTITY),
        (
            {
                "containers": [
                    {"ports": [{"containerPort": "a"}], "livenessProbe": {"httpGet": {"port": True}}}
                ]
            },
            "unrecognized type: int32",
        ),
        (
            {"containers": [{"livenessProbe": {"httpGet": {"port": True}}}]},
            "json: cannot unmarshal bool into Go value of type int32",
        ),
        ({"schedulerName": [], "hostname": {}, "nodeSelector": 5}, "cannot restore map from int64"),
        ({"activeDeadlineSeconds": 2.0, "nodeName": None, "containers": [None], "x": 1}, ""),
    ],
)
def test_errors_of_the_converter(spec: Any, fault: str) -> None:
    pods, secrets = (BUILTIN.find("", "v1", name) for name in ("pods", "secrets"))
    assert pods and secrets
    assert conversion_fault({"spec": spec}, pods) == fault
    why = "error decoding from json: illegal base64 data at input byte 0"
    assert conversion_fault({"data": {"a": "-x"}}, secrets) == why
    assert conversion_fault({"data": {"a": [1, {}]}}, secrets) == "unrecognized type: uint8"
    assert conversion_fault({"data": {"a": [1, None, 2.0]}}, secrets) == ""
    assert converted({"data": {"a": [257, None, 2.0]}}, secrets) == {"data": {"a": [1, 0, 2]}}


@pytest.mark.parametrize(
    ("sent", "typed"),
    [(5, 5), (2.0, 2), (1 << 31, -(1 << 31)), ((1 << 32) + 7, 7), (1 << 63, 0), (9.3e18, 0), (None, None)],
)
def test_numbers_of_the_converter(sent: Any, typed: Any) -> None:
    deployments = BUILTIN.find("apps", "v1", "deployments")
    assert deployments
    assert converted({"spec": {"replicas": sent}}, deployments) == {"spec": {"replicas": typed}}


def test_objects_in_lists_that_a_merge_patch_sets_are_sorted() -> None:
    patch = {"rules": [{"verbs": [{"z": 1, "y": 2}], "a": 1}]}
    assert patched_text(patch, of_merge_patch(patch)) == '{"rules":[{"a":1,"verbs":[{"y":2,"z":1}]}]}'
