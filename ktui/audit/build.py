"""Build a report from a tally: rank, route and explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ktui.audit.deduplication import DeduplicatedTally
from ktui.audit.formats.log_record import Skips
from ktui.audit.group import AuditGroup
from ktui.audit.periods import iso_time
from ktui.audit.predictions import (
    ASSUMED,
    BY_TIME,
    NOT_AGGREGATED,
    AggregatedGroups,
    Move,
    VersionPredictions,
    VersionShare,
    best_move,
    ranked,
    ranked_slow,
    shares,
)
from ktui.audit.report import (
    FileReport,
    Lines,
    Observed,
    Report,
    Requests,
    TimeSpan,
    TracedReport,
    UngroupedRequests,
)
from ktui.audit.report_rows import group_report, slow_report, total_observed, total_traced
from ktui.audit.server_version import contradicted, version_of, versions_before, versions_from
from ktui.audit.tally import MOST_GROUPS, Tally
from ktui.core.format import integer, many
from ktui.core.prediction.sizes import Sizes


def notes(
    tally: Tally, unique: DeduplicatedTally, ranked_by: str, sizes_from: str, unknown: int
) -> Iterator[str]:
    """Yield the notes; `unknown`: LISTs whose route depends on a query string that was not logged."""
    yield f"routes are predicted, not logged; assumed: {ASSUMED}"
    if ranked_by == BY_TIME:
        sizes = f"{sizes_from} holds none of these resources" if sizes_from else ""
        yield (
            f"{sizes or 'object counts and sizes are not known'}: ranked by count × latency (a WATCH by "
            "the time until its initial events, where it is logged)"
        )
    else:
        yield (
            f"ranked by estimated bytes, with counts and sizes from {sizes_from}: read from etcd "
            "plus looked at; resources of unknown size come last"
        )
    traced, both = tally.formats["traces"], tally.formats["audit"] and tally.formats["httplog"]
    if traced:
        yield "routes of requests in traces are observed; only those of the other requests are predicted"
        if unique.weighted:
            yield (
                f"traces are sampled: {integer(unique.weighted)} traces without an audit Event count as "
                f"{integer(unique.weight)} requests each (--sampling)"
            )
        yield from tally.traces.problems()
    back = sum(span.back for span in tally.spans.values())
    far = sum(span.usual[2] for span in tally.spans.values())
    remarks = (
        (tally.stopped, "reading was stopped: the report covers what was read until then"),
        (unknown, f"{integer(unknown)} LISTs are in no share: GKE's logs and klog's traces have no query "
         "strings, so that the rules give them `cache or etcd`; in GKE's logs they have no latency either"),
        (both and not unique.doubles, "audit and httplog lines were both read, and no request is in both: "
         "all of them count"),
        (both and unique.doubles, f"{integer(unique.doubles)} httplog lines stand for requests that are in "
         "the audit log as well: these count once, by their audit Events; seats and initial times are from "
         "httplog"),
        (unique.duplicates, f"{integer(unique.duplicates)} records repeat another one (same audit-ID and "
         "time): counted once"),
        (tally.journal.lost, f"{integer(tally.journal.lost)} requests were too many to be compared with "
         "others: those that were logged twice count twice"),
        (back, f"{integer(back)} times a log goes back by more than a minute (a clock that was set, or "
         "several logs in one file): rates are over the whole span"),
        (far, f"{many(far, 'record')} far from the rest in time (was a clock set wrongly?): counted, but "
         "rates are over the time of the others"),
        (tally.groups.folded, "there were more clients and shapes than are kept: the smallest are in "
         "`others`, without a route, and the shares are of the rest"),
    )  # fmt: skip
    yield from (text for holds, text in remarks if holds)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants of a report: version ("": by the log) and gates, and the sizes of objects."""

    kube_version: str = ""
    gates: Mapping[str, bool] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=dict)
    sizes_from: str = ""
    progress: bool = True
    aggregated: AggregatedGroups = NOT_AGGREGATED

    def report(self, tally: Tally, top: int = MOST_GROUPS) -> Report:
        """Return a report of `top` groups. Raises BehaviourError for an unknown version or invalid gates."""
        source = version_of(tally, self.kube_version, self.gates, progress=self.progress)
        versions = versions_from(source.version, self.gates)
        predictions = VersionPredictions(
            versions, self.sizes, progress=self.progress, earlier=versions_before(source.version, self.gates),
            aggregated=self.aggregated,
        )  # fmt: skip
        unique = DeduplicatedTally(tally)
        groups, ranked_by = ranked(unique.groups, predictions)
        every = shares(groups, predictions)
        rows, earlier = every[: len(versions)], every[len(versions) :]
        move = best_move(groups, predictions, rows)
        span = _span(tally)
        chosen = versions[0]
        observed = total_observed(groups, predictions)
        traced = total_traced(groups, predictions)
        elsewhere = [group for group in groups if predictions.of(group).elsewhere]
        sentences = (
            source.note,
            *notes(tally, unique, ranked_by, self.sizes_from, rows[0].unknown),
            _elsewhere_note(elsewhere) if elsewhere else "",
        )
        files = [
            FileReport(file.name, file.lines, file.problem or file.why_nothing, file.read)
            for file in tally.files
        ]
        top_groups = (
            group_report(rank, group, predictions, span) for rank, group in enumerate(groups[:top], 1)
        )
        folded = {verb: unique.folded[verb] for verb in _VERBS}
        counts = Counter(folded)
        for group in unique.groups:
            counts[group.key.shape.verb] += group.count
        requests = Requests(**{verb: counts[verb] for verb in _VERBS}, unrouted=unique.unrouted)
        return Report(
            kube_version=chosen.version, feature_gates=chosen.changed_gates, etcd_progress=self.progress,
            summary=_summary(move, rows, tally, observed, traced, elsewhere), move=move, ranked_by=ranked_by,
            sizes_from=self.sizes_from, notes=tuple(filter(None, sentences)), files=tuple(files),
            lines=_lines(tally, unique), malformed=tuple(tally.bad_lines), span=span, requests=requests,
            versions=tuple(rows), earlier=tuple(earlier), groups_total=len(groups), groups=tuple(top_groups),
            others=UngroupedRequests(len(tally.folded.groups), **folded, slow=tally.slow_folded),
            etcd=tuple(slow_report(slow, groups, predictions) for slow in ranked_slow(tally.slow)[:top]),
            carriers=dict(tally.carriers), observed=observed, traced=traced, version_from=source.origin,
        )  # fmt: skip


_VERBS = ("list", "get", "watch")
_NAMED = 4  # groups of aggregated APIs in a note


def _elsewhere_note(groups: Sequence[AuditGroup]) -> str:
    names = sorted({group.key.shape.resource.partition(".")[2] for group in groups})
    named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")
    return (
        f"{many(sum(group.count for group in groups), 'request')} of aggregated APIs ({named}): another "
        "server answers them, so they have no route and no advice and are in no share"
    )


def _summary(
    move: Move | None, rows: Sequence[VersionShare], tally: Tally, observed: Observed | None,
    traced: TracedReport | None, elsewhere: Sequence[AuditGroup],
) -> str:  # fmt: skip
    chosen = rows[0]
    served = _served(move, rows, tally, observed)
    lists = any(group.key.shape.verb == "list" for group in elsewhere)
    if lists and not (chosen.cache or chosen.etcd or chosen.refused or chosen.unknown):
        served = "these logs hold no LIST of what this apiserver stores, only of aggregated APIs"
    if traced is not None and traced.differ:
        told = traced.agree + traced.differ
        served += (
            f"; in traces {integer(traced.etcd)} of {integer(told)} requests were served from etcd, and "
            f"{integer(traced.differ)} not from where {chosen.version} predicts"
        )
    wrong = contradicted(observed, chosen.version)
    return f"{wrong}. {served}" if wrong else served


def _served(move: Move | None, rows: Sequence[VersionShare], tally: Tally, observed: Observed | None) -> str:
    chosen, newest = rows[0], rows[-1]
    if move is not None:
        return move.sentence()
    if not chosen.cache + chosen.etcd + chosen.refused:
        return _no_lists(chosen, tally)
    if not chosen.etcd:
        seen = f", but {integer(observed.etcd)} slow requests were" if observed and observed.etcd else ""
        return f"{chosen.version} serves none of your LIST requests from etcd{seen}"
    if chosen is newest:
        return f"{chosen.version} is the newest version known: there is no later one to compare with"
    return f"no version after {chosen.version}, to {newest.version}, moves your LIST requests from etcd"


def _no_lists(chosen: VersionShare, tally: Tally) -> str:
    if chosen.unknown:
        return (
            f"{integer(chosen.unknown)} LISTs, from the cache or from etcd: that depends on their query "
            "strings, which these logs leave out"
        )
    if not any(tally.formats.values()):
        return "no request was found in these logs"
    unread = tally.malformed + sum(file.skipped.get(Skips.JSON.what, 0) for file in tally.files)
    if unread:
        return f"no LIST of a stored resource in what could be read; {integer(unread)} records could not"
    return "these logs hold no LIST of a stored resource"


def _lines(tally: Tally, unique: DeduplicatedTally) -> Lines:
    read = {name: tally.formats[name] for name in ("audit", "httplog", "etcd", "traces")}
    skipped = tally.lines - sum(read.values()) - tally.malformed
    return Lines(
        total=tally.lines, skipped=skipped, malformed=tally.malformed, doubles=unique.doubles,
        duplicates=unique.duplicates, **read,
    )  # fmt: skip


def _span(tally: Tally) -> TimeSpan | None:
    """Return the longest period of any format: those of different servers need not overlap."""
    if not tally.spans:
        return None
    longest = max(tally.spans.values(), key=lambda span: span.seconds)
    first, last, _ = longest.usual
    return TimeSpan(iso_time(first), iso_time(last), longest.seconds)
