"""Build a report from a tally: rank, route and explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ktui.audit.formats.record import JSON
from ktui.audit.mismatches import total_observed
from ktui.audit.notes import notes
from ktui.audit.predictions import VersionPredictions
from ktui.audit.ranking import ranked, ranked_slow
from ktui.audit.report import FileReport, Lines, Observed, Report, Requests, TimeSpan, UngroupedRequests
from ktui.audit.rows import group_report, slow_report
from ktui.audit.settled import Settled, settle
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


def build_report(tally: Tally, options: ReportOptions) -> Report:
    """The report of everything that `tally` has counted."""
    predictions = VersionPredictions(
        options.versions, options.sizes, progress=options.progress, earlier=options.earlier
    )
    settled = settle(tally)
    groups, ranked_by = ranked(settled.groups, predictions)
    every = shares(groups, predictions)
    rows, earlier = every[: len(options.versions)], every[len(options.versions) :]
    move = best_move(groups, predictions, rows)
    span = _span(tally)
    chosen = options.versions[0]
    observed = total_observed(groups, predictions)
    return Report(
        kube_version=chosen.version,
        feature_gates=chosen.changed_gates,
        etcd_progress=options.progress,
        summary=_summary(move, rows, tally, observed),
        move=move,
        ranked_by=ranked_by,
        sizes_from=options.sizes_from,
        notes=tuple(notes(tally, settled, ranked_by, options.sizes_from, rows[0].unknown)),
        files=tuple(
            FileReport(file.name, file.lines, file.problem or file.why_nothing, file.read)
            for file in tally.files
        ),
        lines=_lines(tally, settled),
        malformed=tuple(tally.bad_lines),
        span=span,
        requests=_requests(settled),
        versions=tuple(rows),
        earlier=tuple(earlier),
        groups_total=len(groups),
        groups=tuple(
            group_report(rank, group, predictions, span)
            for rank, group in enumerate(groups[: options.top], 1)
        ),
        others=_others(tally, settled),
        etcd=tuple(
            slow_report(slow, groups, predictions) for slow in ranked_slow(list(tally.slow))[: options.top]
        ),
        carriers=dict(tally.carriers),
        observed=observed,
    )


def _summary(move: Move | None, rows: Sequence[VersionShare], tally: Tally, observed: Observed | None) -> str:
    chosen, newest = rows[0], rows[-1]
    if move is not None:
        return move.sentence()
    if not chosen.cache + chosen.etcd + chosen.refused:
        return _no_lists(chosen, tally)
    if not chosen.etcd:
        seen = f", but {integer(observed.etcd)} slow requests were" if observed and observed.etcd else ""
        return f"{chosen.version} serves none of your LIST requests from etcd{seen}"
    if chosen is newest:
        return f"{chosen.version} is the newest version known: nothing can be said of later ones"
    return f"no version after {chosen.version}, to {newest.version}, moves your LIST requests from etcd"


def _no_lists(chosen: VersionShare, tally: Tally) -> str:
    if chosen.unknown:
        return (
            f"{integer(chosen.unknown)} LISTs, from the cache or from etcd: that depends on their query "
            "strings, which these logs leave out"
        )
    if not any(tally.formats.values()):
        return "no request was found in these logs"
    unread = tally.malformed + sum(file.skipped.get(JSON.what, 0) for file in tally.files)
    if unread:
        return f"no LIST of a stored resource in what could be read; {integer(unread)} records could not"
    return "these logs hold no LIST of a stored resource"


def _lines(tally: Tally, settled: Settled) -> Lines:
    formats = tally.formats
    counted = formats["audit"] + formats["httplog"] + formats["etcd"]
    return Lines(
        total=tally.lines,
        audit=formats["audit"],
        httplog=formats["httplog"],
        etcd=formats["etcd"],
        skipped=tally.lines - counted - tally.malformed,
        malformed=tally.malformed,
        doubles=settled.doubles,
        duplicates=settled.duplicates,
    )


def _requests(settled: Settled) -> Requests:
    counts = dict(settled.folded)
    for group in settled.groups:
        verb = group.key.shape.verb
        counts[verb] = counts.get(verb, 0) + group.count
    return Requests(counts.get("list", 0), counts.get("get", 0), counts.get("watch", 0), settled.unrouted)


def _others(tally: Tally, settled: Settled) -> UngroupedRequests:
    folded = settled.folded
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
