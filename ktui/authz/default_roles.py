"""The roles and bindings that kube-apiserver creates when it starts with RBAC (1.36)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.authz.roles import GROUP
from ktui.kube.resources import BUILTIN
from ktui.writes.bootstrap.creation import create_missing

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry


async def create_default_roles(registry: Registry) -> None:
    """Create the default roles that do not exist; existing ones stay unchanged. StatusError if etcd refuses.

    (Upstream adds missing rules to roles annotated with autoupdate; here they keep their changes.)
    """
    defaults: dict[str, list[dict[str, Any]]] = json.loads(
        (Path(__file__).parent / "data" / "default_roles.json").read_text()
    )

    def whole(name: str, obj: dict[str, Any]) -> dict[str, Any]:
        resource = BUILTIN.find(GROUP, "v1", name)
        assert resource is not None
        return {"apiVersion": resource.api_version, "kind": resource.kind, **obj}

    await create_missing(
        registry, (whole(name, obj) for name, objects in defaults.items() for obj in objects)
    )
