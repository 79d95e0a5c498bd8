"""etcd behind the server, by its JSON gateway: its revision, its changes, and writes past the server."""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

PREFIX, PREFIX_END = "/registry/", "/registry0"
# Events that the recorded server's build wrote about its own start; the recordings are without them.
START_EVENTS = "/registry/events/default/openshift-kube-apiserver"
_FILLER = "fuzzalign"  # a key outside the prefix; each put of it moves the revision by one


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    return base64.b64decode(text).decode("utf-8", "replace")


class Gateway:
    """Values are base64, as the gateway has them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port)
        self._connection: http.client.HTTPConnection | None = None
        self._keys: set[str] | None = None  # below the prefix, as of the last look

    def revision(self) -> int:
        return int(self._call("kv/range", {"key": encoded("zzzz")})["header"]["revision"])

    def put(self, key: str, value: str) -> int:
        """Write a value; return the revision."""
        answer = self._call("kv/put", {"key": encoded(key), "value": value})
        if self._keys is not None and key.startswith(PREFIX):
            self._keys.add(key)
        return int(answer["header"]["revision"])

    def delete(self, key: str) -> None:
        self._call("kv/deleterange", {"key": encoded(key)})
        if self._keys is not None:
            self._keys.discard(key)

    def remove_start_events(self) -> None:
        body = {"key": encoded(f"{START_EVENTS}."), "range_end": encoded(f"{START_EVENTS}/")}
        self._call("kv/deleterange", body)

    def compact(self, revision: str, *, as_apiserver: bool) -> None:
        """Compact; `as_apiserver`: first write the key by which kube-apiservers agree about it."""
        if as_apiserver:
            self._call("kv/put", {"key": encoded("compact_rev_key"), "value": encoded(revision)})
        self._call("kv/compaction", {"revision": revision})

    def advance(self, revision: int) -> int:
        """Write until etcd has at least this revision; return the one it has."""
        current = self.revision()
        while current < revision:
            current = self.put(_FILLER, encoded("x"))
        return current

    def value_at(self, key: str, revision: int) -> str | None:
        found = self._call("kv/range", {"key": encoded(key), "revision": str(revision)}).get("kvs")
        return found[0].get("value", "") if found else None

    def changes(self, since: int) -> dict[str, str | None]:
        """Return the values of keys that changed after a revision; None: deleted. Below the prefix only."""
        if self._keys is None:
            self._keys = self._all_keys()
        listed = self._list(min_mod_revision=str(since + 1)).get("kvs", [])
        found: dict[str, str | None] = {decoded(kv["key"]): kv.get("value", "") for kv in listed}
        self._keys |= set(found)
        if int(self._list(count_only=True).get("count", 0)) != len(self._keys):
            now = self._all_keys()
            found.update(dict.fromkeys(self._keys - now))
            self._keys = now
        return found

    def apply(self, values: Mapping[str, str | None]) -> bool:
        """Write and delete keys, so that they are as told; return whether there was anything to do."""
        done = False
        for key, value in values.items():
            if value is not None:
                self.put(key, value)
            elif self._keys is None or key in self._keys:
                self.delete(key)
            else:
                continue
            done = True
        return done

    def _all_keys(self) -> set[str]:
        return {decoded(kv["key"]) for kv in self._list(keys_only=True).get("kvs", [])}

    def _list(self, **options: Any) -> dict[str, Any]:
        return self._call("kv/range", {"key": encoded(PREFIX), "range_end": encoded(PREFIX_END), **options})

    def _call(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._exchange(path, body)
        except (http.client.HTTPException, OSError):  # the kept connection is closed: once more
            self._connection = None
            return self._exchange(path, body)

    def _exchange(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._address, timeout=30)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection.request("POST", f"/v3/{path}", json.dumps(body))
        response = self._connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"etcd {path}: {answer}")
        return answer
