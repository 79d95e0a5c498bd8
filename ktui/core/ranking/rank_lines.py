"""The lines of the ranking's table: one per group with its share, and one for all folded groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ktui.core.ranking.ranking import Group, GroupKey, Open, TotalCost
from ktui.core.ranking.remedy import Saving
from ktui.core.request_view import UNSAID, selector_words, short_resource
from ktui.core.state import State
from ktui.core.table.columns import Run

if TYPE_CHECKING:
    from ktui.core.ranking.shape import RequestShape

_SCOPES = {"namespace": " -n …", "name": " …"}


def shape_runs(shape: RequestShape) -> list[Run]:
    """Return a shape as styled runs: `LIST pods -n … ?nodeName=… rv=0`; `…` replaces values that differ."""
    words = [selector_words(selector) for selector in shape.selectors]
    words += [f"{name}=…" for name in shape.unknown if name not in UNSAID]
    words += [f"rv={shape.resource_version}"] if shape.resource_version != "unset" else []
    words += [f"match={shape.match}"] if shape.match else []
    words += [f"limit={shape.limit}"] if shape.limit else []
    words += ["continue=…"] if shape.continued else []
    words += ["sendInitial=true"] if shape.initial_events else []
    return kind_runs(shape.verb, short_resource(shape.resource), shape.subresource, shape.scope, words)


def kind_runs(verb: str, resource: str, subresource: str, scope: str, words: list[str]) -> list[Run]:
    """Return a kind of requests as styled runs; `words` are its parameters."""
    below = f"/{subresource}" if subresource else ""
    runs: list[Run] = [(f"{verb.upper()} ", "$ink-muted"), (f"{resource}{below}", "$foreground")]
    runs += [(_SCOPES[scope], "$ink-muted")] if scope in _SCOPES else []
    return [*runs, (f" ?{' '.join(words)}", "$ink-muted")] if words else runs


def shape_text(shape: RequestShape) -> str:
    return "".join(text for text, _ in shape_runs(shape))


ALL_NAMESPACES = "(all namespaces)"
ROLL_UPS = ("", "client", "resource", "namespace")  # "": one line per client and shape


class RankLine(Struct, frozen=True, eq=False):
    """One group (None: all folded groups) and its `share` (0–1) of the bytes processed.

    A line is replaced whenever one of its cells changes.
    """

    group: Group | None
    spent: TotalCost
    share: float
    last_minute: int
    count: int  # requests when the line was made
    folded: int = 0  # number of groups in this line
    open: Open | None = None  # its WATCHes that are open
    name: str = ""  # in a roll-up, the client, resource or namespace whose reads these are
    saving: Saving | None = None  # by its best remedy; None if it is not predicted (yet)
    moved_bytes: int = 0  # processed + encoded when the line was made: grows while a WATCH is open

    @property
    def key(self) -> GroupKey | str | None:
        return self.group.key if self.group is not None else self.name or None

    @property
    def client(self) -> str:
        return self.group.key.client if self.group is not None else self.name or "others"

    def of(self, resource: str) -> bool:
        return self.group is not None and self.group.key.shape.resource == resource

    @property
    def mean_bytes(self) -> float:
        return self.spent.processed_bytes / self.count if self.count else 0.0


class RankLines:
    """Builds the lines from the state, and returns the same object for an unchanged line."""

    def __init__(self, saving_of: Callable[[Group], Saving | None] = lambda group: None) -> None:
        self._lines: dict[GroupKey | str | None, RankLine] = {}
        self._saving_of = saving_of

    def rolled_up(self, state: State, by: str) -> list[RankLine]:
        """A line for each client, resource or namespace, the most expensive first."""
        return self._kept(sorted(_rolled_up(state, by), key=lambda line: -line.spent.processed_bytes))

    def of(self, state: State, most: int | None = None) -> list[RankLine]:
        """Return the lines of the `most` most expensive groups; without `most` all and the folded groups."""
        ranking, now, made = state.ranking, state.now, []
        for group in ranking.ranked()[:most]:
            spent, share = group.spent, _share(group.spent, ranking.total)
            moved, recent = spent.processed_bytes + spent.encoded_bytes, group.last_minute(now)
            saving, open_ = self._saving_of(group), group.flow.open_at(now)
            made.append(RankLine(group, spent, share, recent, group.count, open=open_, saving=saving,
                                 moved_bytes=moved))  # fmt: skip
        if ranking.others.groups and most is None:
            rest = ranking.others
            share = _share(rest.spent, ranking.total)
            made.append(RankLine(None, rest.spent, share, 0, rest.spent.count, rest.groups))
        return self._kept(made)

    def _kept(self, made: list[RankLine]) -> list[RankLine]:
        before, self._lines = self._lines, {}
        for line in made:
            old = before.get(line.key)
            if old is not None and old.group is line.group and _counted(old) == _counted(line):
                line = old if abs(old.share - line.share) < 0.0005 else line
            self._lines[line.key] = line
        return list(self._lines.values())


def _rolled_up(state: State, by: str) -> Iterator[RankLine]:
    sums: dict[str, tuple[TotalCost, int, int]] = {}  # cost, requests of the last minute, groups
    if by == "namespace":
        namespaces = state.ranking.namespaces.items()
        sums = {name or ALL_NAMESPACES: (replace(spent), 0, 0) for name, spent in namespaces}
    for group in state.ranking.ranked() if by != "namespace" else ():
        name = group.key.client if by == "client" else group.key.shape.resource
        spent, recent, groups = sums.get(name, (TotalCost(), 0, 0))
        spent.merge(group.spent)
        sums[name] = spent, recent + group.last_minute(state.now), groups + 1
    for name, (spent, recent, groups) in sums.items():
        moved, share = spent.processed_bytes + spent.encoded_bytes, _share(spent, state.ranking.total)
        yield RankLine(None, spent, share, recent, spent.count, groups, name=name, moved_bytes=moved)


def _share(spent: TotalCost, total: TotalCost) -> float:
    return spent.processed_bytes / total.processed_bytes if total.processed_bytes else 0.0


def _counted(line: RankLine) -> tuple[object, ...]:
    return line.count, line.last_minute, line.open, line.moved_bytes, line.saving
