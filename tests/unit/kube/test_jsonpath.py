"""The JSONPath of printer columns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.tables.jsonpath import JSONPathError, find, first
from tests.unit.hanging import ends

OBJ: dict[str, Any] = {
    "metadata": {"name": "x", "labels": {"app.kubernetes.io/name": "web", "a": "1"}},
    "spec": {"ports": [{"n": 80}, {"n": 443}, {"m": 1}], "matrix": [[1, 2], [3]], "zero": 0, "nil": None},
    "status": {
        "conditions": [
            {"type": "Valid", "status": "False"},
            {"type": "Ready", "status": "True", "weight": 5},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".metadata.name", ["x"]),
        ("$.metadata.name", ["x"]),
        ("{.metadata.name}", ["x"]),
        (r".metadata.labels.app\.kubernetes\.io/name", ["web"]),
        (".metadata.labels['app.kubernetes.io/name']", ["web"]),
        (r".metadata.labels['app\.kubernetes\.io/name']", ["web"]),
        (".spec.ports[0].n", [80]),
        (".spec.ports[-2].n", [443]),
        (".spec.ports[9].n", []),
        (".spec.ports[*].n", [80, 443]),
        (".spec.ports[0:2].n", [80, 443]),
        (".spec.ports[1:].n", [443]),
        (".spec.matrix[0][1]", [2]),
        (".spec.zero", [0]),
        (".spec.nil", [None]),
        (".spec.none.at.all", []),
        (".metadata.name.deeper", []),
        (".status.conditions[?(@.type=='Ready')].status", ["True"]),
        ('.status.conditions[?(@.type == "Valid")].status', ["False"]),
        (".status.conditions[?(@.type!='Ready')].status", ["False"]),
        (".status.conditions[?(@.weight>4)].type", ["Ready"]),
        (".status.conditions[?(@.weight)].type", ["Ready"]),
        (".status.conditions[?(@.type<3)].type", []),
        (".metadata.labels.*", ["web", "1"]),
    ],
)
def test_find(path: str, values: list[Any]) -> None:
    assert list(find(path, OBJ)) == values


@pytest.mark.parametrize("path", ["metadata", ".a[", ".a[x]", ".a[?(@.b==c)]", "..a"])
def test_other_forms(path: str) -> None:
    with pytest.raises(JSONPathError):
        list(find(path, OBJ))
    assert first(path, OBJ) is None


def test_filters_are_read_in_linear_time() -> None:
    """The text is a definition's: 10,000 comparisons took a quarter of a minute, these would take hours."""
    for inside in (" ==" * 200_000, " " * 200_000, "=='" + "a" * 200_000, ")" * 200_000):
        with ends():
            first(f".a[?(@.{inside}x]", {"a": [1]})
            first(f".a[?(@.x{inside})]", {"a": [1]})


@given(st.text(alphabet=".[]*?@()='\"\\ab01:-", max_size=14))
def test_no_path_makes_it_fail_otherwise(path: str) -> None:
    first(path, OBJ)
