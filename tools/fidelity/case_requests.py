"""The requests of a recorded case, in which names stand for revisions and for members of earlier answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from tools.fidelity.client import Answer, Headers
from tools.fidelity.masking import FUTURE
from tools.fidelity.recordings import ORACLE, document, lines
from tools.fidelity.values import continue_token, member

_TEMPLATE = re.compile(r"\{((?:rv|cap|pad)\.[\w.+-]+|tok\|[^{}]*)\}")


@dataclass(slots=True)
class Names:
    """What the templates of requests stand for, and what belongs to the snapshot."""

    revisions: dict[str, int]
    made_at: str
    uids: list[str]
    captured: dict[str, Any] = field(default_factory=dict)
    _by_revision: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of_snapshot(cls) -> Names:
        manifest = document(ORACLE / "manifest.json")
        return cls(dict(manifest["rv"]), manifest["made_at"], manifest["uids"])

    @property
    def newest_recorded(self) -> int:
        return self.revisions["fixture"]

    def masked(self, text: str) -> str:
        """Return a revision as it is compared: literal if the snapshot has it, else its name or `<rv>`."""
        if not text.lstrip("-").isdigit():
            return text
        number = int(text)
        if number <= self.newest_recorded:
            return text
        return "{rv.future}" if number == FUTURE else self._by_revision.get(number, "<rv>")

    def capture(self, wanted: Mapping[str, str], answer: Answer) -> None:
        """Keep the members of an answer that later requests name."""
        body = answer.json()
        for name, path in wanted.items():
            found = member(body, path)
            kind, _, revision = name.partition(".")
            if kind == "rv" and found:
                self.revisions[revision] = int(found)
                self._by_revision[int(found)] = f"{{{name}}}"
            elif kind != "rv" and found is not None:
                self.captured[name] = found


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request without templates."""

    method: str
    target: str
    headers: Headers
    body: bytes | None


class Preparation:
    """Puts what they stand for into requests. `current` asks for the newest revision."""

    def __init__(self, names: Names, current: Callable[[], int]) -> None:
        self._names = names
        self._current = current

    def prepared(self, request: Mapping[str, Any]) -> Prepared:
        target = self.text(request["path"])
        if request.get("query"):
            pairs = [
                f"{quote(name, safe='')}={quote(self.text(value), safe='')}"
                for name, value in request["query"]
            ]
            target += "?" + "&".join(pairs)
        headers: dict[str, str | None] = {"Accept": "application/json"}
        content = None
        if request.get("body") is not None:
            headers["Content-Type"] = "application/json"
            body = self._everywhere(request["body"])
            content = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
        for name, value in (request.get("headers") or {}).items():
            headers[name] = self.text(value) or None
        return Prepared(request["method"], httpx.URL(target).raw_path.decode(), headers, content)

    def text(self, text: str) -> str:
        return _TEMPLATE.sub(lambda found: self._value(found.group(1)), text)

    def _value(self, template: str) -> str:
        kind, _, name = template.partition("." if not template.startswith("tok|") else "|")
        if kind == "rv":
            return str(self._revision(name))
        if kind == "cap":
            return str(self._names.captured.get(name))
        if kind == "pad":
            return "x" * int(name)
        revision, start, *_ = name.split("|")
        number = int(revision) if revision.lstrip("-").isdigit() else int(self._value(revision))
        return continue_token(number, start.replace("^", "\0"))

    def _revision(self, name: str) -> int:
        if name == "future":
            return FUTURE
        if name == "current":
            return self._current()
        if shifted := re.fullmatch(r"(\w+)([+-]\d+)", name):
            return self._names.revisions[shifted.group(1)] + int(shifted.group(2))
        return self._names.revisions[name]

    def _everywhere(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(name): self._everywhere(inside) for name, inside in value.items()}
        if isinstance(value, list):
            return [self._everywhere(inside) for inside in value]
        return self.text(value) if isinstance(value, str) else value


def cases(profile: str) -> list[dict[str, Any]]:
    """Return the cases of a profile in the order in which they were recorded."""
    return sorted(_of_profile(profile), key=lambda case: int(case["seq"]))


def _of_profile(profile: str) -> Iterator[dict[str, Any]]:
    return (case for case in lines(ORACLE / "cases.jsonl.xz") if case["profile"] == profile)
