"""Plain words: terms that make a reader decode the text stay out, each with its plain form.

Covers docs, docstrings, comments, messages and `--help`, and what screens and commands show: sentences
among the strings of `ktui/tui`, `ktui/core` and `ktui/cli`, and the labels of all keys. The lists are short
on purpose: they hold phrases that are never needed, not words that are merely rare.

usage: python -m tools.words   (prints `file:line: word → plain form`; exit status 1 if there are any)
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ktui.tui.keys.bindings import DIALOGS, SCOPES

ROOT = Path(__file__).parents[1]

PLAIN = {
    r"to be had": "available, reachable",
    r"tells? of": "reports, says",
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
    r"nudg(?:e|es|ed|ing)": "request",
    r"any version will do": "any revision is accepted",
    r"(?:un)?told of": "reported",
}
# On screens only: elsewhere these words have other meanings.
SHOWN = {
    r"fire[sd]?|firing": "send, sent",
    r"race[sd]?|racing": "compare",
    r"as composed": "original",
    r"cheaper forms?": "cheaper variant",
    r"ask again": "replay as",
    r"asked for": "requested",
    r"walk": "decision trace",
    r"rings?": "event buffer",
    r"forgotten|forgets?": "dropped from the log",
    r"concerned": "matched",
    r"got it": "delivered",
    r"spare[sd]?": "saves",
    r"turns? .{0,12}round": "reverse",
    r"go(?:es)? deeper": "open",
    r"so long": "median, percentile",
    r"rv(?! unset)": "RV",
    r"(?<!there )is no (?!longer)": "is not a",
    r"reread": "refresh",
    r"lag rv": "behind",
    r"by a mistake of its own": "a bug in ktui",
    r"told|tells?": "say what is shown or reported",
}
# In the documentation only.
WRITTEN = {
    r"beside": "next to, with",
    r"by (?:itself|themselves)": "automatically, alone",
    r"bears": "has",
    r"(?:is|are) told": "is shown, is reported",
    r"in vain": "without effect",
    r"busy (?:cores?|machine)": "say the size and version, not the load",
}
NO_SENTENCES = ("column_ids.py", "sharing")  # ids of columns, keys of telemetry


@cache
def _compiled(words: str) -> re.Pattern[str]:
    """A word alone in quotes is a name: a user "nobody", the former id `foreseen`."""
    return re.compile(rf"(?<![\"'`])\b(?:{words})\b|\b(?:{words})\b(?![\"'`])", re.IGNORECASE)


def _pattern(plain_forms: dict[str, str]) -> re.Pattern[str]:
    return _compiled("|".join(plain_forms))


WORDS = _pattern(PLAIN)


def texts() -> Iterator[Path]:
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md"))
    for folder in ("ktui", "tools", "benchmarks", "tests"):
        yield from (
            path
            for path in sorted((ROOT / folder).rglob("*.py"))
            if path.name not in ("words.py", "test_words.py")
        )


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, the words of an identifier apart."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        yield number, text.replace("_", " ")


def unreleased() -> Iterator[tuple[int, str]]:
    """The changelog's newest part; what was released stays as it was."""
    begun = False
    for number, text in lines_of(ROOT / "CHANGELOG.md"):
        if text.startswith("## ") and begun:
            return
        begun = begun or text.startswith("## ")
        yield number, text


def decoded(path: Path, lines: Iterator[tuple[int, str]], plain_forms: dict[str, str]) -> list[str]:
    """`file:line: word → plain form` for every phrase of the list."""
    found = []
    words = _pattern(plain_forms)
    for number, text in lines:
        for match in words.finditer(text):
            plain = next(
                say for phrase, say in plain_forms.items() if re.fullmatch(phrase, match[0], re.IGNORECASE)
            )
            found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]!r} → {plain}")
    return found


def shown_strings(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that hold a space, without docstrings; of f-strings their fixed parts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docs:
            continue
        if " " in node.value.strip() and "{" not in node.value:
            yield node.lineno, node.value


SHOWN_WORDS = re.compile("|".join(rf"(?<![-.:/#`$?_])\b(?:{phrase})\b(?![-./=_(])" for phrase in SHOWN))


def on_screens() -> list[str]:
    """Return what sentences of screens and commands have."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {match[0]!r} in {text!r}"
        for folder in ("tui", "core", "cli")
        for path in sorted((ROOT / "ktui" / folder).rglob("*.py"))
        if not any(part in NO_SENTENCES for part in path.parts)
        for number, text in shown_strings(path)
        for match in SHOWN_WORDS.finditer(text)
    ]


def of_keys() -> list[str]:
    """Return the labels of keys that have such words."""
    bindings = [each for scopes in (SCOPES, DIALOGS) for group in scopes.values() for each in group]
    labels = {text for each in bindings for text in (each.description, each.tooltip or "")}
    return sorted(text for text in labels if SHOWN_WORDS.search(text) or WORDS.search(text))


def in_texts() -> list[str]:
    """Return what code, messages and documentation have."""
    found = [line for path in texts() for line in decoded(path, lines_of(path), PLAIN)]
    pages = [path for path in texts() if path.suffix == ".md"]
    found += [line for path in pages for line in decoded(path, lines_of(path), WRITTEN)]
    changelog = ROOT / "CHANGELOG.md"
    return found + decoded(changelog, unreleased(), PLAIN) + decoded(changelog, unreleased(), WRITTEN)


if __name__ == "__main__":
    problems = [*in_texts(), *on_screens(), *of_keys()]
    print("\n".join(problems) or "all words are plain")
    sys.exit(1 if problems else 0)
