"""`ktui audit LOG --budget FILE`: judge the requests in logs by budgets."""

from __future__ import annotations

import argparse
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from ktui.audit.predictions import AggregatedGroups, assume_ready
from ktui.audit.reading.files import open_logs
from ktui.audit.request_list import ListedRequest, RequestList
from ktui.audit.tally import TallyOptions
from ktui.cli.auditing.outputs import problems
from ktui.cli.auditing.read_logs import find_aggregated, list_with_bar
from ktui.cli.budgets.budget_report import BudgetReport, check_options, finish, markdown_report, print_report
from ktui.cli.options import supports_progress
from ktui.cli.output import FAILED, INTERRUPTED, USAGE, emit, fail
from ktui.core.budgets.budget_file import RATE
from ktui.core.budgets.judge import BudgetJudge, BudgetVerdict
from ktui.core.budgets.judged_requests import JudgedRequest, client_name, resource_of
from ktui.core.format import integer, many
from ktui.core.ranking.shape import LONGEST_URI, canonical
from ktui.kube.gates import DEFAULT_VERSION
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import Behaviour, behaviour_of, parse_gates

_READS = ("get", "list", "watch")


def _judged(
    judge: BudgetJudge, options: TallyOptions, behaviour: Behaviour, aggregated: AggregatedGroups, *,
    progress: bool,
) -> RequestList:  # fmt: skip
    """Return what reads the records of logs, and gives their requests to `judge`."""

    @lru_cache(maxsize=4096)
    def route_of(uri: str) -> str:
        try:
            request, state = assume_ready(uri, progress=progress)
        except RequestError:
            return ""
        plan = predict(request, state, behaviour)
        return plan.source.route if plan.error is None else "none"

    def predicted(listed: ListedRequest, resource: str) -> str:
        """Return the predicted route of a read; "" if it cannot be predicted."""
        if listed.verb not in _READS:
            return "etcd"
        if requests.queryless or len(listed.path) > LONGEST_URI or aggregated.has(resource):
            return ""
        return route_of(canonical(listed.path))

    def take(listed: ListedRequest) -> None:
        resource = resource_of(split_url(listed.path)[0])
        if not resource:
            return
        route = listed.route or predicted(listed, resource)
        whole = listed.verb != "watch"  # of a WATCH the logs have no initial events
        judge.add(
            JudgedRequest(
                at=datetime.fromisoformat(listed.time).timestamp(), client=client_name(listed.user_agent),
                verb=listed.verb, resource=resource, target=listed.path, route=route,
                objects=listed.returned if whole else None, scanned=listed.scanned if whole else None,
                bytes=listed.bytes if whole else None, ms=(listed.ms or 0.0) if whole else 0.0,
                predicted=bool(route and not listed.route),
            )
        )  # fmt: skip

    requests = RequestList(options, take)
    return requests


_OTHER_FORMS = (
    "follow", "listen", "sql", "requests", "screen", "csv", "html", "emit", "partial", "grouped", "dask",
)  # fmt: skip
_WORDS = ("merge", "diff")  # instead of a log


def judge_logs(args: argparse.Namespace, options: TallyOptions) -> int:
    """Read the logs, print the report, and return the exit status. Raises ConfigError and ClientError."""
    other = next((f"--{name}" for name in _OTHER_FORMS if getattr(args, name)), "")
    if not args.files:
        return fail("name a log FILE, or - for standard input", USAGE)
    if (what := args.files[0]) in _WORDS and not Path(what).exists():
        other = what
    if not (args.budget or args.write_budget):
        return fail("--junit is a report on budgets: add --budget FILE", USAGE)
    if other:
        return fail(f"--budget judges single requests of logs: leave out {other}", USAGE)
    if options.sampling != 1_000_000:
        return fail("--budget needs every request: traces that are sampled (--sampling) have too few", USAGE)
    judge = BudgetJudge(check_options(args), drafting=bool(args.write_budget))
    version = args.kube_version or DEFAULT_VERSION
    behaviour = behaviour_of(version, parse_gates(args.feature_gates))
    requests = _judged(judge, options, behaviour, find_aggregated(args), progress=supports_progress(args))
    with open_logs(args.files) as logs:
        finished = list_with_bar(logs, requests)
    problems(requests)
    verdict = judge.verdict()
    source = args.files[0] if len(args.files) == 1 else many(len(args.files), "log")
    report = BudgetReport(verdict, source, args.budget, notes=_notes(requests, verdict, version))
    if args.markdown:
        emit(markdown_report(report).removesuffix("\n"))
    else:
        print_report(report, as_json=args.json)
    status = finish(report, args)
    if not finished:
        return INTERRUPTED
    if requests.unread or not verdict.requests:
        return fail(f"no request for a resource was found in {source}", FAILED)
    return status


def _notes(requests: RequestList, verdict: BudgetVerdict, version: str) -> tuple[str, ...]:
    notes = []
    if verdict.predicted:
        of = f"{integer(verdict.predicted)} of {many(verdict.requests, 'request')}"
        notes.append(f"the route of {of} is predicted for Kubernetes {version} (--kube-version)")
    if requests.queryless:
        notes.append("the log leaves out query strings: routes, pages and selectors are not known")
    lacking = {limit for entry in verdict.budgets for limit, _ in entry.unknown.items()}
    if RATE in lacking:
        notes.append(f"these logs are too long for {RATE}: read parts of them (--since, --until)")
        lacking.remove(RATE)
    if lacking:
        names = ", ".join(sorted(lacking))
        notes.append(f"not every request has the figure of {names}: of these logs only traces have it")
    return tuple(notes)
