"""Ask a server for what predictions assume about it: version, feature gates, caches."""

from __future__ import annotations

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.contract import paths
from ktui.contract.events import CacheStatus, EtcdProgress
from ktui.core.prediction.assumptions import OWN_LEVEL, ServerAssumptions
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of


class _Version(msgspec.Struct):
    """`/version` of a kube-apiserver."""

    major: str = "1"
    minor: str = ""


async def assumptions_of_ktui(client: ApiClient) -> ServerAssumptions:
    """Return a ktui server's rules and the state of its caches. Raises ClientError."""
    if (await client.request("GET", paths.INFO)).status_code in (403, 404):
        raise ClientError(
            f"no ktui server answers at {client.connection.url}; for a real kube-apiserver use --kubeconfig"
        )
    server = KtuiApi(client)
    rules, info = await server.rules(), await server.info()
    caches, compact = await _state(client)
    return ServerAssumptions(
        behaviour=_behaviour(rules.kube_version, rules.feature_gates),
        progress=info.progress != "unsupported",
        caches=caches,
        compact=compact,
        level=OWN_LEVEL,
    )


async def assumptions_of_kube(client: ApiClient) -> ServerAssumptions:
    """Return a kube-apiserver's version; default gates and ready caches are assumed. Raises ClientError."""
    try:
        version = msgspec.convert(await client.get_json("/version"), _Version)
    except msgspec.ValidationError as error:
        raise ClientError(f"{client.connection.url} does not answer as a kube-apiserver: {error}") from error
    minor = "".join(char for char in version.minor[:8] if char in "0123456789")
    return ServerAssumptions(behaviour=_behaviour(f"{version.major[:8]}.{minor}", {}), assumed=True)


def _behaviour(version: str, gates: dict[str, bool]) -> Behaviour:
    try:
        return behaviour_of(version, gates)
    except BehaviourError as error:
        raise ClientError(f"the server's version cannot be predicted: {error}") from error


async def _state(client: ApiClient) -> tuple[dict[str, CacheStatus], int]:
    """Return the caches by resource id, and etcd's compacted revision."""
    present = await client.present()
    caches = {event.resource: event for event in present if isinstance(event, CacheStatus)}
    return caches, max((event.compact for event in present if isinstance(event, EtcdProgress)), default=0)
