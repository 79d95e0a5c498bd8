"""Remove the finalizer of deleted claims and volumes that are not in use, as kube-controller-manager does.

Admission sets it; without this controller `kubectl delete pvc` would wait forever. Upstream:
pkg/controller/volume/pvcprotection and pvprotection.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from ktui.cacher.cacher_requests import ListRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import builtin
from ktui.storage.objects import EVERYTHING
from ktui.telemetry.off_loop import Slices
from ktui.writes.before_create import PROTECTED
from ktui.writes.deletion_controller import DeletionController, release
from ktui.writes.objectmeta import metadata_of

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.kube.resources import Resource
    from ktui.storage.store import Store

Obj = dict[str, Any]

RETRY_SECONDS = 1.0  # while a pod uses the claim, or the volume is bound


class StorageProtection(DeletionController):
    """Only for an etcd that ktui has started: another has a kube-controller-manager."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        resources = [builtin("", f"{kind.lower()}s") for kind in PROTECTED]
        super().__init__(registry, resources, _is_held, self._release)

    async def _release(self, resource: Resource, namespace: str, name: str) -> None:
        """Wait until the object is not in use, then remove the finalizer."""
        store = self._registry.for_resource(resource).store
        while True:
            if not await self._is_used(store, namespace, name):
                break
            await asyncio.sleep(RETRY_SECONDS)
        await release(store, namespace, name, [PROTECTED[resource.kind]], _is_held)

    async def _is_used(self, store: Store, namespace: str, name: str) -> bool:
        """True for a bound volume, and for a claim that a scheduled pod names.

        As in upstream a pod that has ended counts, and one without a node does not: no kubelet starts it with
        a claim that is deleted.
        """
        if store.resource.kind == "PersistentVolume":
            volume, _ = await store.get(None, name)
            return volume is not None and _phase(json.loads(volume.full_json())) == "Bound"
        cacher = self._registry.for_resource(builtin("", "pods"))
        await cacher.ready()
        pods = await cacher.list(ListRequest(namespace, None, ListOptions(), EVERYTHING))
        slices, text = Slices(), name.encode()
        for stored in pods.objects:
            if text in stored.raw:  # few of the namespace's pods have to be decoded
                pod: Obj = json.loads(stored.full_json())
                if (pod.get("spec") or {}).get("nodeName") and name in _claims_of(pod):
                    return True
            await slices.yield_if_due()
        return False


def _claims_of(pod: Obj) -> set[str]:
    volumes = (pod.get("spec") or {}).get("volumes") or []
    return {(volume.get("persistentVolumeClaim") or {}).get("claimName", "") for volume in volumes}


def _phase(obj: Obj) -> str:
    return str((obj.get("status") or {}).get("phase", ""))


def _is_held(obj: Obj) -> bool:
    metadata, finalizer = metadata_of(obj), PROTECTED.get(obj.get("kind", ""), "")
    return bool(metadata.get("deletionTimestamp")) and finalizer in (metadata.get("finalizers") or [])
