"""What the screens of an audit show of its report; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ktui.audit.foresight import presumed
from ktui.audit.moves import VersionShare, percent
from ktui.audit.ranking import BY_BYTES
from ktui.audit.report import GroupReport, Latency, Report, SlowReport
from ktui.audit.versions import versions_before, versions_from
from ktui.kube.across import Under, across
from ktui.kube.explain import Explanation, explain
from ktui.kube.versions import Behaviour, behaviour_of
from ktui.tui.model.routes import ERROR, Badge, badge_of_route


def audit_badge(route: str) -> Badge:
    """The badge of a foreseen route: a LIST that goes nowhere is refused."""
    return ERROR if route == "none" else badge_of_route(route)


def behaviour_in(report: Report) -> Behaviour:
    return behaviour_of(report.kube_version, report.feature_gates)


def every_share(report: Report) -> tuple[VersionShare, ...]:
    """All versions, oldest first."""
    return (*report.earlier, *report.versions)


def every_route(group: GroupReport) -> dict[str, str]:
    """The group's route by version, oldest first."""
    return {**group.earlier_routes, **group.routes}


def by_bytes(report: Report) -> bool:
    """Whether counts and sizes of objects were known, so that costs are estimated."""
    return report.ranked_by == BY_BYTES


def cost_bytes(group: GroupReport) -> float:
    """Estimated bytes of all its requests: read from etcd plus looked at, as groups are ranked."""
    return group.estimated.etcd_bytes + group.estimated.touched_bytes if group.estimated else 0.0


def busy_ms(group: GroupReport) -> float:
    """Time that the apiserver worked on them: of WATCHes only until their initial events."""
    took = group.init_latency if group.verb == "watch" else group.latency
    return took.total if took is not None else 0.0


def p95(group: GroupReport) -> float:
    took = told_latency(group)
    return took.p95 if took is not None else 0.0


def told_latency(group: GroupReport) -> Latency | None:
    """The latency that says something of cost; how long a WATCH lived does not."""
    return group.init_latency if group.verb == "watch" else group.latency


def explanation_of(group: GroupReport, report: Report) -> Explanation:
    """The walk of the group's example under the chosen version."""
    request, state = presumed(group.example, progress=report.etcd_progress)
    return explain(request, state, behaviour_in(report))


def slow_reads_of(group: GroupReport, report: Report) -> list[SlowReport]:
    """Slow etcd reads that this group probably caused."""
    return [slow for slow in report.etcd if group.rank in slow.ranks]


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version of the whole audit; `before` is the version that it is compared with."""

    share: VersionShare
    before: VersionShare | None
    chosen: bool
    most_bytes: float

    @property
    def version(self) -> str:
        return self.share.version

    @property
    def requests(self) -> int:
        return self.share.cache + self.share.etcd + self.share.refused

    @property
    def bytes(self) -> float | None:
        """Estimated bytes that its LISTs read from etcd and look at in the cache."""
        if self.share.etcd_bytes is None or self.share.cache_bytes is None:
            return None
        return self.share.etcd_bytes + self.share.cache_bytes


def version_lines(report: Report) -> list[VersionLine]:
    """One line a version, oldest first."""
    shares = every_share(report)
    most = max(((s.etcd_bytes or 0) + (s.cache_bytes or 0) for s in shares), default=0.0)
    befores = (None, *shares)
    return [
        VersionLine(share, before, share.version == report.kube_version, most)
        for share, before in zip(shares, befores, strict=False)
    ]


@dataclass(frozen=True, slots=True)
class Moved:
    """A group whose route differs between two versions."""

    group: GroupReport
    before: str
    after: str


def moved_between(report: Report, before: str, after: str) -> list[Moved]:
    """LISTs that one version serves from elsewhere than the other, in the order of their ranks."""
    found = []
    for group in report.groups:
        routes = every_route(group)
        if group.verb == "list" and routes[before] != routes[after]:
            found.append(Moved(group, routes[before], routes[after]))
    return found


def change_words(line: VersionLine) -> str:
    """`81 % etcd → cache`: what this version changes against the one before, "" for nothing."""
    before, share, total = line.before, line.share, line.requests
    if before is None or not total:
        return ""
    parts = []
    for name, was, now in (
        ("etcd", before.etcd, share.etcd),
        ("cache", before.cache, share.cache),
        ("refused", before.refused, share.refused),
    ):
        if was != now:
            sign = "+" if now > was else "−"
            parts.append(f"{sign}{percent(abs(now - was) / total)} {name}")
    return ", ".join(parts)


def gates_of(moved: Iterable[Moved], after: str, report: Report) -> list[str]:
    """Feature gates because of which these groups move to `after`, the most frequent first."""
    seen: dict[str, int] = {}
    gates = tuple(report.feature_gates.items())
    for each in moved:
        for row in _across(each.group.example, report.etcd_progress, report.kube_version, gates):
            if row.version == after:
                for cause in row.causes:
                    if cause.gate and "route" in cause.aspects:
                        seen[cause.gate] = seen.get(cause.gate, 0) + each.group.count
    return sorted(seen, key=lambda gate: -seen[gate])


@lru_cache(maxsize=512)
def _across(
    example: str, progress: bool, version: str, gates: tuple[tuple[str, bool], ...]
) -> tuple[Under, ...]:
    request, state = presumed(example, progress=progress)
    changed = dict(gates)
    behaviours = (*versions_before(version, changed), *versions_from(version, changed))
    return across(request, state, behaviours=behaviours)


def read_text(report: Report) -> str:
    """What was read and what was taken for granted, as a text."""
    lines = report.lines
    parts = [
        "files",
        *(f"  {file.name}: {file.lines:,} lines" + _problem(file.problem) for file in report.files),
    ]
    parts += ["", f"lines  {lines.total:,}"]
    parts += [
        f"  {count:>12,}  {what}"
        for count, what in (
            (lines.audit, "of an audit log"),
            (lines.httplog, "httplog of a kube-apiserver"),
            (lines.etcd, "slow requests of an etcd"),
            (lines.skipped, "skipped: understood, and nothing that is counted"),
            (lines.malformed, "malformed"),
        )
    ]
    if report.span is not None:
        parts += ["", f"span  {report.span.first}", f"   to {report.span.last}"]
    parts += ["", f"ranked by {report.ranked_by}"]
    parts += [f"sizes from {report.sizes_from}"] if report.sizes_from else []
    parts += ["", "taken for granted", *(f"  · {note}" for note in report.notes)]
    if report.malformed:
        parts += ["", "malformed lines, the first of them"]
        for bad in report.malformed:
            parts += [f"  {bad.file}:{bad.line}: {bad.why}", f"    {bad.text}"]
    return "\n".join(parts)


def _problem(problem: str) -> str:
    return f" — {problem}" if problem else ""


def nothing_recognised(report: Report) -> bool:
    """Whether no line says anything of a request."""
    return not (report.lines.audit or report.lines.httplog or report.lines.etcd)
