"""Records of requests and answers, for the check."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.faults.objects import Selection

UNKNOWN = 0  # status of a request without an answer: it may have been carried out


@dataclass(slots=True)
class Write:
    """A write. `rv` is the resourceVersion in the answer, `base` the one that the write was bound to."""

    op: str
    key: str
    id: int
    status: int = UNKNOWN
    rv: int = 0
    base: int = 0
    value: int = 0  # of the counter, or the number of a patch
    message: str = ""

    @property
    def acknowledged(self) -> bool:
        return self.status in (200, 201)


@dataclass(slots=True)
class Listed:
    """A LIST, or all its pages. `floor`: the newest write acknowledged before it began."""

    kind: str
    selection: Selection
    floor: int
    url: str
    asked: int = 0
    server: int = 0  # the process that answered, by the number of restarts
    began: float = 0.0
    ended: float = 0.0
    rvs: list[int] = field(default_factory=list)  # of each page
    items: list[tuple[str, int, str]] = field(default_factory=list)  # key, resourceVersion, mark


@dataclass(slots=True)
class Got:
    kind: str
    key: str
    floor: int
    status: int = UNKNOWN
    rv: int = 0
    mark: str = ""


@dataclass(slots=True)
class Seen:
    """One event of a WATCH; `ends_initial` for the bookmark after initial events."""

    type: str
    key: str
    rv: int
    mark: str = ""
    ends_initial: bool = False


@dataclass(slots=True)
class Watched:
    """A WATCH with its events. `since` is the requested resourceVersion, 0 without one."""

    kind: str
    selection: Selection
    url: str
    floor: int
    since: int = 0
    status: int = UNKNOWN
    events: list[Seen] = field(default_factory=list)
    error: int = 0  # code of an ERROR event
    end: str = ""  # "" while it is open
    complete: bool = False  # True if the server ended it, so no part of its body is missing


@dataclass(slots=True)
class Violation:
    kind: str
    details: dict[str, Any]


class Violations:
    """Collects violations, and appends each to a file at once."""

    def __init__(self, path: Path | None = None, **context: Any) -> None:
        self.all: list[Violation] = []
        self._path = path
        self._context = context

    def add(self, kind: str, **details: Any) -> None:
        self.all.append(Violation(kind, details))
        if self._path is not None:
            line = json.dumps({"kind": kind, **self._context, **details}, default=str)
            with self._path.open("a") as file:
                file.write(line + "\n")

    @property
    def kinds(self) -> Counter[str]:
        return Counter(violation.kind for violation in self.all)


@dataclass(slots=True)
class Records:
    """All records of one schedule. `known`: resourceVersions that clients received, to request again."""

    writes: list[Write] = field(default_factory=list)
    lists: list[Listed] = field(default_factory=list)
    gets: list[Got] = field(default_factory=list)
    watches: list[Watched] = field(default_factory=list)
    known: dict[str, list[int]] = field(default_factory=dict)
    acknowledged: int = 0  # the newest revision in an answer to a write
    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)

    def acknowledge(self, write: Write, rv: int) -> None:
        write.rv = rv
        self.acknowledged = max(self.acknowledged, rv)


def clock() -> float:
    return time.monotonic()
