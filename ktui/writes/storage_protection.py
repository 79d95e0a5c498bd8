"""Remove the finalizer of deleted claims and volumes that are not in use, as kube-controller-manager does.

Admission sets it; without this controller `kubectl delete pvc` would wait forever. Upstream:
pkg/controller/volume/pvcprotection and pvprotection.
"""

from __future__ import annotations

import json

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.storage.objects import StoredObject
from ktui.writes.before_create import PROTECTED
from ktui.writes.objectmeta import metadata_of
from ktui.writes.server_controller import DELETED, Key, ServerController, release

RETRY_SECONDS = 1.0  # while a pod uses the claim, or the volume is bound


class StorageProtection(ServerController):
    """Reconciles deleted claims and volumes: (resource, namespace, name).

    Only for an etcd that ktui has started: another has a kube-controller-manager.
    """

    NAME = "the controller of deleted claims and volumes"

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, *(builtin("", f"{kind.lower()}s") for kind in PROTECTED))

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if type_ != DELETED and _is_held(json.loads(obj.full_json())):
            self.add((resource.id, obj.namespace, obj.name))

    async def reconcile(self, key: Key) -> float:
        """Remove the finalizer once the object is not in use."""
        resource_id, namespace, name = key
        resource = self.resources[resource_id]
        if await self._is_used(resource, namespace, name):
            return RETRY_SECONDS
        await release(self.store(resource), namespace, name, [PROTECTED[resource.kind]], _is_held)
        return 0

    async def _is_used(self, resource: Resource, namespace: str, name: str) -> bool:
        """True for a bound volume, and for a claim that a scheduled pod names.

        As in upstream a pod that has ended counts, and one without a node does not: no kubelet starts it with
        a claim that is deleted.
        """
        if resource.kind == "PersistentVolume":
            volume, _ = await self.store(resource).get(None, name)
            return volume is not None and _phase(json.loads(volume.full_json())) == "Bound"
        async for _, pod in self.objects(builtin("", "pods"), namespace, name):
            if (pod.get("spec") or {}).get("nodeName") and name in _claims_of(pod):
                return True
        return False


def _claims_of(pod: Obj) -> set[str]:
    volumes = (pod.get("spec") or {}).get("volumes") or []
    return {(volume.get("persistentVolumeClaim") or {}).get("claimName", "") for volume in volumes}


def _phase(obj: Obj) -> str:
    return str((obj.get("status") or {}).get("phase", ""))


def _is_held(obj: Obj) -> bool:
    metadata, finalizer = metadata_of(obj), PROTECTED.get(obj.get("kind", ""), "")
    return bool(metadata.get("deletionTimestamp")) and finalizer in (metadata.get("finalizers") or [])
