"""The result of a scan, and texts shared by many objects."""

import msgspec

from ktui.wire.jsontext import utf8
from ktui.wire.pb import walk

_MOST = 20_000


class Scanned(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An object's fields that filters need. Objects with equal labels share one dict: never change it."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    fields: dict[str, str]


class SharedStrings(dict[bytes, str]):
    """A cache for texts of few values in many objects: node names, phases, namespaces."""

    def __missing__(self, encoded: bytes) -> str:
        if len(self) > _MOST:
            self.clear()
        text = self[encoded] = utf8(encoded)
        return text


class SharedLabels(dict[bytes, dict[str, str]]):
    """A cache for label sets, which the pods of a ReplicaSet share: encoded entries → one dict."""

    def __missing__(self, run: bytes) -> dict[str, str]:
        if len(self) > _MOST:
            self.clear()
        labels = self[run] = dict(_entry(entry) for _, _, entry in walk(run) if isinstance(entry, bytes))
        return labels


def _entry(encoded: bytes) -> tuple[str, str]:
    parts = {number: part for number, _, part in walk(encoded) if isinstance(part, bytes)}
    return utf8(parts.get(1, b"")), utf8(parts.get(2, b""))
