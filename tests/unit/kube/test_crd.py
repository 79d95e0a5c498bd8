"""Resources from CustomResourceDefinitions."""

import random
from typing import Any

from ktui.kube.crd import resources_of, version_priority

_NAMES = {
    "plural": "widgets",
    "singular": "widget",
    "kind": "Widget",
    "shortNames": ["wd"],
    "categories": ["toys"],
}


def _v1() -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "spec": {
            "group": "example.io",
            "names": _NAMES,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1beta1",
                    "served": True,
                    "storage": False,
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
                    ],
                },
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "selectableFields": [{"jsonPath": ".spec.color"}],
                    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas"}},
                },
                {"name": "v1alpha1", "served": False, "storage": False},
            ],
        },
    }


def test_one_resource_a_served_version_preferred_first() -> None:
    new, old = resources_of(_v1())
    assert (new.version, old.version) == ("v1", "v1beta1")
    assert new.versions == old.versions == ("v1", "v1beta1")
    assert new.prefix == old.prefix == "example.io/widgets/"
    assert new.storage_version == old.storage_version == "example.io/v1"
    assert new.encoding == "json"
    assert new.custom
    assert (new.short_names, new.categories, new.list_kind) == (("wd",), ("toys",), "WidgetList")


def test_what_differs_by_version() -> None:
    new, old = resources_of(_v1())
    assert new.field_selectors == ("metadata.name", "metadata.namespace", "spec.color")
    assert old.field_selectors == ("metadata.name", "metadata.namespace")
    assert new.subresources == ("status", "scale")
    assert old.subresources == ()
    assert [c.name for c in new.columns] == ["Age"]
    assert [(c.name, c.type, c.source) for c in old.columns] == [("Size", "integer", ".spec.size")]


def test_the_stored_form_says_it_once_for_all_versions() -> None:
    stored = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "spec": {
            "group": "example.io",
            "version": "v1",
            "names": {"plural": "gauges", "kind": "Gauge", "listKind": "Gauges"},
            "scope": "Cluster",
            "additionalPrinterColumns": [{"name": "Level", "type": "number", "JSONPath": ".status.level"}],
            "selectableFields": [{"jsonPath": ".spec.unit"}],
            "subresources": {"status": {}},
        },
    }
    (gauge,) = resources_of(stored)
    assert not gauge.namespaced
    assert (gauge.singular, gauge.list_kind) == ("gauge", "Gauges")
    assert gauge.columns[0].source == ".status.level"
    assert gauge.field_selectors == ("metadata.name", "spec.unit")
    assert gauge.subresources == ("status",)
    assert gauge.storage_version == "example.io/v1"


def test_version_priority() -> None:
    wanted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    shuffled = random.Random(4).sample(wanted, len(wanted))
    assert sorted(shuffled, key=version_priority) == wanted
