"""What the API server needs of packages below the cacher, injected where the server is composed.

Result types are read-only protocols, so that the dataclasses of the room that
answers fit as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ktui.contract.etcd import FieldSize, KeyPage, PrefixPage, StoredKey
from ktui.contract.events import ServerInfo
from ktui.kube.resources import Resource


class ServerFacts(Protocol):
    """Who serves, over which etcd."""

    def info(self) -> ServerInfo:
        """The present facts, also the first event of every telemetry stream."""
        ...

    def etcd_problem(self) -> str:
        """Why etcd does not answer, in one clear sentence; "" while it does."""
        ...


class KeyValue(Protocol):
    """One key as stored at a revision. `json` None when undecodable.

    `ttl` in seconds; -1: no lease, or it has ended; None: it may not be asked.
    """

    @property
    def key(self) -> str: ...
    @property
    def mod_revision(self) -> int: ...
    @property
    def create_revision(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def lease(self) -> int: ...
    @property
    def ttl(self) -> int | None: ...
    @property
    def encoding(self) -> str: ...
    @property
    def api_version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def json(self) -> dict[str, Any] | None: ...
    @property
    def raw(self) -> bytes: ...
    @property
    def error(self) -> str: ...
    @property
    def sizes(self) -> Sequence[FieldSize]: ...


class EtcdBrowser(Protocol):
    """Raw etcd, for the etcd screen."""

    async def prefixes(self, prefix: str) -> PrefixPage: ...

    async def keys(self, prefix: str, limit: int, after: str) -> KeyPage: ...

    async def key(self, key: str, revision: int) -> KeyValue | None:
        """`revision` 0 is the current one; None when there is no such key then."""
        ...

    async def history(self, key: str, limit: int) -> Sequence[StoredKey]:
        """Revisions of a key since its creation, newest first, as far as etcd has them."""
        ...


class Messages(Protocol):
    """Answers in protobuf: of stored bytes, and of JSON documents."""

    def object(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes: ...

    def item(self, raw: bytes, rv: int, api_version: str, kind: str) -> bytes:
        """As an item of a List."""
        ...

    def document(self, document: bytes) -> bytes:
        """Of a JSON object: a Status, a bookmark, a PartialObjectMetadata."""
        ...

    def partial_item(self, document: bytes) -> bytes:
        """Of a PartialObjectMetadata's JSON, as an item of a List."""
        ...

    def list_head(self, api_version: str, kind: str, metadata: dict[str, Any], item_bytes: int) -> bytes: ...

    def list_tail(self) -> bytes: ...

    def frame(self, event_type: str, answer: bytes) -> bytes:
        """One event of a WATCH."""
        ...


class Codec(Protocol):
    """Stored bytes as JSON in a version that is asked for, and objects as stored bytes."""

    @property
    def messages(self) -> Messages: ...

    def encode_object(self, obj: dict[str, Any], resource: Resource) -> bytes: ...

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether a built-in apiVersion has such a kind."""
        ...

    def go_mismatch(self, obj: dict[str, Any], api_version: str, kind: str) -> str:
        """What Go's JSON decoder says of a member of a wrong type, "" when it would take all."""
        ...

    def clear_nulls(self, obj: dict[str, Any], api_version: str, kind: str) -> None:
        """Null as Go's decoder takes it: a member is not there, an item is empty. In place."""
        ...

    def item_pieces(self, raw: bytes, rv: int | None, api_version: str | None = None) -> Sequence[bytes]: ...

    def object_json(self, raw: bytes, rv: int | None, api_version: str | None = None) -> bytes: ...
