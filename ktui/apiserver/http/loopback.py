"""Protect a server that only programs of this machine can reach against web pages in a browser there.

A server started with `--insecure-http` has no token, so any page could send it requests. A page reaches it
under the page's own host name (DNS rebinding: `Host` is checked), from another origin (`Origin` is checked),
or by a POST that browsers send without a preflight (`Content-Type` is required). No response has CORS
headers, so a page of another origin cannot read it.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Headers
from ktui.kube.golang.formatting import quote
from ktui.kube.status import StatusError, unsupported_media_type
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


NOSNIFF = (b"x-content-type-options", b"nosniff")
KTUI_PATHS = ("/telemetry", "/ktui/")
LONGEST = 100  # characters of a header shown in an error
# Browsers send these without a preflight request.
SIMPLE_TYPES = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")


def check_web_page(request: Request) -> None:
    """Raise StatusError if a web page may have sent the request to a server without a token."""
    if not is_loopback(host_of_header(request.headers.get("host", ""))):
        raise _refused(request, "host")
    if "origin" in request.headers and not is_loopback(host_of(request.headers["origin"])):
        raise _refused(request, "origin")
    # A DELETE may have no body; browsers send a preflight request before it.
    writes = request.method in ("POST", "PUT", "PATCH") or (request.method == "DELETE" and request.has_body)
    if writes and request.media_type in SIMPLE_TYPES:
        raise unsupported_media_type()


def browser_headers(request: Request, *, has_token: bool) -> Headers:
    """Return what keeps browsers from guessing types; other clients get kube-apiserver's headers only."""
    from_browser = "origin" in request.headers or "sec-fetch-site" in request.headers
    if from_browser or not has_token or request.path.startswith(KTUI_PATHS):
        return [NOSNIFF]
    return []


def _refused(request: Request, header: str) -> StatusError:
    value = quote(request.headers.get(header, "")[:LONGEST])
    why = f"{header.capitalize()} {value} is not a loopback name"
    served = "with --insecure-http only localhost, 127.0.0.1 and [::1] are served"
    return StatusError(403, "Forbidden", f"forbidden: {why}: {served}", {})
