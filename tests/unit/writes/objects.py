"""Objects and resources that the tests of the write path share."""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import BUILTIN, Resource
from ktui.wire.stored_codec import StoredCodec

Obj = dict[str, Any]


def resource(name: str, group: str = "", version: str = "v1") -> Resource:
    found = BUILTIN.find(group, version, name)
    assert found is not None
    return found


PODS, CONFIG_MAPS = resource("pods"), resource("configmaps")
knows = StoredCodec().knows


def config_map(**metadata: Any) -> Obj:
    base = {"name": "c", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**base, **metadata}, "data": {"a": "1"}}


def pod(**members: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "c", "namespace": "shop", "generation": 1},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Pending"},
        **members,
    }
