"""Who serves, over which etcd: what the header of the dashboard says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.telemetry.events import ServerInfo

if TYPE_CHECKING:
    from ktui.cacher.settings import Settings
    from ktui.etcd.client import EtcdClient


class Facts:
    """The present facts: the version may be switched while the server runs."""

    def __init__(self, client: EtcdClient, settings: Settings, kind: str, name: str, prefix: str) -> None:
        self._client = client
        self._settings = settings
        self._kind = kind
        self._name = name
        self._prefix = prefix

    def info(self) -> ServerInfo:
        return ServerInfo(
            ktui_version=__version__,
            kube_version=self._settings.behaviour.version,
            etcd_version=self._client.version,
            etcd_kind=self._kind,
            endpoints=self._client.endpoints,
            writable=not self._client.read_only,
            progress=self._progress(),
            etcd_prefix=self._prefix,
            pid=os.getpid(),
            name=self._name,
        )

    def etcd_problem(self) -> str:
        """Why etcd does not answer, "" while it does."""
        return self._client.ledger.problem

    def _progress(self) -> str:
        if not self._settings.progress:
            return "unsupported"
        return "supported" if self._client.supports_progress else "assumed"
