"""`/ktui/v1/etcd/…`: raw etcd for the etcd screen."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.answers import send_json
from ktui.apiserver.pages.numbers import number
from ktui.apiserver.pages.secrets import holds_secret, redacted
from ktui.apiserver.ports import EtcdBrowser, KeyValue
from ktui.kube.status import StatusError, bad_request

HEX_BYTES = 4096
MAX_KEYS = 10_000


class EtcdPages:
    def __init__(self, browser: EtcdBrowser, prefix: str) -> None:
        self._browser = browser
        self._prefix = prefix

    async def prefixes(self, request: Request, response: Response) -> None:
        """Children of a prefix."""
        listing = await self._browser.prefixes(request.parameter("prefix", f"{self._prefix}/"))
        names = ("prefix", "resource", "count", "bytes", "exact", "leaf")
        children = [{name: getattr(child, name) for name in names} for child in listing.children]
        listed = {"revision": listing.revision, "children": children, "complete": listing.complete}
        await send_json(response, listed)

    async def keys(self, request: Request, response: Response) -> None:
        """A page of keys under a prefix."""
        limit = min(number(request, "limit", 500), MAX_KEYS)
        prefix = request.parameter("prefix", f"{self._prefix}/")
        listing = await self._browser.keys(prefix, limit, request.parameter("after"))
        names = ("key", "mod_revision", "create_revision", "version", "lease", "bytes")
        rows = [{name: getattr(row, name) for name in names} for row in listing.keys]
        page = {"revision": listing.revision, "count": listing.count, "keys": rows, "next": listing.next}
        await send_json(response, page)

    async def key(self, request: Request, response: Response) -> None:
        """One key at a revision; a Secret's values only with `reveal=1`."""
        key = request.parameter("key")
        if not key:
            raise bad_request("key is required")
        value = await self._browser.key(key, number(request, "revision", 0))
        if value is None:
            raise StatusError(404, "NotFound", f"etcd has no key {key!r} at that revision")
        await send_json(response, describe(value, reveal=request.flag("reveal")))


def describe(value: KeyValue, *, reveal: bool) -> dict[str, Any]:
    """A key as JSON. A Secret's bytes tell its values, so they are withheld as well."""
    names = (
        "key",
        "mod_revision",
        "create_revision",
        "version",
        "lease",
        "ttl",
        "encoding",
        "api_version",
        "kind",
    )
    described = {name: getattr(value, name) for name in names}
    withheld = holds_secret(value.key, value.kind) and not reveal
    described["json"] = redacted(value.json) if withheld and value.json is not None else value.json
    described["hex"] = "" if withheld else value.raw[:HEX_BYTES].hex()
    described["raw_bytes"] = len(value.raw)
    described["redacted"] = withheld
    if value.error:
        described["error"] = value.error
    return described
