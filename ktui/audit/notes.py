"""The notes of a report: what it assumes, and what was special about the logs."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.audit.deduplication import DeduplicatedTally
from ktui.audit.predictions import ASSUMED
from ktui.audit.ranking import BY_TIME
from ktui.audit.tally import Tally
from ktui.core.format import integer, many


def notes(
    tally: Tally, unique: DeduplicatedTally, ranked_by: str, sizes_from: str, unknown: int
) -> Iterator[str]:
    """Yield the notes.

    `unknown`: number of LISTs whose route depends on a query string that was not logged.
    """
    yield f"routes are predicted, not logged; assumed: {ASSUMED}"
    yield _ranking(ranked_by, sizes_from)
    yield from _traces(tally, unique)
    if tally.stopped:
        yield "reading was stopped: the report covers what was read until then"
    if unknown:
        yield (
            f"{integer(unknown)} LISTs are in no share: GKE's logs and klog's traces have no query strings, "
            "so that the rules give them `cache or etcd`; in GKE's logs they have no latency either"
        )
    if tally.formats["audit"] and tally.formats["httplog"]:
        yield _doubles(unique)
    if unique.duplicates:
        yield (
            f"{integer(unique.duplicates)} records repeat another one (same audit-ID and time): counted once"
        )
    if tally.journal.lost:
        yield (
            f"{integer(tally.journal.lost)} requests were too many to be compared with others: those that "
            "were logged twice count twice"
        )
    if back := sum(span.back for span in tally.spans.values()):
        yield (
            f"{integer(back)} times a log goes back by more than a minute (a clock that was set, or several "
            "logs in one file): rates are over the whole span"
        )
    if far := sum(span.usual[2] for span in tally.spans.values()):
        yield (
            f"{many(far, 'record')} far from the rest in time (was a clock set wrongly?): counted, but rates "
            "are over the time of the others"
        )
    if tally.groups.folded:
        yield (
            "there were more clients and shapes than are kept: the smallest are in `others`, without a "
            "route, and the shares are of the rest"
        )


def _traces(tally: Tally, unique: DeduplicatedTally) -> Iterator[str]:
    if not tally.formats["traces"]:
        return
    yield "routes of requests in traces are observed; only those of the other requests are predicted"
    if unique.weighted:
        yield (
            f"traces are sampled: {integer(unique.weighted)} traces without an audit Event count as "
            f"{integer(unique.weight)} requests each (--sampling)"
        )
    yield from tally.trace_problems()


def _ranking(ranked_by: str, sizes_from: str) -> str:
    if ranked_by == BY_TIME:
        unknown = f"{sizes_from} holds none of these resources" if sizes_from else ""
        return (
            f"{unknown or 'object counts and sizes are not known'}: ranked by count × latency (a WATCH by "
            "the time until its initial events, where it is logged)"
        )
    return (
        f"ranked by estimated bytes, with counts and sizes from {sizes_from}: read from etcd "
        "plus looked at; resources of unknown size come last"
    )


def _doubles(unique: DeduplicatedTally) -> str:
    if not unique.doubles:
        return "audit and httplog lines were both read, and no request is in both: all of them count"
    return (
        f"{integer(unique.doubles)} httplog lines stand for requests that are in the audit log as well: "
        "these count once, by their audit Events; seats and initial times are from httplog"
    )
