"""The ranking of kinds of requests, as the columns of a table and as lines of a panel."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from textual.content import Content

from ktui.core.format import (
    integer,
    many,
    percent,
    processed_text,
    short_bytes,
    short_milliseconds,
    times,
    told_apart,
    within,
)
from ktui.core.ranking.rank_lines import RankLine, shape_runs
from ktui.core.ranking.remedy import Remedy, saves_only_the_answer, what_is_left
from ktui.core.references import Part
from ktui.core.rows import CACHE, ERROR, ETCD, OTHER, SNAPSHOT, WAITING
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.tui.charts.bars import bar
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import figure, line, lines, longest_that_fits, pad, wrapped

_BAR = 5  # cells of the bar next to a share
_LEAST = 0.005  # share (0–1) below which there is no bar
_STYLES = {badge.letter: badge.style for badge in (ETCD, CACHE, SNAPSHOT, WAITING, ERROR, OTHER)}
LARGE_SHARE = 0.25  # share (0–1) of all bytes processed from which it is highlighted


def _share(line: RankLine) -> Cell:
    if line.group is not None and line.group.observed:
        return NOTHING  # bytes processed are not in traces
    style = "bold $warning" if line.share >= LARGE_SHARE else "$ink-muted"
    drawn = bar(line.share, _BAR) if line.share >= _LEAST else ""
    return [(f"{percent(line.share):>4} ", style), (drawn.ljust(_BAR), style)]


def _request(line: RankLine) -> Cell:
    if line.name:
        return (many(line.folded, "kind") + " of reads" if line.folded else "all its reads", "$ink-muted")
    if line.group is None:
        return (f"{integer(line.folded)} rarer kinds of requests combined", "$ink-muted")
    runs, open_ = shape_runs(line.group.key.shape), line.open
    if open_ is None:
        return runs
    watches = f"{integer(open_.count)} open" if open_.count > 1 else f"open {open_.age}"
    return [*runs, (f"  {watches}, {open_.speed}", "$ink-muted")]


def route_runs(line: RankLine) -> list[Run]:
    """Return the letters of all routes that the requests took, most frequent first."""
    if line.group is None:
        return [NOTHING]
    return [(letter, _STYLES.get(letter, "$ink-muted")) for letter, _ in line.group.routes.most_common(3)]


def _took(name: str, title: str, share: float, about: str, priority: int, *aliases: str) -> Column[RankLine]:
    """Return the column of the duration that `share` of the requests did not exceed."""

    def cell(line: RankLine) -> Cell:
        return short_milliseconds(line.group.milliseconds(share)) if line.group is not None else NOTHING

    def value(line: RankLine) -> float:
        return line.group.milliseconds(share) if line.group is not None else 0.0

    return figure(
        name, title, value, about, width=6, priority=priority, unit="ms", cell=cell, aliases=aliases
    )


def factor(line: RankLine) -> str:
    """Return `12×` or `1.0×`; "" if nothing was returned."""
    value = line.spent.amplification
    return "" if value is None else times(value)


def _seconds(value: float) -> Cell:
    if value < 0.05:
        return ("<0.1", "$ink-faint") if value else NOTHING
    return f"{value:,.1f}" if value < 999.95 else within(round(value), 6)


def _saving(line: RankLine) -> Cell:
    """Return `73.1M 98%`; `a compares` if only a comparison shows the bytes of the best remedy."""
    saving = line.saving
    if saving is None:
        return ("…", "$ink-faint") if line.group is not None else NOTHING
    if saving.bytes is None:
        return (f"{key_of('requests.try')} compares", "$ink-faint")
    if not saving.bytes:
        return NOTHING
    style = "bold $success" if saving.share >= LARGE_SHARE else "$success"
    return (f"{short_bytes(saving.bytes)} {percent(saving.share):>4}", style)


def _processed(line: RankLine) -> Cell:
    """Return `73.1M`, `≈73.1M` if part of the bytes is imputed."""
    spent = line.spent
    if not spent.processed_bytes:
        return NOTHING
    return ("≈" if spent.imputed_bytes else "") + short_bytes(spent.processed_bytes)


COLUMNS: tuple[Column[RankLine], ...] = (
    Column("share", "share", _share, lambda line: line.share, width=_BAR + 5, priority=0, descending=True,
           about="share of all bytes that the control plane processed since ktui connected (measured)"),
    # All letters, so that `route:E` finds every kind with an answer from etcd.
    Column("route", "", route_runs, lambda line: " ".join(letter for letter, _ in route_runs(line)), width=3,
           about="where its answers came from, most frequent first: C S E, ! for errors"),
    Column("client", "client", lambda line: line.client, width=10, wish=18, flex=3, most=19, priority=1,
           about="the client: first word of the User-Agent"),
    Column("request", "request", _request, width=20, wish=27, flex=4, most=70, priority=0,
           about="the kind of request (… replaces what differs); while a WATCH is open, its age and rate"),
    figure("asked", "count", lambda line: line.count,
           "requests answered since ktui connected, and open WATCHes", priority=5),
    figure("minute", "/min", lambda line: line.last_minute,
           "requests answered in the last minute, to within 5 s", priority=2),
    figure("processed", "processed", lambda line: line.spent.processed_bytes,
           "bytes taken from etcd and the caches to answer, the ranking is by this; "
           "≈: in part as kube-apiserver would, which has no index there", width=9, priority=0, unit="B",
           cell=_processed),
    figure("saving", "could save", lambda line: (line.saving and line.saving.bytes) or 0.0,
           "predicted bytes that the best advice had saved so far, if no comparison is needed; ·: none",
           width=11, cell=_saving),
    figure("etcd", "etcd B", lambda line: line.spent.etcd_bytes, "of these, bytes that etcd sent", width=6,
           priority=6, unit="B"),
    figure("parsed", "parsed B", lambda line: line.spent.decoded_bytes, "stored bytes that had to be parsed",
           width=8, priority=9, unit="B"),
    figure("sent", "sent B", lambda line: line.spent.sent_bytes, "bytes of the answers, after gzip", width=6,
           priority=5, unit="B"),
    figure("scanned", "scanned", lambda line: line.spent.fetched, "objects taken from cache or etcd", width=7,
           priority=7),
    _took("p50", "p50 ms", 0.5, "median latency (within 2 %)", 7),
    _took("max", "max ms", 1.0, "highest latency; filters may call it ms, as in the log", 6, "ms"),
    figure("seats", "seat·s", lambda line: line.spent.seat_seconds,
           "seats of flow control times the seconds for which they were held", width=6, priority=8,
           cell=lambda line: _seconds(line.spent.seat_seconds)),
    figure("cpu", "CPU s", lambda line: line.spent.cpu_ms / 1000, "CPU time of the server", width=6,
           priority=8, unit="s", cell=lambda line: _seconds(line.spent.cpu_ms / 1000)),
)  # fmt: skip


EMPTY = (
    "no reads answered yet — once some are, the most expensive are ranked here, with what to do about them"
)
TOP = Part("most expensive")  # reference to the ranking
_PERCENT, _LONG_BAR, _SIZE = 4, 8, 8
_WITH_SIZE, _WITH_BAR = 100, 130  # cells


class RankedRemedy(Struct, frozen=True):
    """A line of the ranking and its best remedy. `early`: too little was seen of it to advise anything."""

    row: RankLine
    remedy: Remedy | None
    early: bool = False


def most_expensive_content(ranked: Sequence[RankedRemedy], width: int, height: int) -> Content:
    """Return as many lines as fit, or what will be shown here."""
    if not ranked:
        return lines(wrapped(EMPTY, width, "$ink-muted")[:height])
    shown = ranked[:height]
    changes = [each.remedy.change for each in shown if each.remedy is not None]
    return lines(_line(each, width, changes) for each in shown)


def _line(ranked: RankedRemedy, width: int, changes: Sequence[str]) -> Content:
    row = ranked.row
    head = [(f"{percent(row.share):>{_PERCENT}} ", "bold $warning")]
    if width >= _WITH_BAR:
        head += [(pad(bar(row.share, _LONG_BAR), _LONG_BAR + 1), "$warning")]
    if width >= _WITH_SIZE:
        size = processed_text(row.spent.processed_bytes, row.spent.imputed_bytes)
        head += [(f"{size:>{_SIZE}}  ", "$foreground")]
    letters = route_runs(row)
    client = pad(row.client, 18 if width >= _WITH_SIZE else 12)
    left = line(*head, *letters, (" " * (3 - len(letters)) or " ", ""), (f"{client} ", "$ink-strong"))
    rest = width - left.cell_length
    # The rest of the line is halved between the request and the remedy.
    room = max(16, min(44, rest // 2 - 1))
    asked = line(*shape_runs(row.group.key.shape)) if row.group is not None else line("")
    if row.open is not None:
        longer = [asked + line((f"  {words}", "$ink-muted")) for words in (row.open.words(), row.open.speed)]
        asked = longest_that_fits([*longer, asked], room)
    asked = asked.truncate(room, ellipsis=True, pad=True)
    advice = _advice(ranked, rest - room - 1, changes)
    return Content.assemble(left, asked, " ", advice).truncate(width, ellipsis=True)


def _advice(ranked: RankedRemedy, width: int, changes: Sequence[str]) -> Content:
    """Return the advice; `changes` are those of all lines, from which it differs also when it is cut."""
    remedy, group = ranked.remedy, ranked.row.group
    if group is None:
        return Content("")
    if ranked.early:
        return line(("one request so far", "$ink-faint"))
    if remedy is None or saves_only_the_answer(group, remedy):
        return line((what_is_left(group).short, "$ink-muted"))
    arrow = ("→ ", f"bold {remedy.style}")
    change = line(arrow, (told_apart(remedy.change, changes, width - len(arrow[0])), remedy.style))
    full = change + line((f"  {remedy.saving()}", "$ink-muted"))
    return longest_that_fits([full, change], width)
