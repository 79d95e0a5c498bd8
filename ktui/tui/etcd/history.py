"""The revisions of a key, and the difference between two of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from ktui.contract.etcd import KeyDetail, KeyHistory, StoredKey
from ktui.core.object_lines import Line, TextSpan, hex_lines, yaml_lines

CONTEXT = 3  # unchanged lines around a change


class KeyRevisions:
    """The revisions of one key, newest first; each is compared with `marked`, or with the previous if 0."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.revisions: list[StoredKey] = []
        self.complete = True
        self.marked = 0
        self.reveal = False
        self._read: dict[tuple[int, bool], KeyDetail] = {}

    def put(self, page: KeyHistory) -> None:
        self.revisions, self.complete = page.revisions, page.complete

    def mark(self, revision: int) -> None:
        """Compare with this revision from now on; the same revision again removes the mark."""
        self.marked = 0 if self.marked == revision else revision

    def pair(self, revision: int) -> tuple[int, int]:
        """Return the two revisions to compare, the older first; that is 0 if there is none."""
        if self.marked and self.marked != revision:
            return min(self.marked, revision), max(self.marked, revision)
        older = [row.mod_revision for row in self.revisions if row.mod_revision < revision]
        return (older[0] if older else 0), revision

    def keep(self, detail: KeyDetail) -> None:
        self._read[detail.mod_revision, self.reveal] = detail

    def read(self, revision: int) -> KeyDetail | None:
        """Return what was read of a revision with the current `reveal`; None if nothing."""
        return self._read.get((revision, self.reveal))

    def missing(self, revision: int) -> list[int]:
        """Return the revisions to read before `revision` can be compared."""
        return [each for each in self.pair(revision) if each and self.read(each) is None]

    def grown(self, row: StoredKey) -> int | None:
        """Return the bytes by which a revision is larger than the previous one; None if unknown."""
        at = self.revisions.index(row)
        if at + 1 >= len(self.revisions):
            return row.bytes if self.complete else None
        before = self.revisions[at + 1].bytes
        return None if row.bytes is None or before is None else row.bytes - before


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines, the changed ones with a sign (+, −), and how many were added and removed."""

    lines: list[Line] = field(default_factory=list)
    added: int = 0
    removed: int = 0


def difference(old: KeyDetail | None, new: KeyDetail) -> Difference:
    """Return the changes from `old` (None: the key did not exist) to `new`, as a unified diff."""
    before = _texts(old) if old is not None else []
    lines: list[Line] = []
    added = removed = 0
    for text in list(difflib.unified_diff(before, _texts(new), n=CONTEXT, lineterm=""))[2:]:
        sign, rest = text[:1], text[1:]
        if sign == "@":
            lines.append((TextSpan(text, "dim"),))
        elif sign == "+":
            added += 1
            lines.append((TextSpan(f"+ {rest}", "added"),))
        elif sign == "-":
            removed += 1
            lines.append((TextSpan(f"− {rest}", "removed"),))
        else:
            lines.append((TextSpan(f"  {rest}", "plain"),))
    return Difference(lines, added, removed)


def _texts(detail: KeyDetail) -> list[str]:
    """Return the value's lines: YAML without the resourceVersion (always different), text, or hex."""
    if detail.json is not None:
        lines = yaml_lines(_without_revision(detail.json))
    elif detail.text:
        return detail.text.splitlines()
    else:
        lines = hex_lines(bytes.fromhex(detail.hex), detail.raw_bytes)
    return ["".join(span.text for span in line) for line in lines]


def _without_revision(value: object) -> object:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return value
    metadata = {name: item for name, item in value["metadata"].items() if name != "resourceVersion"}
    return {**value, "metadata": metadata}
