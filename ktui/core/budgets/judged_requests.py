"""The requests that budgets are judged by: from a server's telemetry, in the order of their start."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ktui.contract.events import AnyEvent, Dropped, Marker, RequestFinished, RequestRouted, RequestStarted
from ktui.kube.requestinfo import api_verb, boolean, first_values, parse_path

MOST_INFORMERS = 100_000  # scopes that are followed to tell relists


class JudgedRequest(msgspec.Struct, gc=False):
    """One request for a resource. A number is None, the route "", where the source does not have it.

    `at`: seconds since 1970. `objects`: returned, of a WATCH its initial events (None if it begins at a
    revision); `scanned`: read from cache or etcd; `bytes`: of the body. `predicted`: the route is.
    """

    at: float
    client: str
    verb: str
    resource: str
    target: str  # path with query
    route: str = ""
    objects: int | None = None
    scanned: int | None = None
    bytes: int | None = None
    ms: float = 0.0
    predicted: bool = False

    @property
    def weight(self) -> tuple[int, int, float]:
        """Orders requests by cost."""
        return self.bytes or 0, self.scanned or self.objects or 0, self.ms


class RecordedRequests:
    """The requests in a server's recording that came after its marker `begin`.

    `complete`: it has the marker `end` too, after which WATCHes end. `dropped` counts events that the server
    could not record: with any, the counts are too low. Requests for no resource (discovery) are left out.
    """

    def __init__(self, begin: str, end: str) -> None:
        self._begin, self._end = begin, end
        self._begun = self.complete = False
        self._requests: dict[int, JudgedRequest] = {}
        self.dropped = 0

    def add(self, event: AnyEvent | None) -> None:
        if isinstance(event, Dropped):
            self.dropped += event.count if self._begun else 0
        elif isinstance(event, Marker):
            self._begun = self._begun or event.text == self._begin
            self.complete = self.complete or event.text == self._end
        elif not self._begun:
            return
        elif isinstance(event, RequestStarted):
            if resource := resource_of(event.path):
                verb = api_verb(event.verb) or event.verb.lower()
                target = f"{event.path}?{event.query}" if event.query else event.path
                self._requests[event.id] = JudgedRequest(event.at, event.client, verb, resource, target)
        elif isinstance(event, RequestRouted):
            if request := self._requests.get(event.id):
                request.route = _route(event.route)
        elif isinstance(event, RequestFinished) and (request := self._requests.get(event.id)):
            _finish(request, event)

    def all(self) -> Iterable[JudgedRequest]:
        return self._requests.values()


def _finish(request: JudgedRequest, event: RequestFinished) -> None:
    request.ms = event.ms
    if request.verb == "watch":
        # From a revision on it begins with what was missed: that is no state that it read.
        if _reads_all("watch", first_values(request.target.partition("?")[2])):
            request.objects, request.bytes = event.initial, event.initial_bytes
            request.scanned = event.fetched
        return
    request.route = _route(event.route)
    request.objects, request.scanned, request.bytes = event.returned, event.fetched, event.encoded_bytes


def _route(route: str) -> str:
    """Return `cache`, `etcd` (also after the cache was late) or `none`."""
    return "etcd" if "etcd" in route else "cache" if route.startswith("cache") else route


def resource_of(path: str) -> str:
    """Return `pods`, `pods/status`, `deployments.apps`; "" for a path of no resource."""
    info = parse_path(path)
    return f"{info.resource_id}/{info.subresource}" if info.subresource else info.resource_id


def client_name(user_agent: str) -> str:
    """Return the first word of a user agent without its version, as servers name clients."""
    words = user_agent.split(None, 1)
    return words[0].partition("/")[0] if words else "unknown"


class Relists:
    """Tells relists: a client that had a WATCH of a scope reads its whole state again.

    That is a LIST (its first page), or a WATCH that begins with initial events. Two informers of one client
    with the same scope cannot be told apart.
    """

    def __init__(self) -> None:
        self._watched: set[tuple[str, ...]] = set()

    def is_relist(self, request: JudgedRequest) -> bool:
        """Call for each request, in their order."""
        if request.verb not in ("list", "watch"):
            return False
        path, _, query = request.target.partition("?")
        values = first_values(query)
        labels, fields = values.get("labelSelector", ""), values.get("fieldSelector", "")
        scope = request.client, path.replace("/watch/", "/", 1), labels, fields
        again = scope in self._watched and _reads_all(request.verb, values)
        if request.verb == "watch" and len(self._watched) < MOST_INFORMERS:
            self._watched.add(scope)
        return again


def _reads_all(verb: str, values: dict[str, str]) -> bool:
    if verb == "list":
        return not values.get("continue")
    if "sendInitialEvents" in values:
        return boolean(values["sendInitialEvents"])
    return values.get("resourceVersion", "") in ("", "0")
