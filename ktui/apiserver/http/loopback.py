"""Recognize names and addresses that only programs of this machine can reach."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from ktui.kube.text_cache import cached_by_text

_HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[0-9a-z._-]+))(:[0-9]*)?")


@cached_by_text(maxsize=64, longest=64)
def is_loopback(host: str) -> bool:
    """Return whether `host`, a name or an address without a port, is this machine's loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_of_header(value: str) -> str:
    """Return the host of a `Host` header in lower case without its port, "" if it is not a host.

    Not by the rules of URLs, in which `localhost#evil.example` and `evil.example@localhost` have a host.
    """
    found = _HOST.fullmatch(value.lower())
    return (found["address"] or found["name"]) if found else ""


def host_of(url: str) -> str:
    """Return the host of a URL in lower case without its port, "" if `url` is not a URL."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
