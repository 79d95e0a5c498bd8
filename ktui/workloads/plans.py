"""Plans of LISTs, as data: the requests of one client, to be measured by `ktui bench`.

A plan is a TOML file (docs/bench.md), in which `{node}` and `{namespace}` stand for those of the server.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from ktui.documents.limits import MOST_BYTES, DocumentError, parse_toml, read_bytes
from ktui.kube.requestinfo import split_url

NODE, NAMESPACE = "{node}", "{namespace}"
SELECTORS = ("labelSelector", "fieldSelector")


class PlanError(Exception):
    """The plan cannot be used; the message is one clear sentence."""


class _List(msgspec.Struct, forbid_unknown_fields=True):
    """A LIST. `without`: what to compare it with; None: the same without its selectors; False: nothing.

    `client`: a User-Agent instead of the plan's.
    """

    path: str
    without: str | Literal[False] | None = None
    pages: bool = False
    client: str = ""
    note: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    lists: list[_List] = msgspec.field(name="list")
    about: str = ""
    client: str = ""
    per_node: bool = False


@dataclass(frozen=True, slots=True)
class PlannedList:
    """One LIST; `without` is the same LIST without its selector, "" for none. Paths may have placeholders."""

    path: str
    without: str = ""
    pages: bool = False
    client: str = ""
    note: str = ""

    @property
    def of_one_node(self) -> bool:
        """True for a LIST of one node's objects: it does not grow with the cluster."""
        return NODE in self.path

    def filled(self, node: str, namespace: str) -> PlannedList:
        def fill(text: str) -> str:
            return text.replace(NODE, node).replace(NAMESPACE, namespace)

        return replace(self, path=fill(self.path), without=fill(self.without), note=fill(self.note))


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """The LISTs of one client; `per_node`: one such client runs on every node."""

    name: str
    lists: tuple[PlannedList, ...]
    about: str = ""
    per_node: bool = False

    def needs(self, placeholder: str) -> bool:
        return any(placeholder in planned.path + planned.without for planned in self.lists)


def builtin_plans() -> dict[str, ClientPlan]:
    folder = resources.files("ktui.workloads") / "plans"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda f: f.name)
    named = [(file.name.removesuffix(".toml"), file.read_bytes()) for file in files]
    return {name: read_plan(name, content) for name, content in named}


def find_plan(word: str) -> ClientPlan:
    """A built-in plan by name, else the plan in the file of that name; PlanError lists the built-in ones."""
    plans = builtin_plans()
    if word in plans:
        return plans[word]
    path = Path(word).expanduser()
    if not (path.suffix or path.exists()):
        raise PlanError(f"there is no plan {word!r}; built in are {', '.join(plans)}, or name a .toml file")
    try:
        return read_plan(path.stem, read_bytes(path, MOST_BYTES))
    except (OSError, DocumentError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise PlanError(f"cannot read the plan {word}: {why}") from error


def read_plan(name: str, content: bytes) -> ClientPlan:
    """Parse a plan file's text; PlanError names what is wrong with it."""
    try:
        file = msgspec.convert(parse_toml(content.decode("utf-8")), _File)
    except (msgspec.ValidationError, ValueError) as error:  # includes UnicodeDecodeError and DocumentError
        raise PlanError(f"the plan {name!r} cannot be read: {error}") from error
    if not file.lists:
        raise PlanError(f"the plan {name!r} has no [[list]]")
    lists = []
    for row in file.lists:
        for path in (row.path, row.without or "/"):
            if not path.startswith("/"):
                raise PlanError(f"the plan {name!r}: {path!r} is not an API path: it starts with '/'")
        without = without_selectors(row.path) if row.without is None else row.without or ""
        client = row.client or file.client or name
        lists.append(PlannedList(row.path, without, row.pages, client, row.note))
    return ClientPlan(name, tuple(lists), file.about, file.per_node)


def without_selectors(path: str) -> str:
    """Return the same LIST without selectors; "" if it has none."""
    plain, query = path.partition("?")[0], split_url(path)[1]
    parameters = query.split("&")
    kept = [text for text in parameters if text.partition("=")[0] not in SELECTORS]
    if len(kept) == len(parameters):
        return ""
    return plain + (f"?{'&'.join(kept)}" if kept else "")
