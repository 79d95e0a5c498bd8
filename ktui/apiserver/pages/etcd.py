"""`/ktui/v1/etcd/…`: raw etcd data for the etcd screen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec.json

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.etcd_key import cached_copy, describe
from ktui.apiserver.pages.numbers import number
from ktui.apiserver.pages.responses import send_json
from ktui.contract.etcd import Churn, KeyHistory
from ktui.kube.status import StatusError, bad_request
from ktui.storage.browser import KEY_SORTS, EtcdBrowser
from ktui.storage.errors import browsing

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

MAX_KEYS = 10_000
MAX_REVISIONS = 1_000


class EtcdPages:
    """Handlers of the etcd browser.

    `prefix` is the key prefix of Kubernetes; a request with an empty `prefix=` reads all of etcd.
    """

    def __init__(self, browser: EtcdBrowser, prefix: str, registry: Registry) -> None:
        self._browser = browser
        self._prefix = prefix
        self._registry = registry
        # each future is done when its stream's client has disconnected
        self._open: set[asyncio.Future[None]] = set()

    async def prefixes(self, request: Request, response: Response) -> None:
        """Send the children of a prefix."""
        prefix = request.parameter("prefix", f"{self._prefix}/")
        with browsing():
            page = await self._browser.prefixes(prefix)
        await send_json(response, page)

    async def keys(self, request: Request, response: Response) -> None:
        """Send a page of keys under a prefix; with `sort` (`-bytes`: largest first) the first of all keys."""
        limit = min(number(request, "limit", 500), MAX_KEYS)
        prefix, sort = request.parameter("prefix", f"{self._prefix}/"), request.parameter("sort")
        column, descending = sort.removeprefix("-"), sort.startswith("-")
        if sort and column not in KEY_SORTS:
            raise bad_request(f"sort is one of {', '.join(KEY_SORTS)}, with - before it to reverse it")
        if column == "bytes" and self._browser.gentle:
            raise bad_request("sizes of keys are not known: every value would be read from an etcd in use")
        with browsing():
            if sort:
                page = await self._browser.top_keys(prefix, limit, column, descending=descending)
            else:
                page = await self._browser.keys(prefix, limit, request.parameter("after"))
        await send_json(response, page)

    async def survey(self, request: Request, response: Response) -> None:
        """Send the sizes of a sample of values under a prefix, after the key `after`."""
        prefix = request.parameter("prefix", f"{self._prefix}/")
        with browsing():
            page = await self._browser.survey(prefix, request.parameter("after"))
        await send_json(response, page)

    async def churn(self, request: Request, response: Response) -> None:
        """Watch a prefix; send a line of JSON about its changes each second until the client disconnects."""
        prefix = request.parameter("prefix", f"{self._prefix}/")
        reports = self._browser.churn(prefix)
        gone = request.disconnection()
        self._open.add(gone)
        try:
            with browsing():
                first = await anext(reports)
            await response.start(200, "application/x-ndjson", [("cache-control", "no-cache")])
            await response.write(_line(first))
            while not gone.done():
                reading = asyncio.ensure_future(anext(reports))
                await asyncio.wait({reading, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    break
                await response.write(_line(reading.result()))
            await response.end()
        finally:
            gone.cancel()
            self._open.discard(gone)
            await reports.aclose()

    def close(self) -> None:
        """End all streams."""
        for gone in list(self._open):
            gone.cancel()

    async def key(self, request: Request, response: Response) -> None:
        """Send one key at a revision; a Secret's values only with `reveal=1`."""
        key, revision = _key(request), number(request, "revision", 0)
        with browsing():
            value = await self._browser.key(key, revision)
        if value is None:
            raise StatusError(404, "NotFound", f"etcd has no key {key!r} at that revision")
        cached = None if revision else cached_copy(self._registry, value)
        await send_json(response, describe(value, cached, reveal=request.flag("reveal")))

    async def history(self, request: Request, response: Response) -> None:
        """Send a key's revisions, newest first. `complete` is False if older ones are missing."""
        key, limit = _key(request), min(number(request, "limit", 100), MAX_REVISIONS)
        with browsing():
            revisions = await self._browser.history(key, limit)
        if not revisions:
            raise StatusError(404, "NotFound", f"etcd has no key {key!r}")
        oldest = revisions[-1]
        complete = oldest.mod_revision == oldest.create_revision
        await send_json(response, KeyHistory(key, list(revisions), complete))


def _line(report: Churn) -> bytes:
    return msgspec.json.encode(report) + b"\n"


def _key(request: Request) -> str:
    key = request.parameter("key")
    if not key:
        raise bad_request("key is required")
    return key
