"""The controllers that run inside the server."""

from __future__ import annotations

from typing import Protocol

from ktui.apiserver.app import Application
from ktui.writes.definitions.controller import DefinitionController
from ktui.writes.dependents_controller import DependentsController
from ktui.writes.namespace_controller import NamespaceController
from ktui.writes.quota_controller import QuotaController
from ktui.writes.storage_protection import StorageProtection


class ServerController(Protocol):
    """Follows objects through their watch caches from `start` to `stop`, and writes what they require."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...


def make_controllers(app: Application, *, owned: bool) -> list[ServerController]:
    """Return kube-apiserver's own controller, and those that kubectl waits for.

    The latter are kube-controller-manager's: they run only if ktui has started the etcd (`owned`), as another
    etcd has a kube-controller-manager. It must be writable.
    """
    registry = app.server.services.registry
    controllers: list[ServerController] = [DefinitionController(registry)]
    if owned:
        controllers += [
            QuotaController(registry, lambda: app.catalog.table.preferred()),
            NamespaceController(app.server),
            DependentsController(app.server),
            StorageProtection(registry),
        ]
    return controllers
