"""Replace the names in etcd keys and URL paths with pseudonyms."""

from __future__ import annotations

import re

from ktui.core.sharing.names import Pseudonyms, words

STANDARD = "/registry"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUL = "\\000"
_BELOW = {"services": ("specs", "endpoints"), "ranges": ("serviceips", "servicenodeports")}
_ADDRESSED = ("masterleases", "peerserverleases", "ranges")  # keyed by addresses of apiservers
_SUBRESOURCES = words(
    "status scale log exec attach portforward proxy binding eviction ephemeralcontainers token approval "
    "finalize resize"
)
_ROOTS = words(
    "api apis version healthz readyz livez metrics openapi v2 v3 logs telemetry ktui v1 server settings etcd "
    "prefixes keys key history caches requests objects events warm check .well-known openid-configuration "
    "openid jwks ping"
)


def is_secret(resource: str) -> bool:
    """True if a resource's names are hidden in any mode."""
    return resource == "secrets"


class KeyPseudonyms:
    """Pseudonyms in etcd keys. The server's prefix is written as `/registry`, whatever it is."""

    def __init__(self, names: Pseudonyms) -> None:
        self._names = names
        self.prefix = STANDARD

    def request(self, text: str) -> str:
        """Replace the quoted keys in the text of an etcd call; a range end stays the end of its range."""
        before: tuple[str, str] = ("", "")

        def replaced(quoted: re.Match[str]) -> str:
            nonlocal before
            raw = quoted[1]
            whole, word = before
            end = self._end(whole, word) if whole and raw == self._end(whole, whole) else self.key(raw)
            before = (raw, end)
            return f'"{end}"'

        return _QUOTED.sub(replaced, text)

    @staticmethod
    def _end(whole: str, key: str) -> str:
        """Return the range end for the prefix `whole`, whose pseudonym is `key`; "" if it is no prefix."""
        return key[:-1] + "0" if whole.endswith("/") else ""

    def key(self, key: str) -> str:
        """Return a key with its resource, and with pseudonyms for namespaces and names."""
        if key.endswith(_NUL):
            return self.key(key[: -len(_NUL)]) + _NUL
        if key != self.prefix and not key.startswith(self.prefix + "/"):
            return "/".join(self._names.hidden(part) for part in key.split("/"))
        parts = key[len(self.prefix) :].strip("/").split("/")
        kind = self._kind(parts)
        ends = "/" if key.endswith("/") and len(key) > 1 else ""
        return "/".join([STANDARD, *parts[:kind], *self._names_of(parts, kind)]).rstrip("/") + ends

    @staticmethod
    def _kind(parts: list[str]) -> int:
        """Return how many of the parts name the resource (with a group: 2)."""
        first = parts[0]
        grouped = "." in first or (len(parts) > 1 and parts[1].rstrip("0") in _BELOW.get(first, ()))
        return 2 if grouped else 1

    def _names_of(self, parts: list[str], kind: int) -> list[str]:
        rest = parts[kind:]
        if parts[0] in _ADDRESSED:
            return [self._names.hidden(part) for part in rest]
        last = len(rest) - 1
        return [
            self._names.name(part, secret=is_secret(parts[0]) and place == last and last > 0)
            for place, part in enumerate(rest)
        ]

    def path(self, path: str) -> str:
        """Return a URL path with its version, resource and subresource, and with pseudonyms for names."""
        parts = path.split("/")
        if len(parts) > 2 and parts[1] in ("api", "apis"):
            first = 3 if parts[1] == "api" else 4
            return "/".join([*parts[:first], *self._objects(parts[first:])])
        return "/".join(part if part in _ROOTS or not part else self._names.hidden(part) for part in parts)

    def _objects(self, parts: list[str]) -> list[str]:
        """Replace the names after the version: `namespaces/NS/RESOURCE/NAME/SUBRESOURCE`, or less."""
        if parts and parts[0] == "watch":  # as was usual before ?watch=1
            return ["watch", *self._objects(parts[1:])]
        if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in ("status", "finalize"):
            return ["namespaces", self._names.name(parts[1]), *self._objects(parts[2:])]
        if len(parts) < 2:
            return parts
        resource, name, *rest = parts
        below = [part if part in _SUBRESOURCES else self._names.hidden(part) for part in rest]
        return [resource, self._names.name(name, secret=is_secret(resource)), *below]
