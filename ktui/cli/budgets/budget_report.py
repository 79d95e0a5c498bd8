"""The report on requests judged by budgets: text, JSON, Markdown, JUnit, and a budget file of a good run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from ktui.cli.output import FAILED, OK, USAGE, emit, emit_json, fail, warn
from ktui.config.errors import ConfigError
from ktui.core.budgets.budget_file import LIMITS, RequestBudget, budget_text, read_budgets, shown
from ktui.core.budgets.judge import Breach, BudgetUsage, BudgetVerdict, JudgedBudget, draft
from ktui.core.budgets.judged_requests import JudgedRequest
from ktui.core.format import integer, long_bytes, many, markdown_row, markdown_text, shorten
from ktui.printable import escaped

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


def print_report(report: BudgetReport, *, as_json: bool = False) -> None:
    if as_json:
        emit_json(document(report), indent=2)
    else:
        emit("\n".join(_lines(report)))


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

    def order(group: tuple[tuple[str, str, str], BudgetUsage]) -> tuple[int, tuple[str, str, str]]:
        return -max((value for value, _ in group[1].largest.values()), default=0), group[0]

    for (client, verb, resource), usage in sorted(found.groups.items(), key=order)[:20]:
        if not usage.count:
            continue
        routes = usage.routes.most_common()
        sources = ", ".join(f"{route} {integer(count)}" for route, count in routes if route)
        worst = f"; {request_text(usage.heaviest)}" if usage.heaviest is not None else ""
        yield f"  {client} {verb.upper()} {resource}: {many(usage.count, 'request')} ({sources}){worst}"


def breach_text(breach: Breach) -> str:
    actual, allowed = shown(breach.limit, breach.actual), shown(breach.limit, breach.allowed)
    return f"{LIMITS[breach.limit]}: {actual}, allowed {allowed}"


def request_text(request: JudgedRequest) -> str:
    """Return the request, where it was served from, and what it came to."""
    parts = [many(request.objects, "object")] if request.objects is not None else []
    parts += [f"{integer(request.scanned)} read"] if request.scanned is not None else []
    parts += [long_bytes(request.bytes)] if request.bytes is not None else []
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
    more = len(clients) - MOST_NAMED
    return f"{named} and {many(more, 'more client')}" if more > 0 else named


def result_text(entry: JudgedBudget, found: BudgetVerdict) -> str:
    """Return what an entry that is not exceeded came to: `3 of 10 requests`."""
    if not entry.matched and entry.budget.forbids:
        return "no request, as it should be"
    if not entry.matched:
        return f"matched nothing{_hint(entry, found)}"
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


_SIGNS = {EXCEEDED: "❌ exceeded", IDLE: "⚠ matched nothing", UNJUDGED: "⚠ not judged"}


def junit(report: BudgetReport) -> str:
    """Return JUnit XML: a test case per budget, and of `ktui ci` one for the command."""
    cases = list(_cases(report))
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(sum(case.find(kind) is not None for case in cases)) for name, kind in kinds.items()}
    suite = ElementTree.Element("testsuite", {"name": "ktui budgets", "tests": str(len(cases)), **counts})
    suite.extend(cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cases(report: BudgetReport) -> Iterator[ElementTree.Element]:
    found = report.verdict
    if report.status is not None:
        text = f"the command {ended(report.status)}" if report.status else ""
        yield _case(report, "the command", "failure" if text else "", text)
    if not found.requests:
        yield _case(report, "requests", "error", f"{report.source} sent no request for a resource")
    for entry in found.budgets:
        name = f"{entry.budget.title} ({report.place(entry)})"
        if entry.breaches:
            lines = [breach_text(breach) for breach in entry.breaches]
            worst = [request_text(breach.worst) for breach in entry.breaches if breach.worst is not None]
            details = "\n".join([*lines, f"by {clients_text(entry)}", *dict.fromkeys(worst)])
            yield _case(report, name, "failure", lines[0], details)
        elif state_of(entry) in (IDLE, UNJUDGED):
            yield _case(report, name, "skipped", result_text(entry, found))
        else:
            yield _case(report, name)


def _case(
    report: BudgetReport, name: str, kind: str = "", message: str = "", details: str = ""
) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=escaped(report.file or "ktui ci"), name=escaped(name))
    if kind:
        found = ElementTree.SubElement(case, kind, message=escaped(message))
        found.text = escaped(details, "\n") or None
    return case


def markdown_report(report: BudgetReport) -> str:
    """Return a table for a pull request, exceeded budgets first."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: BudgetReport) -> Iterator[str]:
    found = report.verdict
    yield f"**{markdown_text(report.summary)}**"
    if report.status:
        yield f"\n⚠ The command {ended(report.status)}: it may not have sent all its requests."
    if found.budgets:
        yield ""
        yield markdown_row("budget", "result", "what", "by", "worst request")
        yield markdown_row("-", "-", "-", "-", "-")
    for entry in found.budgets:
        title = markdown_text(f"{entry.budget.title} ({report.place(entry)})")
        if not entry.breaches:
            sign = _SIGNS.get(state_of(entry), "✅ ok")
            yield markdown_row(title, sign, markdown_text(result_text(entry, found)), "", "")
            continue
        for breach in entry.breaches:
            worst = markdown_text(request_text(breach.worst)) if breach.worst is not None else ""
            who = markdown_text(clients_text(entry))
            yield markdown_row(title, _SIGNS[EXCEEDED], markdown_text(breach_text(breach)), who, worst)
    if found.unmatched and found.budgets:
        yield f"\n{markdown_text(unmatched_text(found))}"
    if report.notes:
        yield ""
        yield from (f"- {markdown_text(note)}" for note in report.notes)


def finish(report: BudgetReport, args: argparse.Namespace, markdown: str = "") -> int:
    """Write the files (a budget file only for a good run); return 0, or 1 for an exceeded budget. `markdown`:
    the table's file."""
    name = ""
    try:
        for name, made in ((args.junit, junit), (markdown, markdown_report)):
            if name:
                Path(name).write_text(made(report), encoding="utf-8")
        name, found = args.write_budget, report.verdict
        if name and not report.status and found.requests:
            sent = f"{many(found.requests, 'request')} of {report.source}"
            remarks = [escaped(f"{sent}, and {args.headroom:.0%} more of each number")]
            remarks += ["Routes are predicted, not observed."] if found.predicted else []
            text = budget_text(draft(found, args.headroom), *remarks)
            Path(name).write_text(text, encoding="utf-8")
            warn(f"wrote {name}")
    except OSError as error:
        return fail(f"cannot write {name}: {error.strerror}", USAGE)
    return FAILED if report.verdict.exceeded else OK


def check_options(args: argparse.Namespace, *outputs: str) -> list[RequestBudget]:
    """Return the budgets, before anything runs. Raises ConfigError, also for outputs without a directory."""
    if args.budget and args.write_budget:
        raise ConfigError(
            "--budget and --write-budget exclude each other: judge a run, or write what it sent"
        )
    for name in (args.write_budget, args.junit, *outputs):
        if name and not Path(name).absolute().parent.is_dir():
            raise ConfigError(f"cannot write {name}: there is no directory {Path(name).parent}")
    return read_budgets(Path(args.budget)) if args.budget else []
