"""Fill an empty etcd as kube-apiserver does when it starts."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from ktui.kube.resources import BUILTIN
from ktui.writes.bootstrap.creation import create_missing
from ktui.writes.bootstrap.objects import api_services, cluster_objects
from ktui.writes.services.addresses import ServiceRange

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

LOOPBACK = "127.0.0.1"


async def create_cluster_objects(
    registry: Registry, cidr: str, host: str, port: int, client_ca: str = ""
) -> None:
    """Create the objects that do not exist; raise an ExceptionGroup of StatusErrors.

    `host` is where the server listens; `client_ca` are the certificates of `--client-ca-file`.
    """
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:  # a host name
        address = LOOPBACK
    await create_missing(
        registry, [*cluster_objects(ServiceRange(cidr), address, port, client_ca), *api_services(BUILTIN)]
    )


def service_range_of(text: str) -> str:
    """Return the network of `--service-cluster-ip-range`; ValueError says what is wrong with it."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"--service-cluster-ip-range {text}: write a network like 10.96.0.0/16") from None
    largest = 20 if network.version == 4 else 64
    bits = network.max_prefixlen - network.prefixlen
    if bits < 3:
        raise ValueError(f"--service-cluster-ip-range {text}: at least 8 addresses are needed")
    if bits > largest:
        raise ValueError(f"--service-cluster-ip-range {text}: at most 2^{largest} addresses are allowed")
    return str(network)
