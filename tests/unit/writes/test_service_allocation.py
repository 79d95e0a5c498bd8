"""What a Service is allocated: decided on the object, reserved in pools that stand for etcd's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ktui.kube.status import StatusError
from ktui.writes.service_addresses import (
    Addresses,
    NodePorts,
    PortUnavailable,
    ServiceRange,
    Unavailable,
    _chosen,
)
from ktui.writes.service_allocation import Allocation
from tests.unit.growth import growth

pytestmark = pytest.mark.anyio
Obj = dict[str, Any]


class AddressPool(Addresses):
    def __init__(self) -> None:
        self.range = ServiceRange("10.32.0.0/24")
        self.used: set[str] = {"10.32.0.1"}

    async def take(self, address: str, namespace: str, service: str) -> None:
        if address in self.used:
            raise Unavailable("provided IP is already allocated")
        self.used.add(address)

    async def check(self, address: str) -> None:
        if address in self.used:
            raise Unavailable("provided IP is already allocated")

    async def draw(self, namespace: str, service: str, *, dry_run: bool = False) -> str:
        address = next(f"10.32.0.{n}" for n in range(2, 255) if f"10.32.0.{n}" not in self.used)
        if not dry_run:
            self.used.add(address)
        return address

    async def free(self, address: str) -> None:
        self.used.discard(address)


class PortPool(NodePorts):
    def __init__(self) -> None:
        self.used: set[int] = set()

    async def allot(self, wanted: Sequence[int | None], *, dry_run: bool = False) -> list[int]:
        free = iter(port for port in range(30000, 32768) if port not in self.used)
        found: list[int] = []
        for at, port in enumerate(wanted):
            chosen = next(free, 0) if port is None else port
            if chosen in self.used or not chosen:
                raise PortUnavailable(
                    "range is full" if port is None else "provided port is already allocated", at
                )
            found.append(chosen)
        self.used |= set() if dry_run else set(found)
        return found

    async def free(self, released: Any) -> None:
        self.used -= set(released)


class Pools:
    def __init__(self) -> None:
        self.addresses, self.ports = AddressPool(), PortPool()

    def write(self, *, dry_run: bool = False) -> Allocation:
        return Allocation(self.addresses, self.ports, "shop", "web", dry_run)

    async def created(self, **spec: Any) -> Obj:
        allocation, service = self.write(), service_of(**spec)
        await allocation.fill_new(service)
        await allocation.finish(stored=True)
        return service


def service_of(**spec: Any) -> Obj:
    return {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], **spec}}


async def test_a_new_service_gets_an_address_and_its_family() -> None:
    pools = Pools()
    spec = (await pools.created())["spec"]
    assert spec["clusterIP"] == "10.32.0.2" and spec["clusterIPs"] == ["10.32.0.2"]
    assert spec["ipFamilies"] == ["IPv4"] and spec["ipFamilyPolicy"] == "SingleStack"
    assert "nodePort" not in spec["ports"][0]
    assert pools.addresses.used == {"10.32.0.1", "10.32.0.2"}


@pytest.mark.parametrize(
    ("spec", "address"),
    [
        ({"clusterIP": "None"}, "None"),
        ({"clusterIP": "10.32.0.9"}, "10.32.0.9"),
        ({"type": "ExternalName", "externalName": "a.b"}, None),
    ],
)
async def test_a_service_that_names_its_address_or_has_none(spec: Obj, address: str | None) -> None:
    assert (await Pools().created(**spec))["spec"].get("clusterIP") == address


async def test_ports_of_one_number_share_a_node_port() -> None:
    ports = [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}, {"port": 80}]
    found = (await Pools().created(type="NodePort", ports=ports))["spec"]["ports"]
    assert [port["nodePort"] for port in found] == [30000, 30000, 30001]


async def test_a_load_balancer_with_local_traffic_has_a_port_for_health_checks() -> None:
    spec = (await Pools().created(type="LoadBalancer", externalTrafficPolicy="Local"))["spec"]
    assert spec["ports"][0]["nodePort"] == 30000
    assert spec["healthCheckNodePort"] == 30001


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"clusterIP": "10.32.0.1"}, "spec.clusterIPs"),
        ({"ipFamilyPolicy": "RequireDualStack"}, "spec.ipFamilyPolicy"),
        ({"ipFamilies": ["IPv6"]}, "spec.ipFamilies[0]"),
    ],
)
async def test_what_cannot_be_had_is_refused(spec: Obj, field: str) -> None:
    pools = Pools()
    with pytest.raises(StatusError) as refused:
        await pools.created(**spec)
    assert refused.value.code == 422
    assert [cause["field"] for cause in refused.value.body()["details"]["causes"]] == [field]


async def test_a_write_that_fails_gives_back_what_it_reserved() -> None:
    pools = Pools()
    allocation = pools.write()
    await allocation.fill_new(service_of(type="NodePort"))
    assert pools.ports.used == {30000}
    await allocation.finish(stored=False)
    assert pools.ports.used == set() and pools.addresses.used == {"10.32.0.1"}


async def test_a_dry_run_reserves_nothing() -> None:
    pools = Pools()
    allocation, service = pools.write(dry_run=True), service_of(type="NodePort")
    await allocation.fill_new(service)
    await allocation.finish(stored=True)
    assert service["spec"]["clusterIP"] == "10.32.0.0" and service["spec"]["ports"][0]["nodePort"] == 30000
    assert pools.ports.used == set() and pools.addresses.used == {"10.32.0.1"}


async def test_a_changed_service_frees_what_it_no_longer_has() -> None:
    pools = Pools()
    old = await pools.created(type="NodePort")
    new = service_of(clusterIP=old["spec"]["clusterIP"], clusterIPs=old["spec"]["clusterIPs"])
    allocation = pools.write()
    allocation.fill(old, new)
    await allocation.finish(stored=True)
    assert pools.ports.used == set()
    assert pools.addresses.used == {"10.32.0.1", "10.32.0.2"}


def _node_ports(count: int, **more: Any) -> Obj:
    return service_of(type="NodePort", ports=[{"name": f"p{n}", "port": n + 1, **more} for n in range(count)])


def test_the_steps_of_ports_grow_with_their_number_only() -> None:
    def lacking(spec: Obj) -> None:
        list(Pools().write()._ports({}, spec))

    for more in ({}, {"nodePort": 30000}):
        assert growth(lacking, lambda n, more=more: (_node_ports(n, **more)["spec"],), 300) < 2.2
    assert growth(lambda wanted: _chosen(wanted, 0, range(10_000)), lambda n: ([None] * n,), 300) < 2.2


async def test_more_ports_than_there_are_is_refused_in_a_dry_run_too() -> None:
    for dry_run in (True, False):
        pools = Pools()
        with pytest.raises(StatusError) as refused:
            await pools.write(dry_run=dry_run).fill_new(_node_ports(2769))
        assert refused.value.code == 500
        assert refused.value.message == "failed to allocate a nodePort: range is full"
        await pools.write(dry_run=dry_run).fill_new(_node_ports(2768))


async def test_a_port_that_is_in_use_is_named() -> None:
    pools = Pools()
    await pools.created(type="NodePort", ports=[{"port": 80, "nodePort": 30001}])
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": 30001}]
    for dry_run in (True, False):
        with pytest.raises(StatusError) as refused:
            await pools.write(dry_run=dry_run).fill_new(service_of(type="NodePort", ports=ports))
        assert [each["field"] for each in refused.value.body()["details"]["causes"]] == [
            "spec.ports[1].nodePort"
        ]


def test_ports_are_chosen_from_the_upper_part_first_and_never_twice() -> None:
    found, used = _chosen([None, 105, None, None], 1 << 99, range(1, 101 + 16))
    assert found[1] == 105 and len(set(found)) == 4
    assert all(port >= 17 for port in found) and 100 not in found
    assert used == 1 << 99 | sum(1 << port - 1 for port in found)
    full, _ = _chosen([None] * 20, 0, range(1, 21))
    assert sorted(full) == list(range(1, 21)) and set(full[:4]) == {17, 18, 19, 20}
    for wanted, used, why in (
        ([None] * 21, 0, "range is full"),
        ([None, 5, 5], 0, "already allocated"),
        ([None, 7], 1 << 6, "already allocated"),
        ([99], 0, "not in the valid range"),
    ):
        with pytest.raises(PortUnavailable, match=why) as refused:
            _chosen(wanted, used, range(1, 21))
        assert refused.value.at == len(wanted) - 1
