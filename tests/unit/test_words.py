"""Plain words: terms that make a reader decode the text stay out, each with its plain form.

Covers docs, docstrings, comments, messages and `--help`; of the screens (`ktui/tui`, `ktui/core`) docstrings
and comments, not yet what they show. The list is short on purpose: it holds phrases that are never needed,
not words that are merely rare.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLAIN = {
    r"to be had": "available, reachable",
    r"tells? of": "reports, says",
    r"told of": "reported",
    r"so many": "this many, or the number",
    r"anew": "again",
    r"foresee[sn]?|foreseen": "predict, predicted",
    r"dear(?:er|est)?": "expensive, most expensive",
    r"(?<![.#-])costliest": "most expensive",
    r"in hand": "selected, current",
    r"(?:let|lets|letting) go of": "release, drop",
    r"somebody|anybody": "name the person, or use the passive",
    r"nobody": "no client, no reader, not …",
    r"whoever": "name the person or the caller",
    r"our toll": "ktui's load on etcd",
    r"as ever": "as before",
    r"weak eyes": "low vision",
    r"rooms? and seams?": "packages and interfaces",
}
_WORDS = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in PLAIN), re.IGNORECASE)


def texts() -> Iterator[Path]:
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md"))
    for folder in ("ktui", "tools", "benchmarks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file; of the screens' code only comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if not path.is_relative_to(ROOT / "ktui" / "tui") and not path.is_relative_to(ROOT / "ktui" / "core"):
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.string.startswith('"""'):
            yield from enumerate(token.string.splitlines(), token.start[0])


def decoded(path: Path) -> list[str]:
    """`file:line: word → plain form` for every phrase of the list."""
    found = []
    for number, text in lines(path):
        for match in _WORDS.finditer(text):
            plain = next(
                say for phrase, say in PLAIN.items() if re.fullmatch(phrase, match[0], re.IGNORECASE)
            )
            found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]!r} → {plain}")
    return found


def test_no_text_has_to_be_decoded() -> None:
    found = [line for path in texts() for line in decoded(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["is to be had", "Somebody wants", "begin anew", "the dearest", "told of as"]
)
def test_the_list_finds_what_it_names(text: str) -> None:
    assert _WORDS.search(text)
