"""What every handler works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ktui.apiserver.catalog import Catalog
from ktui.apiserver.services import Services
from ktui.cacher.requests import WatchAnswer
from ktui.kube.resources import Resource

if TYPE_CHECKING:
    from ktui.cacher.cacher import Cacher


@dataclass(frozen=True, slots=True)
class Server:
    """`streams` are the open WATCHes: they end when the server stops."""

    services: Services
    catalog: Catalog
    streams: set[WatchAnswer] = field(default_factory=set)

    def end_streams(self) -> None:
        for stream in list(self.streams):
            stream.close("server stopping")

    def cacher(self, resource: Resource) -> Cacher:
        """The cache of a resource, whichever of its versions was asked for."""
        return self.services.registry.for_resource(self.catalog.canonical(resource))
