"""Checks of IP addresses and ranges (upstream: apimachinery's util/validation/ip.go).

Since 1.36 (StrictIPCIDRValidation) leading zeros and other forms are errors, except where an object has them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid
from ktui.kube.golang.formatting import quote

IP_FAULT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR_FAULT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ZEROS = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9])")
_LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")
_LOCAL_MULTICAST_6 = ipaddress.ip_network("ff02::/16")
_ZEROS_IN_ADDRESS = "must not have leading 0s"
_ZEROS_IN_RANGE = "must not have leading 0s in IP or prefix length"
_MAPPED_ADDRESS, _MAPPED_RANGE = (f"must not {what} an IPv4-mapped IPv6 address" for what in ("be", "have"))
_MORE_BITS = "must not have bits set beyond the prefix length"
STRICT = (_ZEROS_IN_ADDRESS, _ZEROS_IN_RANGE, _MAPPED_ADDRESS, _MAPPED_RANGE, _MORE_BITS)
"""How the messages end that an object may stay with that has the value already."""


def without_zeros(text: str) -> str:
    """Return an address without leading zeros, which upstream accepts."""
    return _ZEROS.sub("", text)


def _has_zeros(text: str) -> bool:
    """Whether numbers of an IPv4 address have leading zeros; the groups of an IPv6 one may."""
    return "." in text and without_zeros(text) != text


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(without_zeros(text) if len(text) < 64 else "")
    except ValueError:
        return False
    return "%" not in text


def is_range(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not is_address(address) or not re.fullmatch("[0-9]{1,3}", bits):
        return False
    return int(bits) <= (128 if ":" in address else 32)


def is_ipv4(text: str) -> bool:
    """Whether an address is of IPv4, also one that is mapped to IPv6."""
    parsed = ipaddress.ip_address(without_zeros(text))
    return parsed.version == 4 or parsed.ipv4_mapped is not None


def address(text: str) -> Iterator[FieldError]:
    if not is_address(text):
        yield invalid("", text, IP_FAULT)
    elif _has_zeros(text):
        yield invalid("", text, _ZEROS_IN_ADDRESS)
    elif _mapped(text):
        yield invalid("", text, _MAPPED_ADDRESS)


def usual_address(text: str) -> Iterator[FieldError]:
    """An address in its usual form (upstream: IsValidIP)."""
    faults = list(address(text))
    yield from faults
    if not faults and (usual := str(ipaddress.ip_address(text))) != text:
        yield invalid("", text, f"must be in canonical form ({quote(usual)})")


def address_range(text: str) -> Iterator[FieldError]:
    own, _, bits = text.partition("/")
    if not is_range(text):
        yield invalid("", text, CIDR_FAULT)
    elif _has_zeros(own) or str(int(bits)) != bits:
        yield invalid("", text, _ZEROS_IN_RANGE)
    elif _mapped(own):
        yield invalid("", text, _MAPPED_RANGE)
    elif ipaddress.ip_network(text, strict=False).network_address != ipaddress.ip_address(own):
        yield invalid("", text, _MORE_BITS)


def usual_range(text: str) -> Iterator[FieldError]:
    """A range in its usual form (upstream: IsValidCIDR)."""
    faults = list(address_range(text))
    yield from faults
    if not faults and (usual := str(ipaddress.ip_network(text))) != text:
        yield invalid("", text, f"must be in canonical form ({quote(usual)})")


def interface_address(text: str) -> Iterator[FieldError]:
    """An address with the bits of its network, in the usual form (upstream: IsValidInterfaceAddress)."""
    if not is_range(text):
        yield invalid("", text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")
        return
    own, _, bits = text.partition("/")
    parsed, length = ipaddress.ip_address(without_zeros(own)), int(bits)
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed, length = parsed.ipv4_mapped, length - 96 if length > 32 else length
    if (usual := f"{parsed}/{length}") != text:
        yield invalid("", text, f"must be in canonical form ({quote(usual)})")


def _mapped(text: str) -> bool:
    parsed = ipaddress.ip_address(text)
    return isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None


def ordinary_address(value: str) -> Iterator[FieldError]:
    """An address that packets of others can reach."""
    if faults := list(address(value)):
        yield from faults
        return
    yield from reachable(value)


def reachable(value: str) -> Iterator[FieldError]:
    """An address that is none of the special ones (upstream: ValidateEndpointIP)."""
    if not is_address(value):
        yield invalid("", value, "must be a valid IP address")
        return
    parsed = ipaddress.ip_address(without_zeros(value))
    if parsed.is_unspecified:
        yield invalid("", value, f"may not be unspecified ({value})")
    if parsed.is_loopback:
        yield invalid("", value, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if parsed.is_link_local:
        yield invalid("", value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if parsed.is_multicast and parsed in (_LOCAL_MULTICAST, _LOCAL_MULTICAST_6)[parsed.version == 6]:
        why = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        yield invalid("", value, why)
