"""Writes as kube-apiserver's etcd3 store makes them: transactions on mod_revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec.json

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import KV
from ktui.kube import status
from ktui.kube.resources import Resource
from ktui.storage.errors import writing
from ktui.storage.keys import Keys
from ktui.storage.leases import Leases
from ktui.storage.objects import Reader, StoredObject
from ktui.telemetry.meter import current_meter
from ktui.wire.codec import encode_object

Change = Callable[[dict[str, Any]], dict[str, Any]]


class Writer:
    """Creates, updates and deletes objects of one resource. Every method may raise StatusError.

    Objects come finished (uid, times, generation): here they only lose their resourceVersion.
    """

    def __init__(
        self, client: EtcdClient, resource: Resource, keys: Keys, reader: Reader, leases: Leases
    ) -> None:
        self._client = client
        self._resource = resource
        self._keys = keys
        self._reader = reader
        self._leases = leases

    async def create(self, obj: dict[str, Any], ttl: int = 0) -> StoredObject:
        """Put a new object, to be gone after `ttl` seconds (0: never). 409 when its key is taken."""
        metadata = obj["metadata"]
        name = metadata["name"]
        key = self._keys.of(metadata.get("namespace"), name)
        with writing(self._resource, name, "create"):
            raw = self._encode(obj)
            lease = await self._lease(ttl)
            result = await self._client.create(key, raw, lease)
        if not result.succeeded:
            raise status.already_exists(self._resource, name)
        return self._reader.object(KV(key, raw, result.revision, result.revision, 1, lease))

    async def update(
        self,
        namespace: str | None,
        name: str,
        change: Change,
        *,
        expected_rv: int | None = None,
        cached: StoredObject | None = None,
        upsert: bool = False,
        ttl: int = 0,
    ) -> StoredObject:
        """Read, change, write if nobody else has, and again if somebody has: GuaranteedUpdate.

        `change` gets the object as JSON ({} for a missing one with `upsert`) and may be
        called several times. With `cached` the first attempt saves the read; what fails
        over a cached state is tried once more over etcd's. A change that leaves the
        bytes as they are is not written. 404, or 409 unless it is at `expected_rv`.
        """
        key = self._keys.of(namespace, name)
        with writing(self._resource, name, "update"):
            current, fresh = cached, cached is None
            if fresh:
                current = await self._read(key)
            while True:
                try:
                    raw = self._changed(current, name, change, expected_rv, upsert)
                except Exception:
                    if fresh:
                        raise
                    current, fresh = await self._read(key), True
                    continue
                if current is not None and raw == current.raw:
                    if fresh:
                        return current
                    current, fresh = await self._read(key), True
                    continue
                written, current = await self._put(key, raw, current, ttl)
                if written is not None:
                    return written
                fresh = True

    async def delete(
        self,
        namespace: str | None,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        cached: StoredObject | None = None,
    ) -> StoredObject:
        """Delete; the last state at the deletion's revision. 404, or 409 when a precondition fails."""
        key = self._keys.of(namespace, name)
        with writing(self._resource, name, "delete"):
            current, fresh = cached, cached is None
            if fresh:
                current = await self._read(key)
            while True:
                if current is None:
                    raise status.not_found(self._resource, name)
                try:
                    self._check(current, name, uid, resource_version)
                except status.StatusError:
                    if fresh:
                        raise
                    current, fresh = await self._read(key), True
                    continue
                result = await self._client.delete(key, current.rv)
                if result.succeeded:
                    return current.with_rv(result.revision)
                current, fresh = self._object(result.kv), True

    def _changed(
        self, current: StoredObject | None, name: str, change: Change, expected_rv: int | None, upsert: bool
    ) -> bytes:
        """The bytes to write over `current`."""
        if current is None and not upsert:
            raise status.not_found(self._resource, name)
        if expected_rv is not None and expected_rv != (current.rv if current else 0):
            raise status.conflict(self._resource, name)
        return self._encode(change(msgspec.json.decode(current.full_json()) if current else {}))

    async def _put(
        self, key: bytes, raw: bytes, current: StoredObject | None, ttl: int
    ) -> tuple[StoredObject | None, StoredObject | None]:
        """What was written; or None and what stands there instead."""
        lease = await self._lease(ttl) or (current.lease if current else 0)
        if current is None:
            result = await self._client.create(key, raw, lease)
            if not result.succeeded:
                return None, await self._read(key)
        else:
            result = await self._client.update(key, raw, current.rv, lease)
            if not result.succeeded:
                return None, self._object(result.kv)
        created = current.create_revision if current else result.revision
        return self._reader.object(KV(key, raw, created, result.revision, 0, lease)), None

    async def _read(self, key: bytes) -> StoredObject | None:
        current_meter().etcd_gets += 1
        kvs = (await self._client.range(key, purpose="get")).kvs
        return self._object(kvs[0] if kvs else None)

    def _object(self, kv: KV | None) -> StoredObject | None:
        return self._reader.object(kv) if kv else None

    def _check(self, current: StoredObject, name: str, uid: str, resource_version: str) -> None:
        """The client's preconditions of a deletion."""
        for what, wanted, found in (
            ("UID", uid, current.uid if uid else ""),
            ("ResourceVersion", resource_version, str(current.rv)),
        ):
            if wanted and wanted != found:
                raise status.precondition_failed(self._resource, name, what, wanted, found)

    async def _lease(self, ttl: int) -> int:
        return await self._leases.lease_for(ttl) if ttl else 0

    def _encode(self, obj: dict[str, Any]) -> bytes:
        """Stored bytes. etcd's mod_revision is the resourceVersion: a stored object has none."""
        metadata = {k: v for k, v in obj.get("metadata", {}).items() if k != "resourceVersion"}
        return encode_object({**obj, "metadata": metadata}, self._resource)
