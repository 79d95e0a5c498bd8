"""Answers for agents: at most 4 KB of JSON that say what was left out, and names of a cluster masked."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from ktui.core.sharing.pseudonyms import KeyPseudonyms, Pseudonyms
from ktui.core.sharing.share import Scrubber
from ktui.kube.requestinfo import parse_path, split_url
from ktui.printable import json_escaped

MOST_BYTES = 4096
_WIDTHS = (400, 160, 60)  # characters that are kept of each text, one after the other until all fits
Document = dict[str, Any]


class ToolProblem(Exception):
    """A tool cannot answer; the message is one sentence that names what is wrong."""


def fitted(document: Document, lists: Sequence[str] = ()) -> str:
    """Return the document as JSON of at most MOST_BYTES.

    If it is larger, the last items of its `lists` are left out, of the first-named list first, and long
    texts are cut. `left_out` has the number of items by list, and of texts under `texts_cut`.
    Raises ToolProblem if the rest does not fit either.
    """
    for width in _WIDTHS:
        cut: list[str] = []
        small = _cut(document, width, cut)
        left: dict[str, int] = {"texts_cut": len(cut)} if cut else {}
        text = _encoded(small, left)
        for name in lists:
            while len(text.encode()) > MOST_BYTES and small.get(name):
                small[name] = small[name][:-1]
                left[name] = left.get(name, 0) + 1
                text = _encoded(small, left)
        if len(text.encode()) <= MOST_BYTES:
            return text
    raise ToolProblem(f"the answer has more than {MOST_BYTES} bytes: ask for less")


def _encoded(document: Document, left: dict[str, int]) -> str:
    whole = {**document, "left_out": left} if left else document
    return json_escaped(msgspec.json.encode(whole).decode())


def _cut(value: Any, width: int, cut: list[str]) -> Any:
    """Return a copy with texts of at most `width` characters; the longer ones are added to `cut`."""
    if isinstance(value, str) and len(value) > width:
        cut.append(value)
        return value[: width - 1] + "…"
    if isinstance(value, dict):
        return {name: _cut(item, width, cut) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(item, width, cut) for item in value]
    return value


class Masks:
    """Replaces names of a cluster, with the rules of `ktui recording share`: the same word for the same name
    until this process ends. With `allow` names are kept, but for those of Secrets, addresses and tokens.
    """

    def __init__(self, *, allow: bool) -> None:
        self.names = Pseudonyms(secrets.token_bytes(32), hashing=not allow)
        self._keys = KeyPseudonyms(self.names)
        self._texts = Scrubber(self.names, self._keys)
        self.text = self._texts.scrub  # free text, with the names that were masked before

    def url(self, url: str) -> str:
        """Return a path with its query."""
        path, query = split_url(url)
        resource = parse_path(path).resource_id
        masked = self._keys.path(path)
        return f"{masked}?{self._texts.query(query, resource)}" if query else masked
