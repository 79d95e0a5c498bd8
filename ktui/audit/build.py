"""Build a report from a tally: rank, route and explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ktui.audit.duplicates import settled
from ktui.audit.group import AuditGroup
from ktui.audit.predictions import ASSUMED, VersionPredictions
from ktui.audit.ranking import BY_TIME, ranked, ranked_slow
from ktui.audit.report import Lines, Report, Requests, TimeSpan, UngroupedRequests
from ktui.audit.rows import group_report, slow_report
from ktui.audit.tally import Tally
from ktui.audit.version_shares import Move, VersionShare, best_move, shares
from ktui.core.format import integer
from ktui.core.prediction.sizes import Sizes
from ktui.kube.versions import Behaviour

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The content of a report: `versions` (the selected one first), how many groups, with which sizes.

    `earlier` are the versions before the selected one, oldest first.
    """

    versions: Sequence[Behaviour]
    sizes: Sizes
    sizes_from: str = ""
    progress: bool = True
    top: int = 20
    earlier: Sequence[Behaviour] = ()


def build_report(tally: Tally, question: ReportOptions) -> Report:
    """The report of everything that `tally` has counted."""
    predictions = VersionPredictions(
        question.versions, question.sizes, progress=question.progress, earlier=question.earlier
    )
    groups, ranked_by = ranked(list(settled(tally.groups)), predictions)
    every = shares(groups, predictions)
    rows, earlier = every[: len(question.versions)], every[len(question.versions) :]
    move = best_move(groups, predictions, rows)
    span = _span(tally)
    chosen = question.versions[0]
    return Report(
        kube_version=chosen.version,
        feature_gates=chosen.changed_gates,
        etcd_progress=question.progress,
        summary=_summary(move, rows),
        move=move,
        ranked_by=ranked_by,
        sizes_from=question.sizes_from,
        notes=tuple(_notes(tally, ranked_by, question)),
        files=tuple(tally.files),
        lines=_lines(tally),
        malformed=tuple(tally.bad_lines),
        span=span,
        requests=_requests(tally, groups),
        versions=tuple(rows),
        earlier=tuple(earlier),
        groups_total=len(groups),
        groups=tuple(
            group_report(rank, group, predictions, span)
            for rank, group in enumerate(groups[: question.top], 1)
        ),
        others=_others(tally),
        etcd=tuple(
            slow_report(slow, groups, predictions) for slow in ranked_slow(list(tally.slow))[: question.top]
        ),
    )


def _summary(move: Move | None, rows: Sequence[VersionShare]) -> str:
    chosen, newest = rows[0], rows[-1]
    if move is not None:
        return move.sentence()
    if not chosen.cache + chosen.etcd + chosen.refused:
        return "these logs hold no LIST of a stored resource"
    if not chosen.etcd:
        return f"{chosen.version} serves none of your LIST requests from etcd"
    if chosen is newest:
        return f"{chosen.version} is the newest version known: nothing can be said of later ones"
    return f"no version after {chosen.version}, to {newest.version}, moves your LIST requests from etcd"


def _notes(tally: Tally, ranked_by: str, question: ReportOptions) -> list[str]:
    notes = [f"routes are predicted, not logged; taken for granted: {ASSUMED}"]
    if ranked_by == BY_TIME:
        unknown = f"{question.sizes_from} holds none of these resources" if question.sizes_from else ""
        notes.append(
            f"{unknown or 'object counts and sizes are not known'}: ranked by count × latency (a WATCH by "
            "the time until its initial events, where it is logged)"
        )
    else:
        notes.append(
            f"ranked by estimated bytes, with counts and sizes from {question.sizes_from}: read from etcd "
            "plus looked at; resources of unknown size come last"
        )
    if tally.formats["audit"] and tally.formats["httplog"]:
        notes.append(_doubles(tally))
    if tally.groups.folded:
        notes.append(
            "there were more clients and shapes than are kept: the smallest are in `others`, without a "
            "route, and the shares are of the rest"
        )
    return notes


def _doubles(tally: Tally) -> str:
    doubles = tally.doubles
    if not doubles.count:
        return "audit and httplog lines were both read, and no request stands in both: all of them count"
    rest = "; there were more than can be remembered: some may count twice" if doubles.lost else ""
    return (
        f"{integer(doubles.count)} httplog lines stand for requests that are in the audit log as well: "
        f"these count once, by their audit Events; seats and initial times are from httplog{rest}"
    )


def _lines(tally: Tally) -> Lines:
    formats = tally.formats
    counted = formats["audit"] + formats["httplog"] + formats["etcd"]
    return Lines(
        total=tally.lines,
        audit=formats["audit"],
        httplog=formats["httplog"],
        etcd=formats["etcd"],
        skipped=tally.lines - counted - tally.malformed,
        malformed=tally.malformed,
        doubles=tally.doubles.count,
    )


def _requests(tally: Tally, groups: Sequence[AuditGroup]) -> Requests:
    counts = dict(tally.folded.requests)
    for group in groups:
        verb = group.key.shape.verb
        counts[verb] = counts.get(verb, 0) + group.count
    return Requests(counts.get("list", 0), counts.get("get", 0), counts.get("watch", 0), tally.unrouted)


def _others(tally: Tally) -> UngroupedRequests:
    folded = tally.folded.requests
    return UngroupedRequests(
        tally.groups.folded, folded["list"], folded["get"], folded["watch"], tally.slow_folded
    )


def _span(tally: Tally) -> TimeSpan | None:
    """The longest of the formats' periods: those of different servers may not overlap."""
    if not tally.spans:
        return None
    longest = max(tally.spans.values(), key=lambda span: span.seconds)
    return TimeSpan(_iso(longest.first), _iso(longest.last), longest.seconds)


def _iso(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec="milliseconds")
