"""The result of judging requests by budgets, as text and as JSON: exceeded budgets first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ktui.cli.output import emit, emit_json
from ktui.core.budgets.budget_file import LIMITS, shown
from ktui.core.budgets.judge import Breach, BudgetVerdict, JudgedBudget
from ktui.core.budgets.judged_requests import JudgedRequest
from ktui.core.format import integer, long_bytes, many, shorten

MOST_NAMED = 3  # clients of a breach, and other names in a sentence
MOST_UNMATCHED = 8
LONGEST = 160  # characters of a request
EXCEEDED, KEPT, IDLE, UNJUDGED = "exceeded", "ok", "no match", "not judged"


class BudgetReport(msgspec.Struct, frozen=True):
    """A verdict, `source` as in `of make e2e`, the budget file, and the command's end (`ktui ci` only).

    `status` is the command's exit status, negative if a signal ended it; None without a command.
    """

    verdict: BudgetVerdict
    source: str
    file: str = ""
    status: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """`2 of 7 budgets exceeded: 143 requests of make e2e`."""
        found, budgets = self.verdict, len(self.verdict.budgets)
        requests = f"{many(found.requests, 'request')} of {self.source}"
        if not budgets:
            return f"{requests}, no budgets"
        exceeded = len(found.exceeded)
        what = f"{exceeded} of {many(budgets, 'budget')} exceeded" if exceeded else "no budget exceeded"
        return f"{what}: {requests}"

    def place(self, entry: JudgedBudget) -> str:
        line = entry.budget.line
        return f"{self.file}:{line}" if line else self.file


def ended(status: int) -> str:
    """Return how the command ended, in words."""
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"


def state_of(entry: JudgedBudget) -> str:
    if entry.breaches:
        return EXCEEDED
    if not entry.matched:
        return KEPT if entry.budget.forbids else IDLE
    return UNJUDGED if entry.unjudged else KEPT


def print_report(report: BudgetReport) -> None:
    emit("\n".join(_lines(report)))


def print_document(report: BudgetReport) -> None:
    emit_json(document(report), indent=2)


def _lines(report: BudgetReport) -> Iterator[str]:
    found = report.verdict
    yield report.summary
    if report.status is not None and report.status:
        yield f"the command {ended(report.status)}: it may not have sent all its requests"
    for entry in found.exceeded:
        yield f"\nEXCEEDED    {entry.budget.title} ({report.place(entry)})"
        before: JudgedRequest | None = None
        for breach in entry.breaches:
            yield f"  {breach_text(breach)}"
            if breach.worst is not None and breach.worst is not before:
                yield f"    {request_text(breach.worst)}"
            before = breach.worst
        yield f"  by {clients_text(entry)}"
    rest = [entry for entry in found.budgets if not entry.breaches]
    if rest:
        yield ""
    for entry in rest:
        name = f"{entry.budget.title} ({report.place(entry)})"
        yield f"{state_of(entry):<12}{name}: {result_text(entry, found)}"
    if found.unmatched and found.budgets:
        yield f"\n{unmatched_text(found)}"
    if not found.budgets:
        yield from _groups(found)
    if report.notes:
        yield ""
        yield from report.notes


def _groups(found: BudgetVerdict) -> Iterator[str]:
    """Yield what each client sent, for a run without budgets."""
    weights = {
        key: max((value for value, _ in usage.largest.values()), default=0)
        for key, usage in found.groups.items()
    }
    for key in sorted(found.groups, key=lambda key: (-weights[key], key))[:20]:
        usage, (client, verb, resource) = found.groups[key], key
        if not usage.count:
            continue
        sources = ", ".join(
            f"{route} {integer(count)}" for route, count in usage.routes.most_common() if route
        )
        worst = f"; {request_text(usage.heaviest)}" if usage.heaviest is not None else ""
        yield f"  {client} {verb.upper()} {resource}: {many(usage.count, 'request')} ({sources}){worst}"


def breach_text(breach: Breach) -> str:
    actual, allowed = shown(breach.limit, breach.actual), shown(breach.limit, breach.allowed)
    return f"{LIMITS[breach.limit]}: {actual}, allowed {allowed}"


def request_text(request: JudgedRequest) -> str:
    """Return the request, where it was served from, and what it came to."""
    parts = []
    if request.objects is not None:
        parts.append(many(request.objects, "object"))
    if request.scanned is not None:
        parts.append(f"{integer(request.scanned)} read")
    if request.bytes is not None:
        parts.append(long_bytes(request.bytes))
    route = {"cache": " from the cache", "etcd": " from etcd"}.get(request.route, "")
    route += " (predicted)" if route and request.predicted else ""
    came = f": {', '.join(parts)}" if parts else ""
    return f"{request.verb.upper()} {shorten(request.target, LONGEST)}{route}{came}"


def clients_text(entry: JudgedBudget) -> str:
    """Return who sent the requests of an entry, most requests first."""
    clients = entry.usage.clients.most_common()
    if not clients and entry.usage.last_relist is not None:
        return entry.usage.last_relist.client
    named = ", ".join(f"{name} ({many(count, 'request')})" for name, count in clients[:MOST_NAMED])
    return (
        f"{named} and {many(len(clients) - MOST_NAMED, 'more client')}"
        if len(clients) > MOST_NAMED
        else named
    )


def result_text(entry: JudgedBudget, found: BudgetVerdict) -> str:
    """Return what an entry that is not exceeded came to: `3 of 10 requests`."""
    if not entry.matched:
        return (
            "no request, as it should be" if entry.budget.forbids else f"matched nothing{_hint(entry, found)}"
        )
    parts = []
    for limit, allowed in entry.budget.limits.items():
        value = entry.usage.value(limit)
        if value is None:
            parts.append(f"{LIMITS[limit]} not known")
            continue
        lacking = entry.unknown.get(limit, 0)
        some = f" (not known of {many(lacking, 'request')})" if lacking else ""
        parts.append(f"{shown(limit, value)} of {shown(limit, allowed)} {LIMITS[limit]}{some}")
    return ", ".join(parts)


def _hint(entry: JudgedBudget, found: BudgetVerdict) -> str:
    """Return what was seen instead of the client or the resource of an entry that matched nothing."""
    budget = entry.budget
    test = budget.client_test()
    of_client = {resource for client, _, resource in found.groups if test(client)}
    if not of_client:
        seen, what = {client for client, _, _ in found.groups}, "clients"
    elif budget.resource and budget.resource not in of_client:
        seen, what = of_client, "resources of this client"
    else:
        return ""
    names = sorted(seen)
    more = f" and {len(names) - MOST_UNMATCHED} more" if len(names) > MOST_UNMATCHED else ""
    return f"; {what} seen: {', '.join(names[:MOST_UNMATCHED])}{more}"


def unmatched_text(found: BudgetVerdict) -> str:
    """Return how many requests no entry covers, and the most frequent of them."""
    total = sum(count for _, count in found.unmatched)
    named = ", ".join(f"{title} ({integer(count)})" for title, count in found.unmatched[:MOST_UNMATCHED])
    more = len(found.unmatched) - MOST_UNMATCHED
    return f"{many(total, 'request')} in no budget: {named}" + (f" and {more} more kinds" if more > 0 else "")


def document(report: BudgetReport) -> dict[str, Any]:
    found = report.verdict
    return {
        "summary": report.summary, "requests": found.requests, "command_status": report.status,
        "exceeded": len(found.exceeded), "budgets": [_entry(report, entry) for entry in found.budgets],
        "unmatched": dict(found.unmatched[:100]), "routes_predicted": found.predicted,
        "notes": list(report.notes),
    }  # fmt: skip


def _entry(report: BudgetReport, entry: JudgedBudget) -> dict[str, Any]:
    budget = entry.budget
    return {
        "title": budget.title, "place": report.place(entry), "client": budget.client, "verb": budget.verb,
        "resource": budget.resource, "route": budget.route, "state": state_of(entry),
        "limits": {
            limit: {
                "allowed": allowed, "actual": entry.usage.value(limit),
                "not_known": entry.unknown.get(limit, 0),
            }
            for limit, allowed in budget.limits.items()
        },
        "clients": dict(entry.usage.clients.most_common(10)),
        "breaches": [
            {
                "limit": breach.limit, "allowed": breach.allowed, "actual": breach.actual,
                "worst": msgspec.to_builtins(breach.worst),
            }
            for breach in entry.breaches
        ],
    }  # fmt: skip
