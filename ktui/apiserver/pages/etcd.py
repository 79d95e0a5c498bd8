"""`/ktui/v1/etcd/…`: raw etcd data for the etcd screen."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec.json

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import number, send_json
from ktui.cacher.cachers import Registry
from ktui.contract.etcd_documents import CachedCopy, Churn, KeyDetail, KeyHistory
from ktui.etcd.types import KV
from ktui.kube.status import StatusError, bad_request
from ktui.storage.browser import KEY_SORTS, EtcdBrowser, KeyValue
from ktui.storage.errors import browsing
from ktui.storage.keys import DecodedValue, key_text
from ktui.storage.prefix_sizes import SECRETS

MASK = "<redacted>"
_METADATA_TEXTS = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
    "selfLink",
)  # fmt: skip
_COPY = "last-applied-configuration"  # suffix of the annotation with kubectl's copy
_METADATA_NUMBERS = ("generation", "deletionGracePeriodSeconds")


def redact(document: Any, *, secret: bool = False) -> tuple[Any, bool]:
    """Return a copy with the values of all Secrets masked, and whether anything in it is a Secret.

    Secrets are found in lists and wherever else they are embedded. With `secret` the document
    itself is one, or a list of them, whatever its kind says. Data in etcd may be malformed: of a Secret only
    members that a valid one has are shown.
    """
    try:
        shown = _in_secret(document) if secret else _masked(document)
    except RecursionError:
        return MASK, True
    return shown, secret or shown != document


def _masked(value: Any) -> Any:
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") in ("Secret", "SecretList"):
        return _in_secret(value)
    return {name: _masked(member) for name, member in value.items()}


def _in_secret(value: Any) -> Any:
    if not isinstance(value, dict):
        return MASK
    lists = str(value.get("kind")).endswith("List")
    return {name: _member(name, member, lists=lists) for name, member in value.items()}


def _member(name: str, value: Any, *, lists: bool) -> Any:
    if name in ("apiVersion", "kind", "type") and isinstance(value, str):
        return value
    if value is None or (name == "immutable" and isinstance(value, bool)):
        return value
    if name == "metadata" and isinstance(value, dict):
        return {part: _metadata(part, of) for part, of in value.items()}
    if name in ("data", "stringData") and isinstance(value, dict):
        return dict.fromkeys(value, MASK)
    if name == "items" and lists and isinstance(value, list):
        return [_in_secret(item) for item in value]
    return MASK


def _metadata(name: str, value: Any) -> Any:
    if value is None or (name in _METADATA_TEXTS and isinstance(value, str)):
        return value
    if name in _METADATA_NUMBERS and isinstance(value, int):
        return value
    if name in ("labels", "annotations") and isinstance(value, dict):
        return {key: _annotation(key, text) for key, text in value.items()}
    if name == "finalizers" and isinstance(value, list):
        return [item if isinstance(item, str) else MASK for item in value]
    if name in ("ownerReferences", "managedFields") and isinstance(value, list):
        return value
    return MASK


def _annotation(key: str, value: Any) -> Any:
    """Mask an annotation that may hold a copy of the applied object, as `kubectl apply` and others keep."""
    if not isinstance(value, str) or key.endswith(_COPY) or value.lstrip().startswith(("{", "[")):
        return MASK
    return MASK if "data:" in value.lower() else value


HEX_BYTES = 4096
TEXT_BYTES = 64 << 10


def describe(value: KeyValue, cached: CachedCopy | None, *, reveal: bool) -> KeyDetail:
    """Return a key as a document. A Secret's raw bytes contain its values, so they are withheld too."""
    kv, decoded = value.kv, value.decoded
    json, withheld = (decoded.json, False) if reveal else _shown(kv, decoded)
    return KeyDetail(
        key=key_text(kv.key),
        mod_revision=kv.mod_revision,
        create_revision=kv.create_revision,
        version=kv.version,
        lease=kv.lease,
        ttl=value.ttl,
        encoding=decoded.encoding,
        api_version=decoded.api_version,
        kind=decoded.kind,
        error=decoded.error,
        json=json,
        hex="" if withheld else kv.value[:HEX_BYTES].hex(),
        raw_bytes=len(kv.value),
        redacted=withheld,
        sizes=list(decoded.sizes),
        text="" if withheld or decoded.json is not None else _text(kv.value),
        cache=cached,
    )


def _shown(kv: KV, decoded: DecodedValue) -> tuple[Any, bool]:
    """Return the document without a Secret's values, and whether anything is withheld."""
    secret = SECRETS in kv.key or decoded.kind == "Secret"
    if decoded.json is None:
        return None, secret or b"Secret" in kv.value  # it cannot be decoded
    return redact(decoded.json, secret=secret)


def cached_copy(registry: Registry, kv: KV) -> CachedCopy | None:
    """Return the watch cache's copy of a key: `rv` (0: no copy) at `cache_rv`; None if no cache is ready."""
    key = key_text(kv.key)
    for cacher in registry:
        if cacher.cache is not None and key.startswith(cacher.store.prefix):
            state = cacher.cache.state()
            if state.state != "ready":
                return None
            found = cacher.cache.memory.store.get(key)
            same = found is not None and found.rv == kv.mod_revision and found.raw == kv.value
            rv = found.rv if found is not None else 0
            return CachedCopy(state.resource, rv, state.rv, same)
    return None


def _text(raw: bytes) -> str:
    """Return the value as plain text, "" if it is not text."""
    try:
        text = raw[:TEXT_BYTES].decode()
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char in "\t\r\n" for char in text) else ""


MAX_KEYS = 10_000
MAX_REVISIONS = 1_000


class EtcdPages:
    """The etcd browser. `prefix` is that of Kubernetes; a request with an empty `prefix=` reads all."""

    def __init__(self, browser: EtcdBrowser, prefix: str, registry: Registry) -> None:
        self._browser = browser
        self._prefix = prefix
        self._registry = registry
        # each future is done when its stream's client has disconnected
        self._open: set[asyncio.Future[None]] = set()

    async def prefixes(self, request: Request, response: Response) -> None:
        with browsing():
            page = await self._browser.prefixes(self._prefix_of(request))
        await send_json(response, page)

    async def keys(self, request: Request, response: Response) -> None:
        """Send a page of keys under a prefix; with `sort` (`-bytes`: largest first) the first of all keys."""
        limit = min(number(request, "limit", 500), MAX_KEYS)
        prefix, sort = self._prefix_of(request), request.parameter("sort")
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
        with browsing():
            page = await self._browser.survey(self._prefix_of(request), request.parameter("after"))
        await send_json(response, page)

    async def churn(self, request: Request, response: Response) -> None:
        """Watch a prefix; send a line of JSON about its changes each second until the client disconnects."""
        reports = self._browser.churn(self._prefix_of(request))
        gone = request.disconnection()
        self._open.add(gone)
        try:
            with browsing():
                first = await anext(reports)
            await response.start(200, "application/x-ndjson", [(b"cache-control", b"no-cache")])
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

    def _prefix_of(self, request: Request) -> str:
        return request.parameter("prefix", f"{self._prefix}/")

    def close(self) -> None:
        for gone in list(self._open):
            gone.cancel()

    async def key(self, request: Request, response: Response) -> None:
        """Send one key at a revision; a Secret's values only with `reveal=1`."""
        key, revision = _key(request), number(request, "revision", 0)
        with browsing():
            value = await self._browser.key(key, revision)
        if value is None:
            raise StatusError(404, "NotFound", f"etcd has no key {key!r} at that revision")
        cached = None if revision else cached_copy(self._registry, value.kv)
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
