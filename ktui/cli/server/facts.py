"""The ServerInfo of a server: versions, etcd, and what else the dashboard's header shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.contract.events import ServerInfo
from ktui.kube.routing.cache_state import etcd_supports_progress

if TYPE_CHECKING:
    from ktui.cacher.settings import Settings
    from ktui.cli.server.etcd_source import EtcdSource
    from ktui.etcd.client import EtcdClient


class Facts:
    """Makes the current ServerInfo: the Kubernetes version can be changed while the server runs.

    `filling` returns the progress of creating the demo cluster as text, `log_warnings` what is wrong with the
    request logs.
    """

    def __init__(
        self,
        client: EtcdClient,
        settings: Settings,
        source: EtcdSource,
        filling: Callable[[], str],
        log_warnings: Callable[[], list[str]],
    ) -> None:
        self._client = client
        self._settings = settings
        self._source = source
        self._filling = filling
        self._log_warnings = log_warnings

    def info(self) -> ServerInfo:
        return ServerInfo(
            ktui_version=__version__,
            kube_version=self._settings.behaviour.version,
            etcd_version=self._client.version,
            etcd_kind=self._source.kind,
            endpoints=self._client.endpoints,
            writable=not self._client.read_only,
            progress=self._progress(),
            etcd_prefix=self._source.prefix,
            pid=os.getpid(),
            name=self._source.name,
            filling=self._filling(),
            warnings=[*self._source.warnings, *filter(None, [self._etcd_ended()]), *self._log_warnings()],
        )

    def etcd_problem(self) -> str:
        """Return why etcd does not answer; "" if it does."""
        return self._etcd_ended() or self._client.ledger.problem

    def _etcd_ended(self) -> str:
        return self._source.embedded.problem if self._source.embedded is not None else ""

    def _progress(self) -> str:
        if not self._settings.progress:
            return "unsupported"
        return "supported" if etcd_supports_progress(self._client.version) else "assumed"
