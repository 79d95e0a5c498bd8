"""The ranking of the most expensive kinds of requests, with remedies for the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.containers import Container, Horizontal
from textual.content import Content

from ktui.core.format import clock_time, integer, long_bytes, long_milliseconds, many, percent, processed_text
from ktui.core.ranking.rank_lines import ROLL_UPS, RankLine, RankLines, shape_runs
from ktui.core.ranking.ranking import Group
from ktui.core.ranking.remedies import Savings, compare_group, remedies_of
from ktui.core.ranking.remedy import Remedy, saves_only_the_answer, to_try, what_is_left
from ktui.core.references import CompareRef
from ktui.core.request_view import short_resource
from ktui.core.rows import badge_of_route
from ktui.core.state import RequestRow, State
from ktui.tui.dashboard import OnDashboard
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.ranking_columns import COLUMNS, factor, route_runs
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import between, entitle, first_lines, line, lines, wrap, wrapped
from ktui.tui.widgets.panel import Panel

# Details of a line of the ranking: its cost, its routes and their reasons, its remedies.

_LABEL = 11
_wrapped = partial(wrapped, hyphens=False)
FOLDED = "requests too rare to be ranked separately; only their totals are known"


def remedy_content(row: RankLine | None, remedies: Sequence[Remedy], width: int, height: int) -> Content:
    """Return each remedy with its predicted saving, or what else can be done; then route and reason."""
    if row is None:
        return line(("select a kind of request to see what to do about it", "$ink-muted"))
    if row.name:
        return _wrapped(f"all reads of {row.name} together; enter shows their kinds", width, "$ink-muted")[0]
    if row.group is None:
        return _wrapped(FOLDED, width, "$ink-muted")[0]
    blocks = [remedy_lines(remedy, width, tried=remedy is to_try(remedies)) for remedy in remedies]
    cached = not (row.group.observed and "etcd" in row.group.example.route)
    if cached and saves_only_the_answer(row.group, remedies[0] if remedies else None):
        left = what_is_left(row.group)
        full = _wrapped(left.full, width, "$ink-muted", indent="  ")
        blocks.insert(0, [line((left.short, "bold $ink-strong")), *full])
    why = f"{badge_of_route(row.group.example.route).word}: {row.group.example.reason or 'reason unknown'}"
    parts = [part for letter in route_runs(row) for part in (letter, (" ", ""))]
    first, *more = wrap(why, width - len(parts), hyphens=False)
    below = [line((" " * len(parts) + text, "$foreground")) for text in more]
    blocks.append([line(*parts, (first, "$foreground")), *below])
    airy = sum(map(len, blocks)) + len(blocks) - 1 <= height
    drawn = [text for at, block in enumerate(blocks) for text in ([line("")] if airy and at else []) + block]
    return first_lines(drawn, width, height)


def remedy_lines(remedy: Remedy, width: int, *, tried: bool = False) -> list[Content]:
    """Return `→ add resourceVersion=0`, its saving and the reason; `tried` adds the key that sends it."""
    key = line("")
    if tried:
        key = line((key_of("requests.try"), "$accent"), (" try it in the Lab", "$ink-muted"))
    # Two changes may differ only at their ends: neither is cut.
    beside = width - 2 - (key.cell_length + 1 if tried else 0)
    longest = max(map(len, remedy.change.split()), default=0)
    change, *more = wrap(remedy.change, beside if longest <= beside else width - 2, hyphens=False)
    first = line(("→ ", f"bold {remedy.style}"), (change, "bold $ink-strong"))
    fits = first.cell_length + key.cell_length < width
    drawn = [between(first, key if fits else line(""), width)]
    drawn += [line((f"  {part}", "bold $ink-strong")) for part in more]
    if tried and not fits:
        drawn.append(Content.assemble("  ", key))
    if saving := remedy.saving():
        drawn += _wrapped(f"predicted: {saving}", width, remedy.style, indent="  ")
    return [*drawn, *_wrapped(remedy.why, width, "$ink-muted", indent="  ")]


def spent_content(row: RankLine | None, width: int, height: int) -> Content:
    """Return what the requests have cost, in total and on average (measured)."""
    if row is None or not row.count:
        return line(("nothing selected", "$ink-muted"))
    spent, count = row.spent, row.count
    if row.group is not None and row.group.observed:
        return _observed_content(row, row.group, width, height)
    per = [
        ("count", many(count, "time"), f"{integer(row.last_minute)} in the last minute"),
        *_open(row),
        *_processed(row),
        ("parsed", long_bytes(spent.decoded_bytes), "of the stored bytes"),
        _objects(row),
        ("sent", long_bytes(spent.sent_bytes), "after gzip"),
        *_timing(row),
        ("seat·s", f"{spent.seat_seconds:,.1f}", "seats × seconds held"),
        ("CPU", long_milliseconds(spent.cpu_ms), f"{long_milliseconds(spent.cpu_ms / count)} each"),
    ]
    if row.group is not None and row.group.failed:
        per.insert(1, ("failed", many(row.group.failed, "time"), ""))
    return lines(_figure(*each) for each in per[:height])


def _observed_content(row: RankLine, group: Group, width: int, height: int) -> Content:
    """Return what traces contain of the requests: neither bytes processed nor seats nor CPU."""
    spent = row.spent
    done = group.example.finished
    untold = done.untold if done is not None else []
    per = [("count", many(row.count, "time"), f"{integer(row.last_minute)} in the last minute"), *_open(row)]
    if group.failed:
        per.append(("failed", many(group.failed, "time"), ""))
    if "fetched" not in untold:
        per.append(_objects(row))
    if "sent_bytes" not in untold:
        per.append(("sent", long_bytes(spent.sent_bytes), "after gzip"))
    per += [("etcd RPCs", integer(spent.etcd_rpcs), ""), *_timing(row)]
    drawn = [_figure(*each) for each in per]
    drawn += _wrapped("observed in traces, which have no seats, CPU or bytes read", width, "$ink-muted")
    return lines(drawn[:height])


def _open(row: RankLine) -> list[tuple[str, str, str]]:
    if row.open is None:
        return []
    age = f"for up to {row.open.age}" if row.open.count > 1 else f"for {row.open.age}"
    return [("open", integer(row.open.count), f"{age}, {row.open.speed}, {row.open.size_words()}")]


def _processed(row: RankLine) -> list[tuple[str, str, str]]:
    spent = row.spent
    if _only_events(row):  # the cache reads each event once for all watchers
        return [("processed", "nothing", "it started without initial objects")]
    processed, times = processed_text(spent.processed_bytes, spent.imputed_bytes), factor(row)
    return [
        ("processed", processed, f"{percent(row.share)} of all"),
        ("each", long_bytes(row.mean_bytes), f"{times} what it returned" if times else "nothing returned"),
        ("from etcd", long_bytes(spent.etcd_bytes), f"in {many(spent.etcd_rpcs, 'RPC')}"),
    ]


def _objects(row: RankLine) -> tuple[str, str, str]:
    spent = row.spent
    if _only_events(row):
        return ("events", integer(spent.returned), "sent to the client")
    return ("objects", integer(spent.fetched), f"scanned, {integer(spent.returned)} returned")


def _only_events(row: RankLine) -> bool:
    """Return True for a WATCH without initial events: it reads nothing, and shares events with others."""
    watch = row.group is not None and row.group.key.shape.verb == "watch"
    return watch and not row.spent.processed_bytes


def _timing(row: RankLine) -> list[tuple[str, str, str]]:
    if row.group is None:
        return []
    half, most = row.group.milliseconds(0.5), row.group.milliseconds(1.0)
    return [("took p50", long_milliseconds(half), f"max {long_milliseconds(most)}")]


def _figure(name: str, value: str, note: str) -> Content:
    return line(
        (name.ljust(_LABEL), "$ink-muted"), (value.rjust(11), "$ink-strong"), (f"  {note}", "$ink-muted")
    )


EMPTY = "no reads answered yet — requests are ranked here by what they cost the control plane"
SAVINGS = 16  # groups whose saving is predicted in one tick, at 0.2 ms each
EVERY = 1.0  # seconds between two updates, by the events' time: faster could not be read


class TopView(Container, OnDashboard):
    """A table of clients and their kinds of requests, with the remedy and costs of the selected one below."""

    def __init__(self) -> None:
        self.table = VTable(COLUMNS, key=lambda row: row.key, id="top", classes="box", empty=EMPTY)
        self._remedy = Panel("what to do", id="remedy", classes="box")
        self._spent = Panel("cost · measured", id="spent", classes="box")
        detail = Horizontal(self._remedy, self._spent, id="top-detail")
        super().__init__(self.table, detail, id="top-view")
        self._savings = Savings()
        self._lines = RankLines(self._savings.of)
        self._stamp: tuple[object, ...] = ()
        self.by = ROLL_UPS[0]  # what the lines are added up by, "" for nothing
        self.remedies: Sequence[Remedy] = ()

    @property
    def request(self) -> RequestRow | None:
        """The newest request of the selected kind."""
        row = self.table.row
        return row.group.example if row is not None and row.group is not None else None

    def paint(self) -> None:
        """Update the table, at most once per EVERY, and only after new answers."""
        state = self.ktui.state
        stamp = (id(state), state.ranking.total.count, int(state.now / EVERY), self.by)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        if self._savings.update(state, SAVINGS):
            self._stamp = ()  # the next tick predicts more
        entitle(self.table, _title(state, self.by))
        self.table.set_rows(self._lines.rolled_up(state, self.by) if self.by else self._lines.of(state))
        self.paint_detail()

    def roll_up(self) -> None:
        """Switch to the next sum: by client, by resource, by namespace, and none."""
        self.by = ROLL_UPS[(ROLL_UPS.index(self.by) + 1) % len(ROLL_UPS)]
        self.paint()

    def open_roll_up(self, name: str) -> None:
        """Show the kinds of reads of a client or a resource; a namespace's are not known."""
        by, self.by = self.by, ROLL_UPS[0]
        if by == "client":
            self.table.set_filter(f"client:{name}")
        elif by == "resource":
            self.table.set_filter(f"request~{short_resource(name)}")
        self.paint()

    @on(VTable.Highlighted)
    def paint_detail(self) -> None:
        row = self.table.row
        group = row.group if row is not None else None
        self.remedies = remedies = remedies_of(group, self.ktui.state) if group is not None else ()
        title = line("what to do")
        if group is not None:
            title = line((f"{group.key.client}  ", "$ink-strong"), *shape_runs(group.key.shape))
        entitle(self._remedy, title)
        self._remedy.show(partial(remedy_content, row, remedies))
        self._spent.show(partial(spent_content, row))

    @property
    def compared(self) -> CompareRef | None:
        """The selected kind with a cheaper variant; None if there is none, or for the line of rare kinds."""
        group = self.table.row.group if self.table.row is not None else None
        return compare_group(group, self.ktui.state) if group is not None else None


def _title(state: State, by: str = "") -> Content:
    ranking = state.ranking
    if not ranking.total.count:
        return Content("most expensive reads")
    processed = f"{processed_text(ranking.total.processed_bytes, ranking.total.imputed_bytes)} processed"
    if not ranking.total.processed_bytes and any(group.observed for group in ranking.ranked()[:1]):
        processed = "by time"
    reads = many(ranking.total.count, "read")
    return line(
        (f"most expensive reads by {by}" if by else "most expensive reads", ""),
        (f" · {reads}, {processed} since {clock_time(ranking.since)}", "$ink-muted"),
    )
