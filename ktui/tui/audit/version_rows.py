"""An audit under every version: shares, changed routes, and the gates that change them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ktui.audit.predictions import assume_ready
from ktui.audit.report import GroupReport, Report
from ktui.audit.server_version import versions_before, versions_from
from ktui.audit.version_shares import VersionShare
from ktui.kube.routing.predict import predict
from ktui.kube.version_comparison import VersionResult, compare_versions
from ktui.kube.versions import Behaviour
from ktui.tui.audit.report_view import every_share, route_under

MOST_ASKED = 300
"""Groups that are routed again while the user changes gates."""
_ASKED = 20  # groups for which the gates that change their route are determined


@dataclass(frozen=True, slots=True)
class Moved:
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

    @property
    def bytes(self) -> float | None:
        """Estimated bytes that the LISTs read from etcd and scan in the cache; None if unknown."""
        return bytes_of(self.share)


def bytes_of(share: VersionShare) -> float | None:
    if share.etcd_bytes is None or share.cache_bytes is None:
        return None
    return share.etcd_bytes + share.cache_bytes


def version_lines(report: Report) -> list[VersionLine]:
    """Return a line per version, oldest first; [] without LISTs."""
    shares = every_share(report)
    if not report.requests.list:
        return []
    most = max(bytes_of(share) or 0.0 for share in shares)
    drawn: list[VersionLine] = []
    before: VersionShare | None = None
    for share in shares:
        flows = _flows(moved_between(report, before.version, share.version)) if before is not None else ()
        drawn.append(VersionLine(share, before, share.version == report.kube_version, most, flows))
        before = share
    return drawn


def _flows(moved: Iterable[Moved]) -> tuple[tuple[str, str, int], ...]:
    counts: Counter[tuple[str, str]] = Counter()
    for each in moved:
        counts[each.before, each.after] += each.group.count
    return tuple((before, after, count) for (before, after), count in counts.most_common())


def moved_between(report: Report, before: str, after: str) -> list[Moved]:
    """Return the groups of LISTs whose routes differ between two versions, by rank."""
    found = []
    for group in report.groups:
        if group.verb == "list" and (was := route_under(group, before)) != (now := route_under(group, after)):
            found.append(Moved(group, was, now))
    return found


def compared_with(line: VersionLine, report: Report) -> VersionShare | None:
    """Return the version to compare with: the chosen one, and for that the previous one."""
    return line.before if line.chosen else report.versions[0]


def gates_of(moved: Sequence[Moved], before: str, after: str, report: Report) -> list[str]:
    """Return the feature gates that change the routes of these groups, those of most requests first."""
    first, last = sorted((_minor(before), _minor(after)))
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
    known = {share.version: share for share in every_share(report)}
    share = known.get(behaviour.version)
    if share is not None and not report.feature_gates and not behaviour.changed_gates:
        return share.etcd, share.cache + share.etcd + share.refused
    etcd = total = 0
    for group in report.groups[:MOST_ASKED]:
        if group.verb == "list":
            request, state = assume_ready(group.example, progress=report.etcd_progress)
            plan = predict(request, state, behaviour)
            total += group.count
            etcd += group.count * (plan.error is None and plan.source.route == "etcd")
    return etcd, total


def _minor(version: str) -> int:
    return int(version.split(".")[1])


@lru_cache(maxsize=512)
def _across(
    example: str, progress: bool, version: str, gates: tuple[tuple[str, bool], ...]
) -> tuple[VersionResult, ...]:
    request, state = assume_ready(example, progress=progress)
    changed = dict(gates)
    behaviours = (*versions_before(version, changed), *versions_from(version, changed))
    return compare_versions(request, state, behaviours=behaviours)
