"""Index cached objects by label and field value.

The cost of a selective LIST then depends on the size of its result, not of the collection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ktui.storage.slices import sliced

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

Postings = dict[str, dict[str, "StoredObject"]]  # value → objects by key

# Selectors use few attributes; each further one evicts the oldest.
MAX_ATTRIBUTES = 24


class _Build:
    """An index being built. `settled` are keys that changed meanwhile: their entries are already current."""

    def __init__(self) -> None:
        self.postings: Postings = {}
        self.settled: set[str] = set()
        self.done = asyncio.Event()


class AttributeIndex:
    """value → objects, for each label or field that some selector has used.

    An attribute is indexed when it is first used and kept current from then on, so labels that no selector
    uses cost neither memory nor time.
    """

    def __init__(
        self, attributes_of: Callable[[StoredObject], Mapping[str, str]], missing: str | None = None
    ) -> None:
        """`missing` is the value of an attribute that an object lacks; None: such objects are not indexed."""
        self._attributes_of = attributes_of
        self._missing = missing
        self._postings: dict[str, Postings] = {}
        self._builds: dict[str, _Build] = {}

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self._postings)

    def clear(self) -> None:
        self._postings.clear()
        self._builds.clear()

    async def prepare(self, attribute: str, everything: Callable[[], Sequence[StoredObject]]) -> None:
        """Index `attribute` unless it is indexed already; in slices, as 100,000 objects take long."""
        if attribute in self._postings:
            return
        if attribute in self._builds:
            await self._builds[attribute].done.wait()
            return
        build = self._builds[attribute] = _Build()
        try:
            async for part in sliced(everything()):
                self._add(build.postings, (obj for obj in part if obj.key not in build.settled), attribute)
            # Cleared meanwhile: these objects are no longer in the cache.
            if self._builds.get(attribute) is build:
                self._install(attribute, build.postings)
        finally:
            build.done.set()
            if self._builds.get(attribute) is build:
                del self._builds[attribute]

    def lookup(
        self, attribute: str, value: str, everything: Callable[[], Sequence[StoredObject]]
    ) -> Mapping[str, StoredObject]:
        """Return the objects whose `attribute` is `value`; index it now if `prepare` was not called."""
        postings = self._postings.get(attribute)
        if postings is None:
            postings = {}
            self._add(postings, everything(), attribute)
            self._install(attribute, postings)
        return postings.get(value, {})

    def change(self, previous: StoredObject | None, current: StoredObject | None) -> None:
        """Apply one change of the store: `current` replaced `previous` (None: absent)."""
        for attribute, postings in self._postings.items():
            self._replace(postings, attribute, previous, current)
        for attribute, build in self._builds.items():
            self._replace(build.postings, attribute, previous, current)
            build.settled.update(obj.key for obj in (previous, current) if obj is not None)

    def _replace(
        self, postings: Postings, attribute: str, previous: StoredObject | None, current: StoredObject | None
    ) -> None:
        before = None if previous is None else self._value(previous, attribute)
        after = None if current is None else self._value(current, attribute)
        if previous is not None and before is not None and before != after:
            posting = postings.get(before, {})
            posting.pop(previous.key, None)
            if not posting:
                postings.pop(before, None)
        if current is not None and after is not None:
            postings.setdefault(after, {})[current.key] = current

    def _value(self, obj: StoredObject, attribute: str) -> str | None:
        return self._attributes_of(obj).get(attribute, self._missing)

    def _add(self, postings: Postings, objects: Iterable[StoredObject], attribute: str) -> None:
        attributes_of, missing = self._attributes_of, self._missing
        for obj in objects:
            value = attributes_of(obj).get(attribute, missing)
            if value is None:
                continue
            posting = postings.get(value)
            if posting is None:
                posting = postings[value] = {}
            posting[obj.key] = obj

    def _install(self, attribute: str, postings: Postings) -> None:
        while len(self._postings) >= MAX_ATTRIBUTES:
            del self._postings[next(iter(self._postings))]
        self._postings[attribute] = postings
