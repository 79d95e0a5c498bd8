"""Values that a Service is allocated when it is written: cluster IP, IP families, node ports.

The change of an update is decided on the object that the Txn compares, and may be decided again; values are
reserved in etcd before. So `fill` reports the values that it lacks (Unallocated), the caller reserves them
and tries again, and values that are reserved but not stored in the end are freed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from ktui.apiserver.server import Server
from ktui.kube.fielderrors import FieldError, invalid, invalid_object
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import bare_error
from ktui.telemetry.off_loop import compute
from ktui.writes import stored_objects
from ktui.writes.before_update import finished_deleting
from ktui.writes.service_addresses import Addresses, NodePorts, PortUnavailable, ServiceRange, Unavailable
from ktui.writes.validation.updates.services import addresses_of, needs_health_check, type_of
from ktui.writes.validation.values.checks import inside
from ktui.writes.validation.values.services import FAMILIES, address_errors

HEADLESS = "None"
ADDRESS = "spec.clusterIPs"


class Need(NamedTuple):
    """A value to allocate for a field; `wanted` is the client's own value, None for any."""

    path: str
    wanted: str | int | None


class Unallocated(Exception):
    """The service lacks values that are not reserved yet."""

    def __init__(self, needs: list[Need]) -> None:
        self.needs = needs


@dataclass
class Allocation:
    """The values of one write of one service. Methods may raise StatusError."""

    addresses: Addresses
    ports: NodePorts
    namespace: str
    name: str
    dry_run: bool = False

    def __post_init__(self) -> None:
        self._reserved: dict[Need, Any] = {}
        self._released: tuple[set[str], set[int]] = (set(), set())
        self._stored: Obj = {}

    def fill(self, old: Obj | None, new: Obj) -> None:
        """Set the fields of the service's type, in place; raise Unallocated, or StatusError 422."""
        if old is not None and finished_deleting(new):
            self._released = set(addresses_of(old.get("spec") or {})), _ports_of(old.get("spec") or {})
            return
        spec = new["spec"] = copied(new.get("spec") or {})
        was: Obj = (old or {}).get("spec") or {}
        self._families(new, spec)
        lacking = [*self._addresses(was, spec), *self._ports(was, spec)]
        if lacking:
            raise Unallocated(lacking)
        gone = set(addresses_of(was)) - set(addresses_of(spec)), _ports_of(was) - _ports_of(spec)
        self._released, self._stored = gone, spec

    async def fill_new(self, service: Obj) -> None:
        """Fill a new service, reserving the values that it lacks."""
        while True:
            try:
                return await compute(self.fill, None, service)
            except Unallocated as lacking:
                await self.reserve(lacking.needs)

    async def reserve(self, needs: list[Need]) -> None:
        """Reserve the values that `fill` lacked; raise StatusError 422 or 500 if one is not available."""
        for need in needs:
            if need.path == ADDRESS:
                try:
                    self._reserved[need] = await self._address(need)
                except Unavailable as error:
                    raise _unallocated(self.name, need.wanted, error) from None
        ports = [need for need in needs if need.path != ADDRESS]
        if not ports:
            return
        wanted = [None if need.wanted is None else int(need.wanted) for need in ports]
        try:
            allotted = await self.ports.allot(wanted, dry_run=self.dry_run)
        except PortUnavailable as error:
            need = ports[error.at]
            if need.wanted is None:  # not the field's fault
                raise bare_error(f"failed to allocate a nodePort: {error}") from None
            raise _invalid(self.name, [invalid(need.path, int(need.wanted), str(error))]) from None
        self._reserved.update(zip(ports, allotted, strict=True))

    async def finish(self, *, stored: bool) -> None:
        """Free the values that were reserved but not stored, and those that the service no longer has."""
        if self.dry_run:
            return
        kept = self._stored if stored else {}
        addresses, ports = self._released if stored else (set(), set())
        drawn = self._reserved.items()
        addresses |= {value for need, value in drawn if need.path == ADDRESS} - set(addresses_of(kept))
        ports |= {value for need, value in drawn if need.path != ADDRESS} - _ports_of(kept)
        await self.free(addresses, ports)

    async def free(self, addresses: set[str], ports: set[int]) -> None:
        for address in addresses - {HEADLESS}:
            await self.addresses.free(address)
        await self.ports.free(ports)

    async def _address(self, need: Need) -> str:
        if need.wanted is None:
            if self.dry_run:
                return self.addresses.range.base
            return await self.addresses.draw(self.namespace, self.name)
        address = str(need.wanted)
        if self.dry_run:  # whether it is free is not looked up, as upstream
            self.addresses.range.check(address)
        else:
            await self.addresses.take(address, self.namespace, self.name)
        return address

    def _families(self, obj: Obj, spec: Obj) -> None:
        """Set families and policy of a single-family cluster; an ExternalName has neither."""
        if type_of(spec) == "ExternalName":
            return
        family = self.addresses.range.family
        bare = _bare(spec)
        policy = spec.setdefault("ipFamilyPolicy", "RequireDualStack" if bare else "SingleStack")
        if errors := family_errors(spec, family):
            raise _invalid(self.name, errors)
        families = spec["ipFamilies"] = list(spec.get("ipFamilies") or [family])
        if bare and policy != "SingleStack" and len(families) < len(FAMILIES):
            families += [other for other in FAMILIES if other not in families]

    def _addresses(self, was: Obj, spec: Obj) -> Iterator[Need]:
        if type_of(spec) == "ExternalName":
            return
        before = set() if type_of(was) == "ExternalName" else set(addresses_of(was))
        given = addresses_of(spec)
        if not given:
            need = Need(ADDRESS, None)
            if need not in self._reserved:
                yield need
                return
            given = [self._reserved[need]]
        elif given[0] != HEADLESS and given[0] not in before:
            need = Need(ADDRESS, given[0])
            if need not in self._reserved:
                yield need
        spec["clusterIP"], spec["clusterIPs"] = given[0], given

    def _ports(self, was: Obj, spec: Obj) -> Iterator[Need]:
        kind = type_of(spec)
        if kind not in ("NodePort", "LoadBalancer"):
            return
        draws = kind == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
        ports, had = spec.get("ports") or [], _ports_of(was)
        known, taken, lacking = dict[int, int](), set[int](), set[int]()
        named = {port.get("port"): port["nodePort"] for port in reversed(ports) if port.get("nodePort")}
        for index, port in enumerate(ports):
            number, given = port.get("port"), port.get("nodePort")
            path = f"spec.ports[{index}].nodePort"
            if given:
                if given not in had and given not in taken:
                    need = Need(path, given)
                    if need not in self._reserved:
                        yield need
            elif draws:
                chosen = known.get(number) or named.get(number)
                if chosen is None:
                    need = Need(path, None)
                    chosen = self._reserved.get(need)
                    if chosen is None:
                        yield from () if number in lacking else (need,)
                        lacking.add(number)
                        continue
                port["nodePort"] = chosen
            if port.get("nodePort"):
                taken.add(known.setdefault(number, port["nodePort"]))
        if needs_health_check(spec) and spec.get("healthCheckNodePort") not in had:
            need = Need("spec.healthCheckNodePort", spec.get("healthCheckNodePort") or None)
            if need not in self._reserved:
                yield need
                return
            spec["healthCheckNodePort"] = self._reserved[need]


def _bare(spec: Obj) -> bool:
    """Whether a service has neither an address nor pods that it selects."""
    return spec.get("clusterIP") == HEADLESS and not spec.get("selector")


def family_errors(spec: Obj, family: str) -> list[FieldError]:
    """Return why a cluster of one family cannot have this service (upstream: initIPFamilyFields)."""
    policy, families = spec.get("ipFamilyPolicy") or "SingleStack", spec.get("ipFamilies") or []
    several = {"cluster IPs": addresses_of(spec), "IP families": families}
    errors = []
    if policy == "SingleStack":
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
        two = [what for what, values in several.items() if len(values) == len(FAMILIES)]
        errors = [invalid("spec.ipFamilyPolicy", policy, why.format(what)) for what in two]
    errors += _other_family(several["cluster IPs"], len(families), family)
    if errors or _bare(spec):
        return errors
    if policy == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", policy, why))
    other = [(index, name) for index, name in enumerate(families) if name != family]
    why = "not configured on this cluster"
    return errors + [invalid(f"spec.ipFamilies[{index}]", name, why) for index, name in other]


def _other_family(addresses: list[str], named: int, family: str) -> Iterator[FieldError]:
    """Yield errors for addresses of another family than the cluster's; the first have `named` families."""
    for index, text in enumerate(addresses if addresses != [HEADLESS] else ()):
        its_own = FAMILIES[":" in text]
        if index >= named and its_own != family:
            why = f"{its_own} is not configured on this cluster"
            yield invalid(f"{ADDRESS}[{index}]", addresses, why)


def _asked(spec: Obj) -> Iterator[tuple[int, int]]:
    """Yield the place and number of each node port that a new service asks for (upstream: initNodePorts).

    Ports of the same number share one, which is allocated for the first of them.
    """
    ports, known = spec.get("ports") or [], dict[int, int]()
    draws = type_of(spec) == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
    named = {port.get("port"): port["nodePort"] for port in reversed(ports) if port.get("nodePort")}
    for index, port in enumerate(ports):
        number, given = port.get("port"), port.get("nodePort")
        if number in known:
            if given and given != known[number]:
                yield index, given
        elif number in named and (given or draws):
            known[number] = named[number]
            yield index, named[number]


async def check_new(server: Server, service: Obj) -> None:
    """Raise StatusError 422 for wrong addresses: upstream allocates before it validates."""
    spec, name = service.get("spec") or {}, str((service.get("metadata") or {}).get("name") or "")
    if type_of(spec) == "ExternalName":
        return
    errors = await compute(lambda: list(inside("spec", address_errors(spec))))
    own_range = await service_range(server)
    if errors or (errors := family_errors(spec, own_range.family)):
        raise _invalid(name, errors)
    for address in {*addresses_of(spec)[:1]} - {HEADLESS}:
        try:
            own_range.check(address)
        except Unavailable as error:
            raise _unallocated(name, address, error) from None
    if type_of(spec) not in ("NodePort", "LoadBalancer"):
        return
    asked = await compute(lambda: list(_asked(spec)))
    wanted = [number for _, number in asked]
    try:
        await NodePorts(server.services.registry).allot(wanted, dry_run=True)
    except PortUnavailable as error:
        path = f"spec.ports[{asked[error.at][0]}].nodePort"
        raise _invalid(name, [invalid(path, wanted[error.at], str(error))]) from None


def _ports_of(spec: Obj) -> set[int]:
    """Return all node ports of a service, including that of its health check."""
    if type_of(spec) not in ("NodePort", "LoadBalancer"):
        return set()
    found = {port.get("nodePort") for port in spec.get("ports") or []} | {spec.get("healthCheckNodePort")}
    return {int(port) for port in found if port}


def _unallocated(name: str, address: Any, error: Unavailable) -> Exception:
    """Return the error for an address that is not available; None is any address."""
    shown = None if address is None else [address]
    why = str(error) if address is None else f"failed to allocate IP {address}: {error}"
    return _invalid(name, [invalid(ADDRESS, shown, why)])


def _invalid(name: str, errors: list[FieldError]) -> Exception:
    return invalid_object("Service", "", name, errors)


async def service_range(server: Server) -> ServiceRange:
    """Return the range of the stored ServiceCIDR `kubernetes`, else the server's own."""
    resource = builtin("networking.k8s.io", "servicecidrs")
    found = await stored_objects.find(server, resource, "", "kubernetes")
    cidrs = ((found or {}).get("spec") or {}).get("cidrs") or [server.services.service_cluster_ip_range]
    return ServiceRange(cidrs[0])


@asynccontextmanager
async def allocating(
    server: Server, resource: Resource, namespace: str, name: str, *, dry_run: bool
) -> AsyncIterator[Allocation | None]:
    """Yield the allocation for a write of a service, None for other kinds; finish it when the block ends."""
    if resource.id != "services":
        yield None
        return
    registry = server.services.registry
    addresses = Addresses(registry, await service_range(server))
    allocation = Allocation(addresses, NodePorts(registry), namespace, name, dry_run)
    stored = False
    try:
        yield allocation
        stored = True
    finally:
        await allocation.finish(stored=stored)


async def release(server: Server, resource: Resource, service: Obj) -> None:
    """Free the values of a deleted service."""
    if resource.id != "services":
        return
    registry, spec = server.services.registry, service.get("spec") or {}
    allocation = Allocation(Addresses(registry, await service_range(server)), NodePorts(registry), "", "")
    addresses = set() if type_of(spec) == "ExternalName" else set(addresses_of(spec))
    await allocation.free(addresses, _ports_of(spec))
