"""Writes as in kube-apiserver's etcd3 store: transactions on mod_revision, and leases that objects share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import KV
from ktui.kube import status
from ktui.kube.json_trees import decoded
from ktui.kube.resources import Resource
from ktui.storage.errors import writing
from ktui.storage.keys import ResourceKeys
from ktui.storage.objects import Reader, StoredObject
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import compute, expect
from ktui.wire.codec import encode_object

MAX_OBJECTS = 1000
_REUSE_SHARE = 0.05
_REUSE_MOST = 60  # seconds


def reuse_seconds(ttl: int) -> int:
    """The extra seconds for which a lease is granted beyond `ttl`, so that later objects can share it."""
    return int(min(ttl * _REUSE_SHARE, _REUSE_MOST))


class Leases:
    """kube-apiserver's lease manager: a lease is shared if it outlives a `ttl` by at most the reuse time."""

    def __init__(self, client: EtcdClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._granting = asyncio.Lock()
        self._lease = 0
        self._expires = 0.0
        self._objects = 0

    async def lease_for(self, ttl: int) -> int:
        """Return a lease that lasts at least `ttl` seconds, for one more object."""
        async with self._granting:
            now = self._clock()
            reuse = reuse_seconds(ttl)
            self._objects += 1
            reusable = now + ttl < self._expires <= now + ttl + reuse
            if not reusable or self._objects > MAX_OBJECTS:
                self._lease = await self._client.grant_lease(ttl + reuse)
                self._expires = now + ttl + reuse
                self._objects = 1
            return self._lease


Change = Callable[[dict[str, Any]], dict[str, Any] | None]


class NoWrite(Exception):
    """Raised by a change that leaves the object in etcd unchanged."""


class Writer:
    """Creates, updates and deletes objects of one resource. Every method may raise StatusError.

    Objects are complete (uid, times, generation); only their resourceVersion is removed here.
    """

    def __init__(
        self, client: EtcdClient, resource: Resource, keys: ResourceKeys, reader: Reader, leases: Leases
    ) -> None:
        self._client = client
        self._resource = resource
        self._keys = keys
        self._reader = reader
        self._leases = leases

    async def create(self, obj: dict[str, Any], ttl: int = 0) -> StoredObject:
        """Put a new object that expires after `ttl` seconds (0: never); StatusError 409 if its key exists."""
        metadata = obj["metadata"]
        name = metadata["name"]
        key = self._keys.of(metadata.get("namespace"), name)
        with writing(self._resource, name, "create"):
            raw = await compute(self._encode, obj)
            lease = await self._lease(ttl)
            result = await self._client.create(key, raw, lease)
        if not result.succeeded:
            raise status.already_exists(self._resource, name)
        (stored,) = await self._reader.read([KV(key, raw, result.revision, result.revision, 1, lease)])
        return stored

    async def update(
        self,
        namespace: str | None,
        name: str,
        change: Change,
        *,
        cached: StoredObject | None = None,
        ttl: int = 0,
        verb: str = "update",
    ) -> StoredObject:
        """Change or delete an object in a Txn that compares the revision `change` saw; 404 if it does not
        exist.

        If the comparison fails, `change` is called again with the current object (GuaranteedUpdate): its
        decision applies to the object that the Txn compares.

        `change` gets the object as JSON. It returns the object to write, or None to delete it (the answer is
        then its last state, at the deletion's revision), or raises NoWrite. Unchanged bytes are not written.
        `cached` saves the first read: if `change` refuses or raises NoWrite for it, `change` decides again on
        etcd's object. `verb` is used in errors.
        """
        key = self._keys.of(namespace, name)
        with writing(self._resource, name, verb):
            current, stored = (cached, None) if cached else await self._read(key, verb)
            fresh = cached is None
            while True:
                try:
                    expect(len(current.raw) if current else 0)
                    raw = await compute(self._changed, current, name, change)
                # whatever `change` raises is raised again for the current object
                except Exception as refusal:
                    if fresh and current and isinstance(refusal, NoWrite):
                        return current
                    if fresh:
                        raise
                    current, stored = await self._read(key, verb)
                    fresh = True
                    continue
                assert current is not None
                # Decoding may set defaults, so etcd's bytes are compared.
                if raw != (stored or current.raw):
                    written, current, stored = await self._commit(key, raw, current, ttl)
                    if written is not None:
                        return written
                elif fresh:
                    return current
                else:
                    current, stored = await self._read(key, verb)
                fresh = True

    def _changed(self, current: StoredObject | None, name: str, change: Change) -> bytes | None:
        """Return the bytes to write over `current`, None to delete it."""
        if current is None:
            raise status.not_found(self._resource, name)
        changed = change(decoded(current.full_json()))
        return None if changed is None else self._encode(changed)

    async def _commit(
        self, key: bytes, raw: bytes | None, current: StoredObject, ttl: int
    ) -> tuple[StoredObject | None, StoredObject | None, bytes | None]:
        """The object that was written or deleted; or None, and the object that has replaced `current`."""
        if raw is None:
            result = await self._client.delete(key, current.rv)
            if result.succeeded:
                return current.with_rv(result.revision), None, None
        else:
            lease = await self._lease(ttl) or current.lease
            result = await self._client.update(key, raw, current.rv, lease)
            if result.succeeded:
                kv = KV(key, raw, current.create_revision, result.revision, 0, lease)
                (written,) = await self._reader.read([kv])
                return written, None, None
        return None, *await self._object(result.kv)

    async def _read(self, key: bytes, verb: str) -> tuple[StoredObject | None, bytes | None]:
        current_meter().etcd_gets += 1
        purpose = "deleteGet" if verb == "delete" else "updateGet"
        kvs = (await self._client.range(key, purpose=purpose)).kvs
        return await self._object(kvs[0] if kvs else None)

    async def _object(self, kv: KV | None) -> tuple[StoredObject | None, bytes | None]:
        """Return the object and its stored bytes."""
        if kv is None:
            return None, None
        (found,) = await self._reader.read([kv])
        return found, kv.value

    async def _lease(self, ttl: int) -> int:
        return await self._leases.lease_for(ttl) if ttl else 0

    def _encode(self, obj: dict[str, Any]) -> bytes:
        """Return the bytes to store, without resourceVersion, which is etcd's mod_revision."""
        metadata = {k: v for k, v in obj.get("metadata", {}).items() if k != "resourceVersion"}
        return encode_object({**obj, "metadata": metadata}, self._resource)
