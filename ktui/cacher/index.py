"""Which objects bear a label or a field value: what makes a selective LIST proportional to its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

Posting = dict[str, "StoredObject"]  # objects by key

# Selectors use few attributes; what more are asked for push the oldest out.
MAX_ATTRIBUTES = 24


class AttributeIndex:
    """value → objects, for each attribute that some selector has asked for.

    An attribute's postings are made when it is first asked for and kept up to
    date by every change from then on, so that labels nobody selects by cost
    neither memory nor time.
    """

    def __init__(
        self, attributes_of: Callable[[StoredObject], Mapping[str, str]], missing: str | None = None
    ) -> None:
        """`missing` is the value of an attribute that an object lacks; None: it has none, and no posting."""
        self._attributes_of = attributes_of
        self._missing = missing
        self._postings: dict[str, dict[str, Posting]] = {}

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self._postings)

    def clear(self) -> None:
        self._postings.clear()

    def lookup(
        self, attribute: str, value: str, everything: Callable[[], Iterable[StoredObject]]
    ) -> Mapping[str, StoredObject]:
        """Objects whose `attribute` is `value`; `everything` is read if it is asked for the first time."""
        postings = self._postings.get(attribute)
        if postings is None:
            postings = self._build(attribute, everything())
        return postings.get(value, {})

    def change(self, previous: StoredObject | None, current: StoredObject | None) -> None:
        """Follow one change of the store: `previous` made way for `current` (None: absent)."""
        if not self._postings:
            return
        for attribute, postings in self._postings.items():
            before = None if previous is None else self._value(previous, attribute)
            after = None if current is None else self._value(current, attribute)
            if previous is not None and before is not None and before != after:
                self._drop(postings, before, previous.key)
            if current is not None and after is not None:
                postings.setdefault(after, {})[current.key] = current

    def _value(self, obj: StoredObject, attribute: str) -> str | None:
        return self._attributes_of(obj).get(attribute, self._missing)

    @staticmethod
    def _drop(postings: dict[str, Posting], value: str, key: str) -> None:
        posting = postings[value]
        del posting[key]
        if not posting:
            del postings[value]

    def _build(self, attribute: str, objects: Iterable[StoredObject]) -> dict[str, Posting]:
        postings: dict[str, Posting] = {}
        attributes_of, missing = self._attributes_of, self._missing
        for obj in objects:
            value = attributes_of(obj).get(attribute, missing)
            if value is None:
                continue
            posting = postings.get(value)
            if posting is None:
                posting = postings[value] = {}
            posting[obj.key] = obj
        while len(self._postings) >= MAX_ATTRIBUTES:
            del self._postings[next(iter(self._postings))]
        self._postings[attribute] = postings
        return postings
