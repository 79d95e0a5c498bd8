"""Keep in each namespace the account `default` and the ConfigMap `kube-root-ca.crt`, which pods need.

Upstream: kube-controller-manager's pkg/controller/serviceaccount and certificates/rootcacertpublisher.
"""

from __future__ import annotations

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store
from ktui.storage.writer import NoWrite
from ktui.writes.admission.service_accounts import DEFAULT, ROOT_CA
from ktui.writes.managedfields.entries import tracked
from ktui.writes.objectmeta import metadata_of
from ktui.writes.own_objects import create_own
from ktui.writes.server_controller import DELETED, LISTED, Key, ServerController

MANAGER = "kube-controller-manager"
NAMES = {"serviceaccounts": DEFAULT, "configmaps": ROOT_CA}
DESCRIPTION = {
    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when "
    "using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
}


class AccountsController(ServerController):
    """Reconciles the objects that each namespace has: ("serviceaccounts" or "configmaps", namespace).

    `root_ca` is the CA of this server's certificate, PEM; "" without TLS. Only for an etcd that ktui has
    started: another has a kube-controller-manager.
    """

    NAME = "the controller of service accounts"

    def __init__(self, registry: Registry, root_ca: str) -> None:
        self._root_ca = root_ca
        self._wanted: dict[str, Obj] = {
            "serviceaccounts": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": DEFAULT}},
            "configmaps": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": ROOT_CA, "annotations": DESCRIPTION},
                "data": {"ca.crt": root_ca},
            },
        }
        self._starting: set[Key] = set()
        super().__init__(registry, *(builtin("", plural) for plural in ("namespaces", *self._wanted)))

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        """Complete a namespace, and restore what a client has deleted, or a changed CA."""
        plural = resource.resource
        if plural == "namespaces" and type_ != DELETED:
            for wanted in self._wanted:
                if type_ == LISTED:
                    self._starting.add((wanted, obj.name))
                self.add((wanted, obj.name))
        elif type_ in ("MODIFIED", DELETED) and obj.name == NAMES.get(plural):
            self.add((plural, obj.namespace))

    async def reconcile(self, key: Key) -> float:
        """Create the object, or restore the CA, unless the namespace is being deleted.

        A CA that another kube-controller-manager has published stays, but for the first look after a start:
        two controllers that restore different CAs would never end.
        """
        plural, namespace = key
        store, name = self.store(self.resources[plural]), NAMES[plural]
        found = await self.current(self.resources[plural], namespace, name)
        if found is not None:
            stale = plural == "configmaps" and not self._is_current(found)
            if stale and (key in self._starting or not _is_published(found)):
                await store.update(namespace, name, self._with_ca)
        elif await self._is_active(namespace):
            obj: Obj = copied(self._wanted[plural])
            obj["metadata"]["namespace"] = namespace
            created = await create_own(self.registry, obj, MANAGER)
            # The deletion of a namespace may have missed the new object.
            if created and not await self._is_active(namespace):
                await _remove(store, namespace, name, metadata_of(obj)["uid"])
        self._starting.discard(key)
        return 0

    async def _is_active(self, namespace: str) -> bool:
        found = await self.current(self.resources["namespaces"], "", namespace)
        return found is not None and not metadata_of(found).get("deletionTimestamp")

    def _is_current(self, found: Obj) -> bool:
        annotations = metadata_of(found).get("annotations") or {}
        return found.get("data") == {"ca.crt": self._root_ca} and DESCRIPTION.items() <= annotations.items()

    def _with_ca(self, old: Obj) -> Obj:
        if self._is_current(old):
            raise NoWrite
        metadata = {**metadata_of(old)}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **DESCRIPTION}
        new = {**old, "metadata": metadata, "data": {"ca.crt": self._root_ca}}
        return tracked(old, new, MANAGER, builtin("", "configmaps"))


async def _remove(store: Store, namespace: str, name: str, uid: str) -> None:
    def removed(old: Obj) -> None:
        if metadata_of(old).get("uid") != uid:
            raise NoWrite

    with ignoring_not_found():
        await store.update(namespace, name, removed)


def _is_published(found: Obj) -> bool:
    """True if only controller managers have written the data as it is."""
    entries = metadata_of(found).get("managedFields") or []
    writers = {entry.get("manager") for entry in entries if "f:data" in (entry.get("fieldsV1") or {})}
    return writers == {MANAGER}
