"""Rules of what is allocated to a ResourceClaim (upstream: ValidateResourceClaimStatusUpdate)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import field

from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    limited,
)
from ktui.kube.json_trees import Obj, hashed
from ktui.writes.validation import conditions
from ktui.writes.validation.updates.field_rules import spec_of, unchanged
from ktui.writes.validation.values.addresses import interface_address
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_dns_label,
    at_most,
    at_most_bytes,
    below,
    different,
    has,
    inside,
    items,
    named_by,
    one_of,
    table_of,
)
from ktui.writes.validation.values.devices import (
    CONFIGURATION,
    binding_conditions,
    json_object,
    pool_name,
    request_names,
    request_of,
)
from ktui.writes.validation.values.scheduling import NODE_SELECTOR
from ktui.writes.validation.values.volumes import driver_name

_MOST_USERS, _MOST_RESULTS, _MOST_CONFIGS, _MOST_REQUESTS, _MOST_CONDITIONS = 256, 32, 64, 32, 8
_MOST_IPS = 16
_UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMES: Rows = (("driver:text", driver_name), ("pool:text", pool_name), ("device:text", any_dns_label))
_users = different(_MOST_USERS, has("resource", "name", "uid"), named_by("uid"))


@limited
def claim(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, now = old.get("status") or {}, new.get("status") or {}
    allocation, before = now.get("allocation"), was.get("allocation")
    going = (new.get("metadata") or {}).get("deletionTimestamp")
    users = now.get("reservedFor") or []
    yield from inside("status.reservedFor", _users(users))
    device, devices = _device(set(map(device_id, results_of(now)))), now.get("devices") or []
    yield from inside("status.devices", different(len(devices), device, device_id)(devices))
    if users and allocation is None:
        yield forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif users and going and _added(was.get("reservedFor") or [], users):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield forbidden("status.reservedFor", why)
    if allocation is not None and before is not None:
        yield from unchanged(before, allocation, "status.allocation", "resource.v1.AllocationResult")
    elif allocation is not None:
        names = request_names(spec_of(new).get("devices") or {})
        yield from inside("status.allocation", _allocation(names)(allocation))


def _added(old: list[Obj], new: list[Obj]) -> bool:
    return bool({hashed(each) for each in new} - {hashed(each) for each in old})


def results_of(status: Obj) -> list[Obj]:
    """Return the devices that are allocated."""
    return ((status.get("allocation") or {}).get("devices") or {}).get("results") or []


class DeviceId(msgspec.Struct, frozen=True):
    """The names of a device, or of a share of it (upstream: SharedDeviceID), as errors show them."""

    driver: str = field(name="Driver")
    pool: str = field(name="Pool")
    device: str = field(name="Device")
    share: str = field(name="ShareID")


def device_id(device: Obj) -> DeviceId:
    return DeviceId(*(str(device.get(name) or "") for name in ("driver", "pool", "device", "shareID")))


def _share(uid: str) -> Iterator[FieldError]:
    """The uid of a share, in lower case."""
    if _UID.fullmatch(uid):
        return
    if not re.fullmatch(_UID.pattern, uid.lower()):
        length = len(uid.encode())
        why = "invalid UUID format" if length == 36 else f"invalid UUID length: {length}"
        yield invalid("", uid, f"error validating uid: {why}")
    else:
        form = "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
        yield invalid("", uid, f"uid must be in RFC 4122 normalized form, {form}")


def _device(allocated: set[DeviceId]) -> Check:
    """Return the check of what a driver says of an allocated device."""

    def known(device: Obj) -> Iterable[FieldError]:
        key = device_id(device)
        return () if key in allocated else [invalid("", key, "must be an allocated device in the claim")]

    return table_of(
        *_NAMES, ("shareID", _share), ("", known), ("conditions", at_most(_MOST_CONDITIONS)),
        ("conditions", conditions.common), ("data", json_object),
        ("networkData.interfaceName", at_most_bytes(256)),
        ("networkData.hardwareAddress", at_most_bytes(128)),
        ("networkData.ips", different(_MOST_IPS, interface_address)),
    )  # fmt: skip


def _allocation(requests: dict[str, set[str]]) -> Check:
    """Return the check of the devices that are allocated for these requests."""
    request = request_of(requests)
    result = table_of(("request:text", request), *_NAMES, ("", binding_conditions), ("shareID", _share))
    config = table_of(
        ("source:text", one_of("FromClaim", "FromClass")), ("requests", different(_MOST_REQUESTS, request)),
        *CONFIGURATION,
    )  # fmt: skip
    return table_of(
        ("devices.results", items(_MOST_RESULTS, result)),
        ("devices.config", items(_MOST_CONFIGS, config)),
        *below("nodeSelector", NODE_SELECTOR),
    )
