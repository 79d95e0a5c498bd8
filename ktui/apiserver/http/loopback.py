"""Recognize names and addresses that only programs of this machine can reach."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from ktui.kube.text_cache import cached_by_text


@cached_by_text(maxsize=64, longest=64)
def is_loopback(host: str) -> bool:
    """Return whether `host`, a name or an address without a port, is this machine's loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_of(url: str) -> str:
    """Return the host of a URL in lower case without its port, "" if `url` is not a URL.

    A `Host` header is read as `//HOST`.
    """
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
