"""The budget file: TOML with `[[budget]]` entries, checked key by key, and written from a good run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ktui.config.errors import ConfigError, nearest
from ktui.config.tomlfile import read_toml, statements
from ktui.core.format import integer, long_bytes, shorten
from ktui.kube.golang.regexps import InvalidPattern, TextTooLong, matcher

ENTRY = "budget"
MOST_ENTRIES = 1_000
MOST_LETTERS = 1_000  # of a text in the file
LARGEST = (1 << 63) - 1
MOST_SHOWN = 40  # letters of a wrong value
PATTERN = "re:"
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
ROUTES = ("cache", "etcd", "none")
_TEXTS = ("client", "verb", "resource", "route")
RATE = "max_per_minute"
LIMITS: Mapping[str, str] = {
    "max": "requests",
    RATE: "requests in 60 s",
    "max_relists": "relists",
    "max_objects": "objects in one answer",
    "max_scanned": "objects read for one request",
    "max_bytes": "bytes in one answer",
}
"""The limits of an entry, each with what it counts."""
_KEYS = (*_TEXTS, *LIMITS)


class RequestBudget(msgspec.Struct, frozen=True):
    """One entry. A text that is "" matches every request; `line` is 0 if it is not known."""

    client: str = ""
    verb: str = ""
    resource: str = ""
    route: str = ""
    limits: dict[str, int] = {}
    line: int = 0

    @property
    def title(self) -> str:
        """`controller LIST pods from etcd`."""
        parts = [self.client or "any client", self.verb.upper() or "all verbs", self.resource]
        source = {"": "", "none": "without a read"}.get(self.route, f"from {self.route}")
        return " ".join(part for part in (*parts, source) if part)

    @property
    def forbids(self) -> bool:
        """True if it allows no request: then none is what it expects."""
        return 0 in (self.limits.get("max"), self.limits.get(RATE))

    def client_test(self) -> Callable[[str], bool]:
        """Return the test of a client's name: exact, or the whole name by an RE2 pattern."""
        if not self.client:
            return lambda name: True
        if not self.client.startswith(PATTERN):
            return self.client.__eq__
        matches = matcher(_anchored(self.client))

        def test(name: str) -> bool:
            try:
                return matches(name)
            except TextTooLong:
                return False

        return test


def shown(limit: str, value: int) -> str:
    """Return a number of a limit with its unit."""
    return long_bytes(value) if limit == "max_bytes" else integer(value)


def read_budgets(path: Path) -> list[RequestBudget]:
    """Read a budget file. Raises ConfigError, one sentence with the line if it is known."""
    file = read_toml(path)
    if not file.exists:
        raise ConfigError(f"there is no budget file {path}")
    for word in file.data:
        if word != ENTRY:
            raise ConfigError(f"{file.where(word)}: unknown key {word!r}: a budget file has only [[{ENTRY}]]")
    entries = file.data.get(ENTRY)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries) or not entries:
        raise ConfigError(f"{file.where(ENTRY)}: write one [[{ENTRY}]] or more: there is none")
    if len(entries) > MOST_ENTRIES:
        raise ConfigError(f"{path} has {integer(len(entries))} budgets: at most {integer(MOST_ENTRIES)}")
    number, lines = -1, dict[tuple[int, str], int]()
    for keys, line in statements(file.text):
        if keys == (ENTRY,):
            number += 1
            lines[number, ""] = line
        elif len(keys) == 2 and keys[0] == ENTRY:
            lines.setdefault((number, keys[1]), line)
    return [_entry(path, number, entry, lines) for number, entry in enumerate(entries)]


Lines = Mapping[tuple[int, str], int]  # by the number of the entry and its key; "" is the entry itself


def _entry(path: Path, number: int, entry: Mapping[str, Any], lines: Lines) -> RequestBudget:
    line = lines.get((number, ""), 0)
    try:
        for key in entry:
            if key not in _KEYS:
                raise _WrongKey(key, f"unknown key {key!r}; {nearest(key, _KEYS)}")
        texts = {key: _text(key, entry[key]) for key in _TEXTS if key in entry}
        limits = {key: _number(key, entry[key]) for key in LIMITS if key in entry}
        if not limits:
            raise _WrongKey("", f"this budget has no limit: set {', '.join(LIMITS)}")
        if "max_relists" in limits and texts.get("verb") != "watch":
            raise _WrongKey("max_relists", 'max_relists is for WATCHes: add verb = "watch"')
    except _WrongKey as error:
        at = lines.get((number, error.key), line)
        where = f"{path}:{at}" if at else f"{path}, budget {number + 1}"
        raise ConfigError(f"{where}: {error}") from None
    return RequestBudget(**texts, limits=limits, line=line)


class _WrongKey(ValueError):
    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > MOST_LETTERS:
        raise _WrongKey(key, f"{key} takes a text, like {_EXAMPLES[key]}")
    text = value.lower() if key == "verb" else value
    known = {"verb": VERBS, "route": ROUTES}.get(key, (text,))
    if text not in known:
        raise _WrongKey(key, f"there is no {key} {value!r}; {nearest(text, known)}")
    if key == "client" and text.startswith(PATTERN):
        try:
            matcher(_anchored(text))
        except InvalidPattern as error:
            raise _WrongKey(key, f"client: {error}") from None
    return text


def _number(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        shown_value = shorten(json.dumps(value, default=str), MOST_SHOWN)
        raise _WrongKey(key, f"{key} takes a whole number of 0 or more, not {shown_value}")
    return value


_EXAMPLES = {
    "client": '"kube-scheduler" or "re:kube-.*"',
    "verb": '"list"',
    "resource": '"deployments.apps"',
    "route": '"etcd"',
}


def _anchored(client: str) -> str:
    return f"^(?:{client.removeprefix(PATTERN)})$"


def budget_text(budgets: Iterable[RequestBudget], *remarks: str) -> str:
    lines = [f"# {remark}" for remark in remarks]
    for budget in budgets:
        lines.append(f"\n[[{ENTRY}]]")
        lines += [f"{key} = {_quoted(text)}" for key in _TEXTS if (text := getattr(budget, key))]
        lines += [f"{limit} = {value}" for limit, value in budget.limits.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a TOML string. JSON's escapes are TOML's too, except for surrogates."""
    return "".join(_character(char) for char in json.dumps(text, ensure_ascii=False))


def _character(char: str) -> str:
    if char.isprintable():
        return char
    return f"\\U{ord(char):08x}" if not 0xD800 <= ord(char) < 0xE000 else "\\ufffd"
