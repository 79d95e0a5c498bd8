"""Remove the finalizer of deleted claims and volumes that are not in use, as kube-controller-manager does.

Admission sets it; without this controller `kubectl delete pvc` would wait forever. Upstream:
pkg/controller/volume/pvcprotection and pvprotection.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.cacher.requests import ListRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.status import StatusError
from ktui.storage.objects import EVERYTHING
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import Slices
from ktui.writes.before_create import PROTECTED
from ktui.writes.marked_objects import MarkedObjects
from ktui.writes.objectmeta import metadata_of
from ktui.writes.stored_objects import builtin

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry
    from ktui.kube.resources import Resource

Obj = dict[str, Any]

RETRY_SECONDS = 1.0  # while a pod uses the claim, or the volume is bound


class StorageProtection:
    """Follows claims and volumes until `stop`.

    Only for an etcd that ktui has started: another has a kube-controller-manager.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._marked = [
            MarkedObjects(registry, _resource(kind), partial(_is_held, kind), partial(self._release, kind))
            for kind in PROTECTED
        ]

    def start(self) -> None:
        for marked in self._marked:
            marked.start()

    async def stop(self) -> None:
        for marked in self._marked:
            await marked.stop()

    async def _release(self, kind: str, namespace: str, name: str) -> None:
        """Wait until the object is not in use, then remove the finalizer."""
        while True:
            if not await self._is_used(kind, namespace, name):
                break
            await asyncio.sleep(RETRY_SECONDS)

        def released(old: Obj) -> Obj | None:
            if not _is_held(kind, old):
                raise NoWrite
            metadata = dict(metadata_of(old))
            metadata["finalizers"] = [f for f in metadata["finalizers"] if f != PROTECTED[kind]]
            return {**old, "metadata": metadata} if metadata["finalizers"] else None

        try:
            await self._registry.for_resource(_resource(kind)).store.update(namespace or None, name, released)
        except StatusError as error:
            if error.code != 404:
                raise

    async def _is_used(self, kind: str, namespace: str, name: str) -> bool:
        """True for a bound volume, and for a claim that a scheduled pod names.

        As in upstream a pod that has ended counts, and one without a node does not: no kubelet starts it with
        a claim that is deleted.
        """
        if kind == "PersistentVolume":
            volume, _ = await self._registry.for_resource(_resource(kind)).store.get(None, name)
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


def _resource(kind: str) -> Resource:
    return builtin("", f"{kind.lower()}s")


def _is_held(kind: str, obj: Obj) -> bool:
    metadata = metadata_of(obj)
    return bool(metadata.get("deletionTimestamp")) and PROTECTED[kind] in (metadata.get("finalizers") or [])
