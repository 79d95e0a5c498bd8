"""How kube-apiserver's registry narrows a LIST."""

from __future__ import annotations

import pytest

from ktui.kube.resources import BUILTIN
from ktui.kube.routing.parameters import NAME, NAMESPACE, scope_of
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.versions import behaviour_of

PODS, NODES = BUILTIN.find("", "v1", "pods"), BUILTIN.find("", "v1", "nodes")
ALL = ("", "", False, False)


@pytest.mark.parametrize(
    ("resource", "namespace", "labels", "fields", "version", "continued", "expected"),
    [
        (PODS, None, "", "", "1.36", False, (*ALL, False)),
        (PODS, "a", "", "", "1.36", False, ("a", "", False, False, False)),
        (PODS, "a", "app=x", "", "1.36", False, ("a", "", False, False, True)),
        # One key, once it can be built.
        (PODS, "a", "", "metadata.name=x", "1.36", False, ("a", "x", True, False, False)),
        (PODS, None, "", "metadata.name=x", "1.36", False, (*ALL, True)),
        (NODES, None, "", "metadata.name=x", "1.36", False, ("", "x", True, False, False)),
        (PODS, "a", "", "metadata.name=x", "1.36", True, ("a", "", False, False, True)),
        # What cannot be part of a key is put to every object.
        (PODS, "a", "", "metadata.name=x/y", "1.36", False, ("a", "", False, False, True)),
        (NODES, None, "", "metadata.name=..", "1.36", False, (*ALL, True)),
        (PODS, "a", "", "metadata.name!=x", "1.36", False, ("a", "", False, False, True)),
        (PODS, "a", "", "metadata.name=x,spec.nodeName=n", "1.36", False, ("a", "x", True, False, True)),
        # Two names at once match nothing: the second one has to be put to the object.
        (PODS, "a", "", "metadata.name=x,metadata.name=y", "1.36", False, ("a", "x", True, False, True)),
        # One namespace, since 1.27 and only if it can be one.
        (PODS, None, "", "metadata.namespace=a", "1.27", False, ("a", "", False, True, False)),
        (PODS, None, "", "metadata.namespace=a", "1.26", False, (*ALL, True)),
        (PODS, None, "", "metadata.namespace=a", "1.36", True, (*ALL, True)),
        (PODS, None, "", "metadata.namespace=A_", "1.36", False, (*ALL, True)),
        (PODS, "b", "", "metadata.namespace=a", "1.36", False, ("b", "", False, False, True)),
        (
            PODS,
            None,
            "",
            f"{NAMESPACE}=a,{NAME}=x",
            "1.36",
            False,
            ("a", "x", True, True, False),
        ),
    ],
)
def test_narrowing(resource, namespace, labels, fields, version, continued, expected):
    scope = scope_of(
        namespace,
        None,
        LabelSelector.parse(labels),
        FieldSelector.parse(fields),
        behaviour_of(version),
        namespaced=resource.namespaced,
        continued=continued,
    )
    found = (scope.namespace, scope.name, scope.single, scope.narrowed, scope.selective)
    assert found == expected
