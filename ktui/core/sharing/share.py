"""Copy events without private data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ktui.contract.events import AnyEvent, Event, RequestFinished, RequestStarted, RouteStep, ServerInfo
from ktui.contract.events.live import RunningRequest
from ktui.core.sharing.keys import STANDARD, KeyPseudonyms, is_secret
from ktui.core.sharing.names import Pseudonyms
from ktui.core.sharing.queries import Queries
from ktui.core.sharing.table import TABLE, Treatment
from ktui.core.sharing.text import Text

_NO_FIELDS: dict[str, Treatment] = {}


class Sharer:
    """Replaces private data in events, in the order of the recording.

    `secret` is the key of the pseudonyms, random for each copy: names cannot be guessed from them.
    """

    def __init__(self, secret: bytes, *, hashing: bool) -> None:
        self.names = Pseudonyms(secret, hashing=hashing)
        self._keys = KeyPseudonyms(self.names)
        self._queries = Queries(self.names, self._keys)
        self._text = Text(self.names, self._keys)
        self._of_secrets: set[int] = set()  # ids of unfinished requests for Secrets
        self._by_resource: dict[Treatment, Callable[[Any, str], Any]] = {
            Treatment.NAME: lambda value, resource: self.names.name(value, secret=is_secret(resource)),
            Treatment.QUERY: self._queries.query,
            Treatment.SELECTOR: self._queries.selectors,
        }
        self._by_value: dict[Treatment, Callable[[Any], Any]] = {
            Treatment.NAMESPACE: self.names.name,
            Treatment.PATH: self._keys.path,
            Treatment.KEYS: self._keys.request,
            Treatment.KEY: self._keys.key,
            Treatment.ETCD_PREFIX: lambda value: STANDARD,
            Treatment.CLIENT: self.names.client,
            Treatment.USER: self.names.user,
            Treatment.LEVEL: self.names.level,
            Treatment.PEER: self.names.peer,
            Treatment.ACCEPT: self.names.accept,
            Treatment.HOSTS: lambda value: [f"etcd-{number}" for number in range(1, len(value) + 1)],
            Treatment.TEXT: self._text.scrub,
            Treatment.RUNNING: lambda value: [self._running(request) for request in value],
            Treatment.TEXTS: lambda value: [self._scrubbed(item) for item in value],
        }

    def share(self, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        for event in events:
            yield self.share_event(event)

    def share_event(self, event: AnyEvent) -> AnyEvent:
        """Return `event` without private data."""
        self._remember(event)
        table = TABLE.get(str(type(event).__struct_config__.tag), _NO_FIELDS)
        changed: dict[str, Any] = {}
        for field in msgspec.structs.fields(event):
            treatment = table.get(field.name, Treatment.EMPTY)
            if treatment is not Treatment.KEEP:
                changed[field.name] = self._shared_value(treatment, getattr(event, field.name), event)
        if isinstance(event, RequestFinished):
            self._of_secrets.discard(event.id)
        return msgspec.structs.replace(event, **changed) if changed else event

    def _remember(self, event: AnyEvent) -> None:
        if isinstance(event, ServerInfo):
            self._keys.prefix = event.etcd_prefix or STANDARD
        elif isinstance(event, RequestStarted) and is_secret(event.resource):
            self._of_secrets.add(event.id)

    def _shared_value(self, treatment: Treatment, value: Any, event: Event) -> Any:
        if treatment is Treatment.EMPTY or (value and self._answers_for_secret(event)):
            return _empty(value)
        resource = getattr(event, "resource", "")
        if treatment in self._by_resource:
            return self._by_resource[treatment](value, resource)
        return self._by_value[treatment](value)

    def _running(self, request: RunningRequest) -> RunningRequest:
        return msgspec.structs.replace(
            request,
            user=self.names.user(request.user),
            path=self._keys.path(request.path),
            namespace=self.names.name(request.namespace),
            level=self.names.level(request.level),
            schema=self.names.level(request.schema),
        )

    def _answers_for_secret(self, event: Event) -> bool:
        """True for the answer to a request for Secrets: its error may quote anything."""
        return isinstance(event, RequestFinished) and event.id in self._of_secrets

    def _scrubbed(self, item: Any) -> Any:
        if isinstance(item, RouteStep):
            return msgspec.structs.replace(item, saw=self._text.scrub(item.saw))
        return self._text.scrub(item)


def _empty(value: Any) -> Any:
    """Return an empty value of the same type; numbers are kept because they contain no names."""
    if isinstance(value, str | list | dict | tuple):
        return type(value)()
    return value if isinstance(value, int | float) else None
