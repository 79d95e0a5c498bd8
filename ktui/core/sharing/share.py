"""Copy events without private data: a table has the treatment of each field of each event."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any
from urllib.parse import quote, unquote_plus

import msgspec
from msgspec.structs import replace

from ktui.contract.events import AnyEvent, Event, RequestFinished, RequestStarted, RouteStep, ServerInfo
from ktui.contract.events.base import FIGURES
from ktui.contract.events.live import RunningRequest
from ktui.core.sharing.pseudonyms import STANDARD, KeyPseudonyms, Pseudonyms, is_secret, words
from ktui.documents.limits import decode_json

_TOKEN = re.compile(r"\beyJ[\w-]{5,}\.[\w.-]+|\b[Bb]earer\s+\S+|\b(?=\w*\d)(?=\w*[A-Za-z])[\w+-]{32,}={0,2}")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+"  # a URL
    r"|\[[0-9A-Fa-f:.]+\](?::\d+)?|(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){2,7}[0-9A-Fa-f:.]{1,}"  # IPv6
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # IPv4
    r"|\b[\w-]+(?:\.[\w-]+)*:\d{2,5}\b"  # host:port
    r"|\blookup [\w.-]+"
    r"|\b(?![\w.-]*\.(?:k8s|cilium)\.io\b)[A-Za-z][\w-]*(?:\.[\w-]+)+\.[A-Za-z]{2,}\b"  # a host
)
_USER = re.compile(r"[\w.+-]+@[\w.-]+|\bsystem:serviceaccount:[\w.:-]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|`([^`]*)`')
_PATH = re.compile(r"(?<![\w.<])/[\w.@+~-]+(?:/[\w.@+~-]*)*")
_SECRETS = re.compile(r'\b(secrets? )"([^"]+)"')
_HARMLESS = words(
    "limit resourceVersion resourceVersionMatch watch allowWatchBookmarks sendInitialEvents timeoutSeconds "
    "timeout pretty dryRun fieldValidation propagationPolicy gracePeriodSeconds orphanDependents force "
    "follow previous tailLines limitBytes timestamps includeObject reveal revision offset"
)
_HARMLESS_VALUE = re.compile(r"\d{0,20}|[A-Z]?[A-Za-z]{1,14}|(?:\d{1,6}[smh]){1,3}", re.ASCII)
_KEYS = ("key", "prefix", "after")
_NAMED = (*_KEYS, "labelSelector", "fieldSelector", "continue", "filter")
_TERM = re.compile(r"(!?)\s*([^\s=!<>(),]+)\s*(==|=|!=|\s+(?:not)?in\s+|[<>])?\s*(\([^)]*\)|[^,]*)")
_NAMING = words("metadata.name metadata.namespace spec.nodeName involvedObject.name involvedObject.namespace")
_PLAIN_FIELDS = words("status.phase spec.restartPolicy type involvedObject.kind spec.unschedulable spec.type")
_COMMON_LABELS = re.compile(
    r"(app|tier|k8s-app|component|role|name|release|env|version|pod-template-hash|controller-revision-hash|"
    r"([\w-]+\.)*(kubernetes\.io|k8s\.io|cilium\.io|helm\.sh)/[\w.-]+)",
    re.ASCII,
)


class Scrubber:
    """Replaces names and tokens in free text, in query strings, and in the selectors of WATCH events."""

    def __init__(self, names: Pseudonyms, keys: KeyPseudonyms) -> None:
        self._names, self._keys = names, keys

    def scrub(self, text: str) -> str:
        """Scrub free text: tokens, users, addresses and paths, then names that are replaced elsewhere."""
        if not text:
            return text
        text = _ADDRESS.sub("<address>", text)
        text = _USER.sub("<user>", text)
        text = _SECRETS.sub(lambda found: f'{found[1]}"{self._names.name(found[2], secret=True)}"', text)
        text = _PATH.sub(self._path, text)
        text = _TOKEN.sub("<token>", text)
        text = _QUOTED.sub(self._quoted, text)
        return self._names.in_text(text)

    def _path(self, found: re.Match[str]) -> str:
        path = found[0]
        if path.startswith(("/api/", "/apis/")):
            return self._keys.path(path)
        return self._keys.key(path) if path.startswith(self._keys.prefix + "/") else "<path>"

    def _quoted(self, found: re.Match[str]) -> str:
        sign, text = found[0][0], next(group for group in found.groups() if group is not None)
        kept = text.startswith("/") or text[:1] == "<"  # already replaced
        return f"{sign}{text if kept else self._names.name(text)}{sign}"

    def query(self, query: str, resource: str) -> str:
        """Return a raw query without names; values of unknown parameters are hidden."""
        parts = []
        for name, equals, raw in (part.partition("=") for part in query.split("&")):
            known = name in _HARMLESS or (equals and name in _NAMED)
            value = quote(self._value(name, unquote_plus(raw), resource), safe="") if equals else ""
            parts.append(f"{name if known else self._names.hidden(name)}{equals}{value}")
        return "&".join(parts)

    def _value(self, name: str, value: str, resource: str) -> str:
        if name in ("labelSelector", "fieldSelector"):
            return self.selector(value, resource, fields=name == "fieldSelector")
        if name == "continue":
            return without_key(value)
        if name in _KEYS:
            return self._keys.key(value)
        if name in _HARMLESS and _HARMLESS_VALUE.fullmatch(value):
            return value
        return self._names.hidden(value)

    def selector(self, text: str, resource: str, *, fields: bool = False) -> str:
        """Return one selector (labels, fields or both) without names; hidden if it cannot be parsed."""
        terms: list[str] = []
        place = 0
        while place < len(text):
            match = _TERM.match(text, place)
            if match is None or match.end() == place:
                return self._names.hidden(text)
            negated, key, operator, value = match.groups()
            field = fields or key in _NAMING or key in _PLAIN_FIELDS
            shown = key if field or _COMMON_LABELS.fullmatch(key) else self._names.label(key)
            terms.append(f"{negated}{shown}{operator or ''}{self._values(key, value, resource, field)}")
            place = match.end()
            while place < len(text) and text[place] in ", ":
                place += 1
        return ",".join(terms)

    def _values(self, key: str, value: str, resource: str, field: bool) -> str:
        if value.startswith("("):
            inner = (self._item_value(key, item.strip(), resource, field) for item in value[1:-1].split(","))
            return f"({','.join(inner)})"
        return self._item_value(key, value.strip(), resource, field)

    def _item_value(self, key: str, value: str, resource: str, field: bool) -> str:
        if key in _PLAIN_FIELDS:
            return value
        if key in _NAMING or field:
            return self._names.name(value, secret=is_secret(resource) and key == "metadata.name")
        return self._names.label(value)


class _Token(msgspec.Struct):
    rv: int


def without_key(token: str) -> str:
    """Return a continue token with its revision, on which routing depends, but without its key."""
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        found = decode_json(raw, _Token)
    except ValueError:  # includes binascii.Error and DocumentError
        return "left-out"
    plain = msgspec.json.encode({"v": "meta.k8s.io/v1", "rv": found.rv, "start": "left-out\u0000"})
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


class Treatment(Enum):
    """KEEP: it has no names. EMPTY: it is left out. The other members say what the field contains."""

    KEEP = "keep"
    EMPTY = "empty"
    NAMESPACE = "a namespace"
    NAME = "an object's name"
    PATH = "a URL's path"
    QUERY = "a URL's query"
    SELECTOR = "label and field selectors"
    KEYS = "a request in etcd's text form, with keys in quotes"
    KEY = "a key of etcd"
    ETCD_PREFIX = "where Kubernetes keeps its keys"
    CLIENT = "a user agent, or its first word"
    USER = "the requester's user name"
    LEVEL = "a priority level"
    PEER = "host:port of a connection's other end"
    ACCEPT = "an Accept header"
    HOSTS = "a list of addresses"
    TEXT = "free text, which may contain any name"
    RUNNING = "requests that execute or wait, with user and path"
    TEXTS = "a list of free texts or of decision trace steps"


_COST = " ".join(FIGURES)
# By event type: its fields, with the treatment of those that are not just kept.
_FIELDS = {
    "server": (
        "ktui_version kube_version etcd_version etcd_kind writable progress pid feature_gates filling "
        "endpoints:HOSTS etcd_prefix:ETCD_PREFIX warnings:TEXTS "
        "name:EMPTY"  # a host, a file, a context
    ),
    "request_started": (
        "id verb resource path:PATH query:QUERY namespace:NAMESPACE name:NAME client:CLIENT "
        "user_agent:CLIENT accept:ACCEPT user:USER level:LEVEL peer:PEER flow_schema:LEVEL audit_id:EMPTY "
        "chain:EMPTY"
    ),
    "request_routed": "id route reason_id reason limit_honoured consistency wait steps:TEXTS",
    "request_finished": (
        f"id status route reason_id ms phases {_COST} seats peak_held process_growth shared "
        "initial initial_bytes initial_ms rv untold error:TEXT chain:EMPTY"
    ),
    "etcd_call": "op request_id purpose count sent_bytes received_bytes ms revision request:KEYS error:TEXT",
    "toll": "rpcs sent_bytes received_bytes",
    "etcd_health": "ok alarm stream_recheck_at detail:TEXT",
    "progress": "head compact db_bytes in_use_bytes histories",
    "cache": (
        "resource state rv objects bytes json_bytes json_evicted oldest_rv capacity buffered events watchers "
        "waiting snapshots loaded loaded_bytes expected progress_requests stale_since "
        "check check_ms check_objects check_bytes checked_at error:TEXT check_detail:TEXT"
    ),
    "progress_tick": "resource rv",
    "prefix": "resource count bytes exact low high leased prefix:KEY",
    "watcher_opened": (
        "id resource since form route timeout seats observed client:CLIENT namespace:NAMESPACE name:NAME "
        "selector:SELECTOR"
    ),
    "watcher": (
        "id resource buffered capacity delivered bookmarks made shared live bytes initial initial_bytes "
        f"initial_ms {_COST}"
    ),
    "watcher_closed": "id resource delivered bookmarks made shared cause:TEXT",
    "fan_out": (
        "resource change rv previous_rv watchers concerned delivered leaving tables plain_forms table_forms "
        "encodings namespace:NAMESPACE name:NAME"
    ),
    "task_failures": "failures:TEXTS",
    "dropped": "count",
    "marker": "severity cost text:TEXT",
    "live_server": "origin version expected gates not_ready context:EMPTY url:EMPTY denied:EMPTY",
    "live_status": "source interval requests received_bytes busy_ms problem:TEXT",
    "live_replica": (
        "replica version started page_bytes page_lines ms memory_bytes storage_bytes hidden_metrics reading "
        "writing cpu_seconds tls_errors plugins webhooks:EMPTY"
    ),
    "live_down": "replica reason:TEXT",
    "live_resource": "replica resource counters gauges",
    "live_level": "replica counters gauges level:LEVEL",
    "live_requests": "replica requests:RUNNING",
    "live_levels": "replica levels:EMPTY queues:EMPTY",  # names of levels
    "live_flow_config": "schemas:EMPTY levels:EMPTY",  # names, users, groups
    "audit_resource": "resource requests lists span clients:EMPTY",
    "live_probe": "replica resource cache_rv newest_rv ms",
}


def _parsed(fields: str) -> dict[str, Treatment]:
    named = (word.partition(":") for word in f"seq at {fields}".split())
    return {name: Treatment[treatment or "KEEP"] for name, _, treatment in named}


# By event type, then field: its treatment. Every event keeps `seq` and `at`. A field that is not listed is
# emptied; a test requires each new field to be listed.
TABLE: dict[str, dict[str, Treatment]] = {tag: _parsed(fields) for tag, fields in _FIELDS.items()}


class Sharer:
    """Replaces private data in events, in the order of the recording.

    `secret` is the key of the pseudonyms, random for each copy: names cannot be guessed from them.
    """

    def __init__(self, secret: bytes, *, hashing: bool) -> None:
        self.names = Pseudonyms(secret, hashing=hashing)
        self._keys = KeyPseudonyms(self.names)
        self._texts = texts = Scrubber(self.names, self._keys)
        self._of_secrets: set[int] = set()  # ids of unfinished requests for Secrets
        self._by_resource: dict[Treatment, Callable[[Any, str], Any]] = {
            Treatment.NAME: lambda value, resource: self.names.name(value, secret=is_secret(resource)),
            Treatment.QUERY: texts.query,
            Treatment.SELECTOR: texts.selector,
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
            Treatment.TEXT: texts.scrub,
            Treatment.RUNNING: lambda value: [self._running(request) for request in value],
            Treatment.TEXTS: lambda value: [self._scrubbed(item) for item in value],
        }

    def share(self, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        for event in events:
            yield self.share_event(event)

    def share_event(self, event: AnyEvent) -> AnyEvent:
        if isinstance(event, ServerInfo):
            self._keys.prefix = event.etcd_prefix or STANDARD
        elif isinstance(event, RequestStarted) and is_secret(event.resource):
            self._of_secrets.add(event.id)
        table = TABLE.get(str(type(event).__struct_config__.tag), {})
        changed: dict[str, Any] = {}
        for field in msgspec.structs.fields(event):
            treatment = table.get(field.name, Treatment.EMPTY)
            if treatment is not Treatment.KEEP:
                changed[field.name] = self._shared_value(treatment, getattr(event, field.name), event)
        if isinstance(event, RequestFinished):
            self._of_secrets.discard(event.id)
        return replace(event, **changed) if changed else event

    def _shared_value(self, treatment: Treatment, value: Any, event: Event) -> Any:
        # The error of an answer to a request for Secrets may quote anything.
        of_secret = isinstance(event, RequestFinished) and event.id in self._of_secrets
        if treatment is Treatment.EMPTY or (value and of_secret):
            return _empty(value)
        resource = getattr(event, "resource", "")
        if treatment in self._by_resource:
            return self._by_resource[treatment](value, resource)
        return self._by_value[treatment](value)

    def _running(self, request: RunningRequest) -> RunningRequest:
        names, path = self.names, self._keys.path(request.path)
        user, namespace = names.user(request.user), names.name(request.namespace)
        level, schema = names.level(request.level), names.level(request.schema)
        return replace(request, user=user, path=path, namespace=namespace, level=level, schema=schema)

    def _scrubbed(self, item: Any) -> Any:
        scrub = self._texts.scrub
        return replace(item, saw=scrub(item.saw)) if isinstance(item, RouteStep) else scrub(item)


def _empty(value: Any) -> Any:
    """Return an empty value of the same type; numbers are kept because they contain no names."""
    if isinstance(value, str | list | dict | tuple):
        return type(value)()
    return value if isinstance(value, int | float) else None
