"""An audit's requests under every known version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from textual import events, on
from textual.containers import Vertical
from textual.content import Content

from ktui.audit.predictions import VersionShare, assume_ready
from ktui.audit.report import GroupReport, Report
from ktui.audit.server_version import versions_before, versions_from
from ktui.core.format import integer, long_bytes, percent, short_bytes
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.kube.routing.predict import predict
from ktui.kube.version_comparison import VersionResult, compare_versions
from ktui.kube.versions import Behaviour
from ktui.tui.audit.group_columns import audit_badge, shape_runs
from ktui.tui.charts.bars import by_route, stacked
from ktui.tui.keys.hints import key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, figure, line, lines, pad, wrapped
from ktui.tui.widgets.panel import Panel

MOST_ASKED = 300
"""Groups that are routed again while the user changes gates."""
_ASKED = 20  # groups for which the gates that change their route are determined


class Moved(NamedTuple):
    """A group whose route differs between two versions."""

    group: GroupReport
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version; `flows` are its LISTs by (previous route, route), where these differ.

    `before` is the previous version; `most_bytes` the highest of any version.
    """

    share: VersionShare
    before: VersionShare | None
    chosen: bool
    most_bytes: float
    flows: tuple[tuple[str, str, int], ...]

    @property
    def version(self) -> str:
        return self.share.version

    @property
    def requests(self) -> int:
        return self.share.cache + self.share.etcd + self.share.refused


def bytes_of(share: VersionShare) -> float | None:
    """Return the estimated bytes that the LISTs read from etcd and scan in the cache; None if unknown."""
    if share.etcd_bytes is None or share.cache_bytes is None:
        return None
    return share.etcd_bytes + share.cache_bytes


def version_lines(report: Report) -> list[VersionLine]:
    """Return a line per version, oldest first; [] without LISTs."""
    if not report.requests.list:
        return []
    shares = (*report.earlier, *report.versions)
    most = max(bytes_of(share) or 0.0 for share in shares)
    drawn: list[VersionLine] = []
    for before, share in zip((None, *shares), shares, strict=False):
        flows: Counter[tuple[str, str]] = Counter()
        for group, was, now in moved_between(report, before.version, share.version) if before else ():
            flows[was, now] += group.count
        moves = tuple((was, now, count) for (was, now), count in flows.most_common())
        drawn.append(VersionLine(share, before, share.version == report.kube_version, most, moves))
    return drawn


def moved_between(report: Report, before: str, after: str) -> list[Moved]:
    """Return the groups of LISTs whose routes differ between two versions, by rank."""
    found = []
    for group in report.groups:
        was, now = (group.routes.get(each) or group.earlier_routes[each] for each in (before, after))
        if group.verb == "list" and was != now:
            found.append(Moved(group, was, now))
    return found


def compared_with(line: VersionLine, report: Report) -> VersionShare | None:
    """Return the version to compare with: the chosen one, and for that the previous one."""
    return line.before if line.chosen else report.versions[0]


def gates_of(moved: Sequence[Moved], before: str, after: str, report: Report) -> list[str]:
    """Return the feature gates that change the routes of these groups, those of most requests first."""
    first, last = sorted(int(version.split(".")[1]) for version in (before, after))
    seen: Counter[str] = Counter()
    gates = tuple(report.feature_gates.items())
    for each in moved[:_ASKED]:
        for row in _across(each.group.example, report.etcd_progress, report.kube_version, gates):
            if first < row.behaviour.minor <= last:
                named = {cause.gate for cause in row.causes if cause.gate and "route" in cause.aspects}
                seen.update(dict.fromkeys(named, each.group.count))
    return [gate for gate, _ in seen.most_common()]


def share_under(report: Report, behaviour: Behaviour) -> tuple[int, int]:
    """Return (LISTs from etcd, all LISTs) under any rules; with gates, of the most expensive groups."""
    if not report.feature_gates and not behaviour.changed_gates:
        for share in (*report.earlier, *report.versions):
            if share.version == behaviour.version:
                return share.etcd, share.cache + share.etcd + share.refused
    etcd = total = 0
    for group in report.groups[:MOST_ASKED]:
        if group.verb == "list":
            request, state = assume_ready(group.example, progress=report.etcd_progress)
            plan = predict(request, state, behaviour)
            total += group.count
            etcd += group.count * (plan.error is None and plan.source.route == "etcd")
    return etcd, total


@lru_cache(maxsize=512)
def _across(
    example: str, progress: bool, version: str, gates: tuple[tuple[str, bool], ...]
) -> tuple[VersionResult, ...]:
    request, state = assume_ready(example, progress=progress)
    changed = dict(gates)
    behaviours = (*versions_before(version, changed), *versions_from(version, changed))
    return compare_versions(request, state, behaviours=behaviours)


def _shared(part: int, line: VersionLine, style: str) -> Cell:
    return (percent(part / line.requests), style) if part else NOTHING


def versions(report: Report, width: int) -> tuple[Column[VersionLine], ...]:
    """Return the columns of the table of versions for `width` cells; the bars take the cells left over."""
    estimates = report.versions[0].etcd_bytes is not None
    two = estimates and width >= 100
    room = max(10, min(44, (width - 62) // 2 if two else width - 50))
    columns: list[Column[VersionLine]] = [
        Column("version", "kube", _version, lambda row: int(row.version.split(".")[1]), 6, priority=0,
               about="Kubernetes version; ◂ the one chosen"),
        Column("requests", "LISTs by route",
               lambda row: stacked(by_route(row.share.etcd, row.share.cache, row.share.refused), room),
               lambda row: row.share.etcd, room, priority=1, about="LISTs by route"),
        figure("etcd", "etcd", lambda row: row.share.etcd, "share of LISTs that go to etcd", width=6,
               priority=0, cell=lambda row: _shared(row.share.etcd, row, "$route-etcd")),
        figure("cache", "cache", lambda row: row.share.cache, "share of LISTs that the cache answers",
               width=6, priority=0, cell=lambda row: _shared(row.share.cache, row, "$route-cache")),
    ]  # fmt: skip
    if any(share.refused for share in (*report.versions, *report.earlier)):
        columns.append(
            figure("refused", "refused", lambda row: row.share.refused, "share of LISTs that are refused",
                   width=7, priority=4, cell=lambda row: _shared(row.share.refused, row, "$route-error"))
        )  # fmt: skip
    if estimates:
        columns += [
            Column("bytesbar", "~bytes read", lambda row: _bytes_bar(row, room),
                   lambda row: bytes_of(row.share) or 0.0, room, priority=6,
                   about="estimated bytes, by route"),
            figure("bytes", "~etcd B", lambda row: row.share.etcd_bytes or 0.0,
                   "estimated bytes read from etcd", width=7, priority=2, unit="B", cell=_etcd_bytes),
        ]  # fmt: skip
    about = "changes since the version before"
    return (*columns, Column("moves", "moves", _moves, width=13, flex=1, priority=3, about=about))


def _version(line: VersionLine) -> Cell:
    style = "bold $ink-strong" if line.chosen or line.flows else "$ink-muted"
    return [(line.version, style), (" ◂", "bold $accent") if line.chosen else ("", "")]


def _moves(line: VersionLine) -> Cell:
    """Return `67% E→C`: shares of LISTs whose route differs from the previous version's."""
    runs: list[Run] = []
    for before, after, count in line.flows:
        old, new = audit_badge(before), audit_badge(after)
        runs += [(f"{', ' if runs else ''}{percent(count / line.requests)} ", "$foreground")]
        runs += [old.run, ("→", "$ink-muted"), new.run]
    return runs or ""


def _etcd_bytes(line: VersionLine) -> Cell:
    size = line.share.etcd_bytes
    if size is None:
        return NOTHING
    return ("~" + short_bytes(size), "$foreground") if size else ("0", "$ink-muted")


def _bytes_bar(line: VersionLine, room: int) -> Cell:
    size = bytes_of(line.share)
    if not size or not line.most_bytes:
        return ""
    cells = max(2, round(room * size / line.most_bytes))
    return stacked(by_route(line.share.etcd_bytes or 0.0, line.share.cache_bytes or 0.0), cells)


def changes_content(row: VersionLine | None, report: Report, width: int, height: int) -> Content:
    """Return what a version changes: requests and bytes whose route changes, and why; then groups by cost."""
    if row is None:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    than = compared_with(row, report)
    if than is None:
        return line((f"{row.version} is the oldest version known", "$ink-muted"))
    moved = moved_between(report, than.version, row.version)
    if not moved:
        text = f"nothing: every LIST is served as in {than.version}{_bytes_words(row, than)}"
        return line((text, "$ink-muted"))
    requests = sum(each.group.count for each in moved)
    share = f"{percent(requests / row.requests)} of your LISTs ({integer(requests)})"
    text = f"{share} are served from another source{_bytes_words(row, than)}"
    drawn = wrapped(text, width, "bold $ink-strong")
    if gates := gates_of(moved, than.version, row.version, report):
        drawn.append(line(("because of ", "$ink-muted"), (", ".join(gates), "$foreground")))
    room = height - len(drawn)
    shown = moved if len(moved) <= room else moved[: max(0, room - 1)]
    drawn += [_moved(each, width) for each in shown]
    if len(shown) < len(moved):
        drawn.append(line((f"  … {integer(len(moved) - len(shown))} more groups", "$ink-muted")))
    return lines(drawn[:height])


def _bytes_words(row: VersionLine, than: VersionShare) -> str:
    """Return `; LISTs read ~1.2 GB less from etcd (estimated)`; "" if unknown or equal."""
    if than.etcd_bytes is None or row.share.etcd_bytes is None:
        return ""
    change = row.share.etcd_bytes - than.etcd_bytes
    if abs(change) < 0.5:
        return ""
    return f"; LISTs read ~{long_bytes(abs(change))} {'more' if change > 0 else 'less'} from etcd (estimated)"


def _moved(each: Moved, width: int) -> Content:
    before, after = audit_badge(each.before), audit_badge(each.after)
    return line(
        before.run, (" → ", "$ink-faint"), after.run,
        (f" {integer(each.group.count):>9} × ", "$ink-muted"),
        (pad(each.group.client or "(no user agent)", min(28, width // 3)), "$foreground"), ("  ", ""),
        *shape_runs(each.group),
    )  # fmt: skip


class VersionsView(Vertical):
    """One row per version; below, what changes between the chosen and the selected one."""

    def __init__(self) -> None:
        self.report: Report | None = None
        empty = "no LIST of a stored resource in these lines"
        self.table: VTable[VersionLine] = VTable(
            (), key=lambda row: row.version, id="every-version", classes="box", empty=empty
        )
        self._changes = Panel("what changes", id="changes", classes="box")
        super().__init__(self.table, self._changes, id="versions")

    def show(self, report: Report) -> None:
        first = self.report is None
        self.report = report
        rows = version_lines(report)
        self._fit()
        self.table.set_rows(rows)
        chosen = f"◂ {report.kube_version} is chosen, {key_of('table.open')} chooses"
        entitle(self.table, line(f"your LISTs under every version · {chosen}"))
        if first and rows:
            wanted = report.move.to_version if report.move is not None else report.kube_version
            self.table.go_to(wanted)
        self.paint()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        if self.report is not None:
            self.table.set_columns(versions(self.report, self.app.size.width - 6))

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, row = self.report, self.table.row
        if report is None:
            return
        than = compared_with(row, report) if row is not None else None
        versions = f" from {than.version} to {row.version}" if row and than else ""
        entitle(self._changes, line(f"what changes{versions}"))
        self._changes.show(partial(changes_content, row, report), (id(report), id(row)))
