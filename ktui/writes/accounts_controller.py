"""Keep in each namespace the account `default` and the ConfigMap `kube-root-ca.crt`, which pods need.

Upstream: pkg/controller/serviceaccount and pkg/controller/certificates/rootcacertpublisher, controllers of
kube-controller-manager.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.cacher.cachers import Changed, Replaced
from ktui.kube.json_trees import copied
from ktui.kube.resources import builtin
from ktui.kube.status import StatusError, ignoring_not_found
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.writes.admission.service_accounts import DEFAULT, ROOT_CA
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.own_objects import create_own

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.cacher.watch_events import OutEvent
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

log = logging.getLogger(__name__)

Obj = dict[str, Any]

MANAGER = "kube-controller-manager"
DESCRIPTION = {
    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when "
    "using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
}
RETRY_SECONDS = 1.0  # after an error of etcd


class AccountsController:
    """Follows namespaces, service accounts and config maps through their watch caches until `stop`.

    `root_ca` is the CA of this server's certificate, PEM; "" without TLS. Only for an etcd that ktui has
    started: another has a kube-controller-manager.
    """

    def __init__(self, registry: Registry, root_ca: str) -> None:
        self._registry = registry
        self._root_ca = root_ca
        self._wanted: dict[str, Obj] = {
            "serviceaccounts": {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": DEFAULT},
            },
            "configmaps": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": ROOT_CA, "annotations": DESCRIPTION},
                "data": {"ca.crt": root_ca},
            },
        }
        self._due: dict[tuple[str, str], bool] = {}  # True: after a start
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._follow("namespaces", self._namespaces_replaced, self._namespaces_changed)
        for plural in self._wanted:
            self._follow(plural, _ignored, partial(self._changed, plural))
        self._tasks.append(self._registry.supervisor.start("the controller of service accounts", self._work))

    async def stop(self) -> None:
        await stop(*self._tasks)

    def _follow(self, plural: str, replaced: Replaced, changed: Changed) -> None:
        name = f"the {plural} that the controller of service accounts follows"
        self._tasks.append(self._registry.follow(name, builtin("", plural), replaced, changed))

    async def _namespaces_replaced(self, objects: Sequence[StoredObject], _: int) -> None:
        self._mark(self._wanted, [obj.name for obj in objects], at_start=True)

    async def _namespaces_changed(self, batch: Sequence[OutEvent], _: int) -> None:
        present = [event.object for event in batch if event.type != "DELETED"]
        self._mark(self._wanted, [obj.name for obj in present if obj is not None])

    async def _changed(self, plural: str, batch: Sequence[OutEvent], _: int) -> None:
        """Restore what a client has deleted, or a changed CA."""
        touched = [event.object for event in batch if event.type in ("MODIFIED", "DELETED")]
        name = self._name(plural)
        self._mark([plural], [obj.namespace for obj in touched if obj is not None and obj.name == name])

    def _mark(self, plurals: Iterable[str], namespaces: Sequence[str], *, at_start: bool = False) -> None:
        for key in ((plural, namespace) for plural in plurals for namespace in namespaces):
            self._due[key] = at_start or self._due.get(key, False)
        self._wake.set()

    def _name(self, plural: str) -> str:
        return str(metadata_of(self._wanted[plural])["name"])

    def _store(self, plural: str) -> Store:
        return self._registry.for_resource(builtin("", plural)).store

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                key, at_start = next(iter(self._due.items()))
                del self._due[key]
                try:
                    await self._ensure(*key, at_start=at_start)
                except StatusError as error:
                    log.warning("%s %s/%s: %s", key[0], key[1], self._name(key[0]), error.message)
                    self._due[key] = at_start
                    await asyncio.sleep(RETRY_SECONDS)

    async def _ensure(self, plural: str, namespace: str, *, at_start: bool) -> None:
        """Create the object, or restore the CA, unless the namespace is being deleted.

        A CA that another kube-controller-manager has published stays, but for the first look after a start:
        two controllers that restore different CAs would never end.
        """
        store, name = self._store(plural), self._name(plural)
        found, _ = await store.get(namespace, name)
        if found is not None:
            if plural == "configmaps":
                stored: Obj = json.loads(found.full_json())
                if not self._is_current(stored) and (at_start or not _is_published(stored)):
                    await store.update(namespace, name, self._with_ca)
            return
        if not await self._is_active(namespace):
            return
        obj: Obj = copied(self._wanted[plural])
        obj["metadata"]["namespace"] = namespace
        if not await create_own(self._registry, obj, MANAGER):
            return
        if not await self._is_active(namespace):  # its deletion may have missed the new object
            await self._remove(plural, namespace, metadata_of(obj)["uid"])

    async def _is_active(self, namespace: str) -> bool:
        found, _ = await self._store("namespaces").get(None, namespace)
        return found is not None and not metadata_of(json.loads(found.full_json())).get("deletionTimestamp")

    async def _remove(self, plural: str, namespace: str, uid: str) -> None:
        def removed(old: Obj) -> None:
            if metadata_of(old).get("uid") != uid:
                raise NoWrite

        with ignoring_not_found():
            await self._store(plural).update(namespace, self._name(plural), removed)

    def _is_current(self, found: Obj) -> bool:
        return found.get("data") == {"ca.crt": self._root_ca} and _is_described(found)

    def _with_ca(self, old: Obj) -> Obj:
        if self._is_current(old):
            raise NoWrite
        metadata = {**metadata_of(old)}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **DESCRIPTION}
        new = {**old, "metadata": metadata, "data": {"ca.crt": self._root_ca}}
        track_update(old, new, manager=MANAGER, time=timestamp(), resource=builtin("", "configmaps"))
        return new


def _is_published(found: Obj) -> bool:
    """True if only controller managers have written the data as it is."""
    entries = metadata_of(found).get("managedFields") or []
    writers = {entry.get("manager") for entry in entries if "f:data" in (entry.get("fieldsV1") or {})}
    return writers == {MANAGER}


def _is_described(found: Obj) -> bool:
    annotations = metadata_of(found).get("annotations") or {}
    return all(annotations.get(name) == text for name, text in DESCRIPTION.items())


async def _ignored(objects: Sequence[StoredObject], revision: int) -> None:
    """Ignore the first objects: what is missing is found through the namespaces."""
