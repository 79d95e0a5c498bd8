"""The roles and bindings that kube-apiserver creates when it starts with RBAC, as 1.36 has them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.authz.roles import GROUP
from ktui.kube.resources import BUILTIN
from ktui.kube.status import StatusError
from ktui.writes.managedfields.entries import track_update
from ktui.writes.metadata.objectmeta import fill_new, timestamp

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

AT_ONCE = 16
MANAGER = "kube-apiserver"


async def create_default_roles(registry: Registry) -> None:
    """Create those that are not there; what is there is left as it is. StatusError when etcd refuses.

    (Upstream adds missing rules to those annotated with autoupdate; here they stay as they were changed.)
    """
    defaults: dict[str, list[dict[str, Any]]] = json.loads(
        (Path(__file__).parent / "data" / "default_roles.json").read_text()
    )
    places = asyncio.Semaphore(AT_ONCE)

    async def create(name: str, obj: dict[str, Any]) -> None:
        resource = BUILTIN.find(GROUP, "v1", name)
        assert resource is not None
        new = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        fill_new(new, resource, obj["metadata"].get("namespace", ""))
        track_update(None, new, manager=MANAGER, time=timestamp(), resource=resource)
        async with places:
            try:
                await registry.for_resource(resource).store.create(new)
            except StatusError as error:
                if error.reason != "AlreadyExists":
                    raise

    async with asyncio.TaskGroup() as group:
        for name, objects in defaults.items():
            for obj in objects:
                group.create_task(create(name, obj))
