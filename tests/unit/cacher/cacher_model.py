"""A stored object and a selection, as small as the cacher's data structures need them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ktui.cacher.watch_events import DELETED, CacheEvent


@dataclass(frozen=True)
class FakeFields:
    wanted: dict[str, str] = field(default_factory=dict)

    def requires(self, name: str) -> str | None:
        return self.wanted.get(name)


@dataclass(frozen=True)
class FakeSelection:
    namespace: str | None = None
    name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    fields: FakeFields = field(default_factory=FakeFields)
    shards: None = None

    @property
    def selective(self) -> bool:
        return bool(self.labels or self.fields.wanted)


@dataclass(unsafe_hash=True)
class FakeObject:
    key: str
    rv: int = 1
    labels: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    size: int = 1
    share: Any = field(default=None, compare=False)
    kept: int = field(default=0, compare=False)

    @property
    def namespace(self) -> str:
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    def with_rv(self, rv: int) -> FakeObject:
        return replace(self, rv=rv)

    def shrink(self, newer: Any) -> None:
        """Nothing to drop."""

    def full_json(self) -> bytes:
        return b'{"name":"%b","rv":%d}' % (self.key.encode(), self.rv)

    def matches(self, selection: Any) -> bool:
        wanted = selection.fields.wanted
        return all(self.labels.get(k) == v for k, v in selection.labels.items()) and all(
            self.fields.get(k) == v for k, v in wanted.items()
        )


def obj(key: str, rv: int = 1, **labels: str) -> Any:
    return FakeObject(key, rv, labels)


def on_node(key: str, node: str, rv: int = 1) -> Any:
    return FakeObject(key, rv, fields={"spec.nodeName": node})


def selection(namespace: str | None = None, name: str | None = None, node: str = "", **labels: str) -> Any:
    wanted = {"spec.nodeName": node} if node else {}
    return FakeSelection(namespace, name, labels, FakeFields(wanted))


def event(event_type: str, current: Any, previous: Any = None, at: float = 0.0) -> CacheEvent:
    if event_type == DELETED and previous is None:
        previous = current.with_rv(current.rv - 1)
    return CacheEvent(event_type, current, previous, current.rv, at)
