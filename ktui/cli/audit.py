"""`ktui audit`: what the requests in an apiserver's logs cost, by client, and cheaper variants of them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ktui.cli.budgets.budget_options import add_budget_arguments
from ktui.cli.exit_codes import FAILED, INTERRUPTED, OK, USAGE, fail
from ktui.cli.options import add_etcd_version, count, moment, supports_progress
from ktui.cli.output import emit, emit_json
from ktui.cli.targets import add_attach_arguments
from ktui.kube.gates import DEFAULT_VERSION, VERSION_RANGE

if TYPE_CHECKING:
    from ktui.audit.build import Wish
    from ktui.audit.report import Report
    from ktui.audit.tally import Tally, TallyOptions

ALL = 4096  # groups: all that are kept
QUERIES = ("duckdb", "clickhouse", "athena", "bigquery", "kql")

EPILOG = """reads, told apart by content and mixed in one run:
  kube-apiserver's audit log (audit.k8s.io/v1; level Metadata is enough): lines, pretty JSON, EventList
  the same from EKS (CloudWatch export, tail, filter-log-events, Insights, subscription, Firehose), AKS
  (storage account, Event Hub, AKSAudit), GKE (LogEntry), Fluent Bit, Docker, Loki, Vector, Splunk
  kube-apiserver's log with httplog lines (-v=3 and up, 1.19 to 1.37), klog or --logging-format=json
  etcd's JSON log: "apply request took too long" and "request stats"
  kube-apiserver's traces: OTLP (JSON or protobuf; Tempo's and Jaeger's exports), klog's Trace[…] lines
in files, folders, patterns ('logs/*.gz') or standard input; plain, gz, zstd, bz2, xz, tar or zip.

examples:
  ktui audit /var/log/kubernetes/audit.log
  ktui audit audit-*.log.gz --kube-version 1.30
  ktui audit audit.log --screen
  ktui audit must-gather.tar.gz
  ktui audit s3-export/                        a folder of CloudWatch exports
  aws logs filter-log-events --log-group-name /aws/eks/prod/cluster | ktui audit -
  kubectl -n kube-system logs kube-apiserver-cp1 | ktui audit - --top 10
  ktui audit audit.log etcd.log --sizes sizes.json --markdown > report.md
  ktui audit audit.log --attach https://127.0.0.1:6443 --json | jq .summary
  ktui audit audit.log --html > report.html
  ktui audit spans.jsonl audit.log --requests  each request: its route, cost and stages
  ktui audit audit.log --budget budgets.toml   what clients sent more than they may
  ktui audit diff before.json after.json       two reports of --json: what changed
  ktui audit part-1.log --partial 1.part       on each machine, then on one of them:
  ktui audit merge *.part                      the report of all logs together
  ktui audit audit.log --emit loadprofile > load.yaml
  ktui audit /var/log/kubernetes/audit.log --follow
  ktui audit --listen 127.0.0.1:9443           for --audit-webhook-config-file of an apiserver
  ktui audit --sql duckdb 'logs/*.json'        a query that counts there; its result:
  ktui audit --grouped result.csv              is explained like a log

sizes.json: {"pods": {"count": 100000, "bytes": 1400000000}, "namespaces": {"count": 200, "bytes": 90000}}

exit status: 0 read (also where lines were malformed or a file broke off), 1 a FILE in which no request was
found (the report says why), or a budget is exceeded, 2 usage (no such file, …), 3 no connection to the
server of --attach, 130 Ctrl-C (what was read until then is reported)"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "audit",
        help="rank the requests in an apiserver's logs by what they cost",
        description="Group the GETs, LISTs and WATCHes in logs by client and shape, say where each is "
        "served from\n(now, and under later versions), what it costs, and what to write instead.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="*",
        help="log files, folders, archives, patterns; - for standard input",
    )
    add(
        "--kube-version",
        metavar="V",
        default="",
        help=f"version whose rules route the requests, {VERSION_RANGE} (default: by the log, else 1.36)",
    )
    add("--feature-gates", metavar="A=true,…", default="", help="gates set differently from the default")
    add_etcd_version(parser)
    add(
        "--etcd-prefix",
        metavar="PREFIX",
        default="/registry",
        help="where Kubernetes keeps its keys (default %(default)s)",
    )
    add("--since", metavar="T", type=moment, help="only from this time on: RFC 3339, a date, or 2h (ago)")
    add("--until", metavar="T", type=moment, help="only up to this time")
    add(
        "--aggregated",
        metavar="GROUP",
        action="append",
        default=[],
        help="an API group that another server serves (as metrics.k8s.io): no routes for it; repeatable",
    )
    add(
        "--sampling",
        type=count,
        default=1_000_000,
        metavar="N",
        help="traces are sampled at N per million requests: each counts for those that it stands for",
    )
    add("--top", type=count, default=20, metavar="N", help="how many groups to show (default %(default)s)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("-i", "--screen", action="store_true", help="as screens, all groups")
    form.add_argument("--json", action="store_true", help="one JSON document, for programs")
    form.add_argument("--markdown", action="store_true", help="tables for an issue or a wiki page")
    form.add_argument("--csv", action="store_true", help="the groups as a table for spreadsheets")
    form.add_argument("--html", action="store_true", help="one page with charts that needs nothing else")
    form.add_argument("--emit", choices=("loadprofile",), help="the observed load, for kperf and workloads")
    form.add_argument("--sql", choices=QUERIES, help="print a query that counts where the logs are")
    form.add_argument(
        "--requests", action="store_true", help="one JSON line a request, joined by Audit-ID; writes too"
    )
    form.add_argument("--partial", metavar="OUT", help="write what was counted, for `ktui audit merge`")
    budgets = parser.add_argument_group("budgets (with --json or --markdown: the result in that form)")
    add_budget_arguments(budgets)
    live = parser.add_argument_group("logs that grow (a screen, or with --json a report every 10 s)")
    live.add_argument("--follow", action="store_true", help="go on with what is written to the files")
    live.add_argument("--listen", metavar="HOST:PORT", help="serve an apiserver's audit webhook backend")
    live.add_argument("--listen-secret", metavar="TEXT", help="the path of the webhook (default: random)")
    live.add_argument("--tls-cert", metavar="FILE", help="certificate of --listen")
    live.add_argument("--tls-key", metavar="FILE", help="its key")
    add("--grouped", action="store_true", help="FILE is the result of a query of --sql (JSON or CSV)")
    add("--dask", metavar="URL", default="", help="read on a Dask cluster, a file a task (tcp://HOST:8786)")
    add("--theme", metavar="NAME", default="", help="colours of --screen")
    sizes = parser.add_argument_group("counts and sizes of objects, for estimates")
    sizes.add_argument("--sizes", metavar="FILE", help="JSON: how many objects and bytes each resource has")
    add_attach_arguments(sizes, "a ktui server that has the log's objects")
    # No effect since only the server of --attach is asked for sizes; kept for old scripts.
    sizes.add_argument("--no-attach", action="store_true", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    try:
        return _run(args)
    except BrokenPipeError:
        raise
    except OSError as error:
        return fail(f"cannot read {error.filename}: {error.strerror}", USAGE)


def _run(args: argparse.Namespace) -> int:

    if args.budget or args.write_budget or args.junit:
        from ktui.cli.budgets.judge_logs import judge_logs  # start-up time

        _check_version(args)
        return judge_logs(args, _options(args))
    if args.follow or args.listen:
        return _live(args)
    if not args.files:
        return fail("name a log FILE, or - for standard input", USAGE)
    what, *files = args.files
    if what == "diff" and not Path(what).exists():
        from ktui.cli.auditing.diff import diff  # start-up time

        return diff(files, as_json=args.json)
    if args.sql:
        from ktui.audit.queries import query  # start-up time

        emit("\n".join(query(args.sql, source).removesuffix("\n") for source in args.files))
        return OK
    if args.sampling > 1_000_000:
        return fail("--sampling is a number of requests per million, at most 1000000", USAGE)
    if args.requests:
        return _requests(args)
    _check_version(args)
    progress = supports_progress(args)
    if args.screen:
        return _screen(args, progress)
    merging = what == "merge" and not Path(what).exists()
    if (merging or args.grouped) and (args.since is not None or args.until is not None):
        return fail("--since and --until apply to logs: give them where these are read", USAGE)
    tally, wish = _merged(files, args, progress) if merging else read_tally(args, progress)
    if args.partial:
        from ktui.cli.auditing.outputs import write  # start-up time

        write(tally, args.partial)
    else:
        _print(wish.report(tally, ALL if args.emit else args.top), args)
    if tally.stopped:
        return INTERRUPTED
    return FAILED if tally.unread else OK


def _check_version(args: argparse.Namespace) -> None:
    """Raise BehaviourError for an unknown version or gates that it does not have, before anything is read."""
    from ktui.audit.server_version import versions_from  # start-up time
    from ktui.kube.versions import parse_gates

    versions_from(args.kube_version or DEFAULT_VERSION, parse_gates(args.feature_gates))


def _wish(args: argparse.Namespace, progress: bool) -> Wish:
    from ktui.audit.build import Wish  # start-up time
    from ktui.cli.auditing.read_logs import find_aggregated, find_sizes
    from ktui.kube.versions import parse_gates

    gates = parse_gates(args.feature_gates)
    return Wish(args.kube_version, gates, *find_sizes(args), progress, find_aggregated(args))


def read_tally(args: argparse.Namespace, progress: bool, *, quiet: bool = False) -> tuple[Tally, Wish]:
    """Read the logs, with a progress bar that Ctrl-C ends; `quiet` without both, in any thread.

    Raises the errors that `run` handles.
    """
    from ktui.audit.reading.files import open_logs  # start-up time
    from ktui.audit.workers import read_all
    from ktui.cli.auditing.read_logs import read_with_bar

    with open_logs(args.files) as logs:
        # Read before the logs: a wrong URL is reported at once, not after ten minutes.
        wish = _wish(args, progress)
        tally = _tally(args)
        if quiet:
            read_all(logs, tally, lambda name, taken: None)
        else:
            read_with_bar(logs, tally, grouped=args.grouped, dask=args.dask)
    return tally, wish


def _merged(files: list[str], args: argparse.Namespace, progress: bool) -> tuple[Tally, Wish]:
    from ktui.cli.auditing.outputs import merge  # start-up time

    wish = _wish(args, progress)
    tally = _tally(args)
    merge(tally, files)
    return tally, wish


def _requests(args: argparse.Namespace) -> int:
    from ktui.audit.reading.files import open_logs  # start-up time
    from ktui.audit.request_list import RequestList
    from ktui.cli.auditing.outputs import emit_request, problems
    from ktui.cli.auditing.read_logs import list_with_bar

    requests = RequestList(_options(args), emit_request)
    with open_logs(args.files) as logs:
        finished = list_with_bar(logs, requests)
    problems(requests)
    if not finished:
        return INTERRUPTED
    return FAILED if requests.unread else OK


def _screen(args: argparse.Namespace, progress: bool) -> int:
    from ktui.audit.reading.files import open_logs  # start-up time
    from ktui.cli.auditing.report_screen import separate_keyboard, show
    from ktui.cli.view_options import check_theme, preferences_of

    check_theme(args)
    with separate_keyboard("-" in args.files) as piped, open_logs(args.files, piped) as logs:
        return show(logs, _tally(args), _wish(args, progress), preferences_of(args))


def _live(args: argparse.Namespace) -> int:
    from ktui.cli.auditing.report_screen import run_live  # start-up time
    from ktui.cli.view_options import check_theme, preferences_of

    _check_version(args)
    check_theme(args)
    wish = _wish(args, supports_progress(args))
    return run_live(args, _tally(args), wish, preferences_of(args))


def _tally(args: argparse.Namespace) -> Tally:
    from ktui.audit.tally import Tally  # start-up time

    return Tally(*_options(args))


def _options(args: argparse.Namespace) -> TallyOptions:

    from ktui.audit.periods import FIRST, LAST  # start-up time
    from ktui.audit.tally import TallyOptions

    since, until = args.since, args.until
    return TallyOptions(
        datetime.now(UTC),
        args.etcd_prefix,
        FIRST if since is None else since,
        LAST if until is None else until,
        args.sampling,
    )


def _print(report: Report, args: argparse.Namespace) -> None:
    if args.json:
        emit_json(msgspec.to_builtins(report), indent=2)
    elif args.markdown:
        from ktui.cli.auditing.markdown import markdown  # start-up time

        emit(markdown(report).removesuffix("\n"))
    elif args.csv:
        from ktui.cli.auditing.text import csv_table  # start-up time

        emit(csv_table(report).removesuffix("\n"))
    elif args.html:
        from ktui.cli.auditing.html import html_page  # start-up time

        emit(html_page(report).removesuffix("\n"))
    elif args.emit:
        from ktui.cli.auditing.outputs import print_load  # start-up time

        print_load(report)
    else:
        from ktui.cli.auditing.text import print_report  # start-up time

        print_report(report)
