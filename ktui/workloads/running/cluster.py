"""Names of the cluster's nodes, namespaces and objects, which a workload needs before it runs."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json

MOST_NAMES = 5_000
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class _Meta(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Meta


class _Names(msgspec.Struct):
    items: list[_Item] | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster. `version` is the Kubernetes version that the server follows, "" if unknown."""

    client: ApiClient
    nodes: tuple[str, ...]
    namespaces: tuple[str, ...]
    version: str = ""

    def node(self, index: int) -> str:
        """Return the node of agent number `index`; with more agents than nodes, several share one."""
        return self.nodes[index % len(self.nodes)]

    async def names(self, collection: str, limit: int = MOST_NAMES) -> list[tuple[str, str]]:
        """Return (namespace, name) of at most `limit` objects that `collection` lists."""
        return await names_in(self.client, collection, limit)


async def read_cluster(client: ApiClient, version: str) -> Cluster:
    """Read the names; raise ClientError if there are no nodes or no server."""
    nodes = await names_in(client, "/api/v1/nodes", MOST_NAMES)
    if not nodes:
        raise ClientError("the server has no nodes: `ktui seed` fills it with a demo cluster")
    namespaces = await names_in(client, "/api/v1/namespaces", MOST_NAMES)
    return Cluster(client, tuple(name for _, name in nodes), tuple(name for _, name in namespaces), version)


async def names_in(client: ApiClient, collection: str, limit: int) -> list[tuple[str, str]]:
    """Return one page of names, by a LIST that is not part of the run's figures."""
    response = await client.request("GET", f"{collection}?limit={limit}", headers={"Accept": METADATA_LIST})
    if response.status_code != 200:
        raise ClientError(f"cannot list {collection}: HTTP {response.status_code}")
    try:
        found = decode_json(response.content, _Names)
    except DocumentError as error:
        raise ClientError(f"the answer to {collection} is not a list: {error}") from error
    return [(item.metadata.namespace, item.metadata.name) for item in found.items or []]
