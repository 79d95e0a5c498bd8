"""Warning headers, within kube-apiserver's limits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from ktui.apiserver.http.response import Headers
from ktui.kube.golang.formatting import quote

# kube-apiserver: truncateAtTotalRunes and truncateItemRunes in endpoints/filters/warning.go.
MAX_CHARACTERS = 4 * 1024
MAX_ITEM_CHARACTERS = 256


def warning_headers(texts: Iterable[str]) -> Headers:
    """Return a header for each distinct text.

    If they exceed MAX_CHARACTERS, each is cut to MAX_ITEM_CHARACTERS, and texts after
    MAX_CHARACTERS are left out.
    """
    return [("warning", f"299 - {quote(text)}") for text in _within_limits(list(dict.fromkeys(texts)))]


def _within_limits(texts: list[str]) -> list[str]:
    fitting = sum(total <= MAX_CHARACTERS for total in accumulate(map(len, texts)))
    if fitting == len(texts):
        return texts
    cut = [text[:MAX_ITEM_CHARACTERS] for text in texts]
    shown = cut[: fitting + 1]
    written = sum(map(len, shown))
    for text in cut[fitting + 1 :]:
        if written >= MAX_CHARACTERS:
            break
        shown.append(text)
        written += len(text)
    return shown
