"""The typed client of the `/ktui/v1` API: one method per path."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ktui.client.connection import ClientError
from ktui.contract import paths
from ktui.contract.cache_documents import ConsistencyCheck, EventPage, ObjectPage
from ktui.contract.etcd_documents import Churn, KeyDetail, KeyHistory, KeyPage, PrefixPage, SurveyPage
from ktui.contract.events import RequestFinished, ServerInfo
from ktui.contract.events.base import MarkerRequest
from ktui.contract.faults import ActiveFaults, Fault
from ktui.contract.paths import Rules
from ktui.documents.limits import DocumentError, decode_json

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

Document = TypeVar("Document")


class KtuiApi:
    """The `/ktui/v1` API. Methods raise ClientError if the server is unreachable, refuses, or is another."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client

    async def info(self) -> ServerInfo:
        return await self._get(paths.INFO, ServerInfo)

    async def rules(self) -> Rules:
        return await self._get(paths.BEHAVIOUR, Rules)

    async def follow_rules(self, kube_version: str, feature_gates: Mapping[str, bool]) -> Rules:
        """Make the server follow another version's rules from the next request on."""
        wanted = Rules(kube_version, dict(feature_gates))
        return await self._send("PUT", paths.BEHAVIOUR, wanted, Rules)

    async def inject(self, fault: Fault) -> ActiveFaults:
        """Make the server begin a fault; it refuses unless it started its etcd."""
        return await self._send("POST", paths.FAULTS, fault, ActiveFaults)

    async def end_faults(self) -> ActiveFaults:
        return await self._send("DELETE", paths.FAULTS, {}, ActiveFaults)

    async def mark(self, text: str) -> None:
        """Make the server publish a marker: charts and recordings show it."""
        await self.client.send_json("POST", paths.MARKERS, MarkerRequest(text))

    async def keep_requests(self) -> None:
        """Make the server keep finished requests from now on, for `finished_request`."""
        await self.client.get_json(paths.with_query(paths.REQUESTS, limit=1))

    async def finished_request(self, request_id: int) -> RequestFinished | None:
        """Return a request's cost, waiting briefly for its end; None if the server has not kept it."""
        response = await self.client.request("GET", paths.of_request(request_id))
        with suppress(DocumentError):
            if response.status_code == 200:
                return decode_json(response.content, RequestFinished)
        return None

    async def prefixes(self, prefix: str | None = None) -> PrefixPage:
        """Return the children of a prefix; "" is all of etcd, None Kubernetes' prefix."""
        return await self._get(paths.with_query(paths.ETCD_PREFIXES, prefix=prefix), PrefixPage)

    async def survey(self, prefix: str | None, after: str = "") -> SurveyPage:
        """Return the sizes of some of the values under a prefix; None is Kubernetes' prefix."""
        path = paths.with_query(paths.ETCD_SURVEY, prefix=prefix, after=after or None)
        return await self._get(path, SurveyPage)

    async def churn(self, prefix: str | None) -> AsyncGenerator[Churn, None]:
        """Yield the changes under a prefix since this call, once a second, until closed."""
        path, rest = paths.with_query(paths.ETCD_CHURN, prefix=prefix), b""
        async for piece in self.client.watch(path):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                try:
                    yield decode_json(line, Churn)
                except DocumentError as error:
                    raise self._foreign(path, error) from error

    async def keys(self, prefix: str, limit: int, after: str = "", sort: str = "") -> KeyPage:
        """Return the keys after `after`; with `sort` (`-bytes`) the first of all keys in that order."""
        more = {"after": after or None, "sort": sort or None}
        return await self._get(paths.with_query(paths.ETCD_KEYS, prefix=prefix, limit=limit, **more), KeyPage)

    async def key(self, key: str, *, revision: int = 0, reveal: bool = False) -> KeyDetail:
        """Return one key at `revision` (0: now); `reveal` includes the values of a Secret."""
        more = {"revision": revision or None, "reveal": 1 if reveal else None}
        return await self._get(paths.with_query(paths.ETCD_KEY, key=key, **more), KeyDetail)

    async def key_history(self, key: str, limit: int) -> KeyHistory:
        return await self._get(paths.with_query(paths.ETCD_HISTORY, key=key, limit=limit), KeyHistory)

    async def cached_objects(
        self, resource: str, *, offset: int = 0, limit: int = 200, containing: str = "", sort: str = ""
    ) -> ObjectPage:
        """Return cached objects whose `namespace/name` contains a text, by key or by `sort` (`-bytes`)."""
        chosen = {"offset": offset, "limit": limit, "filter": containing or None, "sort": sort or None}
        return await self._get(paths.of_cache(paths.CACHE_OBJECTS, resource, **chosen), ObjectPage)

    async def cached_events(self, resource: str, *, limit: int, revision: int = 0) -> EventPage:
        """Return the newest entries of the event buffer, or those of one `revision`."""
        path = paths.of_cache(paths.CACHE_EVENTS, resource, limit=limit, revision=revision or None)
        return await self._get(path, EventPage)

    async def warm(self, resource: str) -> None:
        await self.client.send_json("POST", paths.of_cache(paths.CACHE_WARM, resource), {})

    async def cancel_warming(self, resource: str) -> None:
        """Stop filling a cache, which is then cold again."""
        await self.client.send_json("DELETE", paths.of_cache(paths.CACHE_WARM, resource), {})

    async def check(self, resource: str) -> ConsistencyCheck:
        """Compare a cache with etcd by digest; reads the whole resource from etcd."""
        return await self._send("POST", paths.of_cache(paths.CACHE_CHECK, resource), {}, ConsistencyCheck)

    async def lose(self, resource: str) -> str:
        """Make a cache lose an object; return its name."""
        answer = await self.client.send_json("POST", paths.of_cache(paths.CACHE_LOSE, resource), {})
        return str(answer.get("lost", "")) if isinstance(answer, dict) else ""

    async def _get(self, path: str, document: type[Document]) -> Document:
        return await self._send("GET", path, None, document)

    async def _send(self, method: str, path: str, body: object, document: type[Document]) -> Document:
        get = method == "GET"
        answer = await (self.client.get_json(path) if get else self.client.send_json(method, path, body))
        try:
            return msgspec.convert(answer, document)
        except msgspec.ValidationError as error:
            raise self._foreign(path, error) from error

    def _foreign(self, path: str, error: Exception) -> ClientError:
        url = self.client.connection.url
        return ClientError(f"{url} is not a ktui server: its answer to {path}: {error}")
