"""The parts that every handler uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.apiserver.catalog import Catalog
from ktui.apiserver.large_requests import LargeRequests
from ktui.apiserver.parsing.parser import BodyParser
from ktui.apiserver.services import Services
from ktui.apiserver.watches import OpenWatches
from ktui.kube.resources import Resource

if TYPE_CHECKING:
    from ktui.cacher.cacher import Cacher


@dataclass(frozen=True, slots=True)
class Server:
    """The parts that every handler uses. `watches` are the open ones, which end when the server stops."""

    services: Services
    catalog: Catalog
    watches: OpenWatches
    parser: BodyParser
    large_requests: LargeRequests

    def cacher(self, resource: Resource) -> Cacher:
        """Return the cacher of a resource, shared by all its versions."""
        return self.services.registry.for_resource(self.catalog.canonical(resource))
