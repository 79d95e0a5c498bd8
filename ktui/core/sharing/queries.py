"""Replace names and tokens in query strings and selectors."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote, unquote_plus

import msgspec

from ktui.core.sharing.keys import KeyPseudonyms, is_secret
from ktui.core.sharing.names import Pseudonyms, words
from ktui.documents.typed import decode_json

_HARMLESS = words(
    "limit resourceVersion resourceVersionMatch watch allowWatchBookmarks sendInitialEvents timeoutSeconds "
    "timeout pretty dryRun fieldValidation propagationPolicy gracePeriodSeconds orphanDependents force "
    "follow previous tailLines limitBytes timestamps includeObject reveal revision offset"
)
_HARMLESS_VALUE = re.compile(r"\d{0,20}|[A-Z]?[A-Za-z]{1,14}|(?:\d{1,6}[smh]){1,3}", re.ASCII)
_KEYS = ("key", "prefix", "after")
_TERM = re.compile(r"(!?)\s*([^\s=!<>(),]+)\s*(==|=|!=|\s+(?:not)?in\s+|[<>])?\s*(\([^)]*\)|[^,]*)")
_NAMING = words("metadata.name metadata.namespace spec.nodeName involvedObject.name involvedObject.namespace")
_PLAIN_FIELDS = words("status.phase spec.restartPolicy type involvedObject.kind spec.unschedulable spec.type")
_COMMON_LABELS = re.compile(
    r"(app|tier|k8s-app|component|role|name|release|env|version|pod-template-hash|controller-revision-hash|"
    r"([\w-]+\.)*(kubernetes\.io|k8s\.io|cilium\.io|helm\.sh)/[\w.-]+)",
    re.ASCII,
)


class Queries:
    """Replaces names in query strings, and in the selectors of WATCH events."""

    def __init__(self, names: Pseudonyms, keys: KeyPseudonyms) -> None:
        self._names = names
        self._keys = keys

    def query(self, query: str, resource: str) -> str:
        """Return a raw query without names; values of unknown parameters are hidden."""
        return "&".join(self._parameter(part, resource) for part in query.split("&")) if query else ""

    def _parameter(self, part: str, resource: str) -> str:
        name, equals, raw = part.partition("=")
        if not equals:
            return name if name in _HARMLESS else self._names.hidden(name)
        return f"{self._called(name)}={quote(self._value(name, unquote_plus(raw), resource), safe='')}"

    def _called(self, name: str) -> str:
        known = name in _HARMLESS or name in (*_KEYS, "labelSelector", "fieldSelector", "continue", "filter")
        return name if known else self._names.hidden(name)

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

    def selectors(self, text: str, resource: str) -> str:
        """Return a watcher event's selectors without names; labels and fields are joined in it."""
        return self.selector(text, resource, fields=False)

    def selector(self, text: str, resource: str, *, fields: bool) -> str:
        """Return one selector without names; hidden completely if it cannot be parsed."""
        terms: list[str] = []
        place = 0
        while place < len(text):
            match = _TERM.match(text, place)
            if match is None or match.end() == place:
                return self._names.hidden(text)
            terms.append(self._term(match, resource, fields))
            place = match.end()
            while place < len(text) and text[place] in ", ":
                place += 1
        return ",".join(terms)

    def _term(self, match: re.Match[str], resource: str, fields: bool) -> str:
        negated, key, operator, value = match.groups()
        field = fields or key in _NAMING or key in _PLAIN_FIELDS
        shown = key if field or _COMMON_LABELS.fullmatch(key) else self._names.label(key)
        return f"{negated}{shown}{operator or ''}{self._values(key, value, resource, field)}"

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
