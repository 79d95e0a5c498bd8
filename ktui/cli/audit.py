"""`ktui audit`: the clients of an apiserver by its logs, what their requests cost, and cheaper variants."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ktui.cli.attach import add_attach_arguments
from ktui.cli.etcd_version import add_etcd_version, supports_progress
from ktui.cli.exit_codes import FAILED, INTERRUPTED, NO_CONNECTION, OK, USAGE, fail
from ktui.cli.options import count
from ktui.cli.output import emit, emit_json

if TYPE_CHECKING:
    from ktui.audit.report import Report
    from ktui.audit.tally import Tally
    from ktui.kube.versions import Behaviour

DEFAULT_VERSION = "1.36"

EPILOG = """reads, told apart by content and mixed in one run:
  kube-apiserver's audit log (audit.k8s.io/v1; level Metadata is enough): lines, pretty JSON, EventList
  the same from EKS (CloudWatch export, tail, filter-log-events, Insights, subscription, Firehose), AKS
  (storage account, Event Hub, AKSAudit), GKE (LogEntry), Fluent Bit, Docker, Loki, Vector, Splunk
  kube-apiserver's log with httplog lines (-v=3 and up, 1.19 to 1.37), klog or --logging-format=json
  etcd's JSON log: "apply request took too long" and "request stats"
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

sizes.json: {"pods": {"count": 100000, "bytes": 1400000000}, "namespaces": {"count": 200, "bytes": 90000}}

exit status: 0 read (also where lines were malformed or a file broke off), 1 a FILE in which no request was
found (the report says why), 2 usage (no such file, …), 3 no connection to the server of --attach, 130 Ctrl-C
(what was read until then is reported)"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "audit",
        help="rank the requests in an apiserver's logs by what they cost",
        description="AuditGroup the GETs, LISTs and WATCHes in logs by client and shape, say where each is "
        "served from\n(now, and under later versions), what it costs, and what to write instead.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="+",
        help="log files, folders, archives, patterns; - for standard input",
    )
    add(
        "--kube-version",
        metavar="V",
        default=DEFAULT_VERSION,
        help="whose rules route the requests, 1.19 to 1.37 (default %(default)s)",
    )
    add("--feature-gates", metavar="A=true,…", default="", help="gates set differently from the default")
    add_etcd_version(parser)
    add(
        "--etcd-prefix",
        metavar="PREFIX",
        default="/registry",
        help="where Kubernetes keeps its keys (default %(default)s)",
    )
    add("--top", type=count, default=20, metavar="N", help="how many groups to show (default %(default)s)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("-i", "--screen", action="store_true", help="as screens to go through, all groups")
    form.add_argument("--json", action="store_true", help="one JSON document, for programs")
    form.add_argument("--markdown", action="store_true", help="tables for an issue or a wiki page")
    add("--theme", metavar="NAME", default="", help="colours of --screen")
    sizes = parser.add_argument_group("counts and sizes of objects, for estimates")
    sizes.add_argument("--sizes", metavar="FILE", help="JSON: how many objects and bytes each resource has")
    sizes.add_argument("--no-attach", action="store_true", help="do not ask a server that runs here")
    add_attach_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ktui.client.connection import ClientError  # start-up time
    from ktui.config.errors import ConfigError
    from ktui.core.prediction.sizes import SizesError
    from ktui.kube.versions import BehaviourError

    try:
        versions = _versions(args)
        progress = supports_progress(args)
        if args.screen:
            return _screen(args, progress)
        tally, report = _report(args, versions, progress)
    except (BehaviourError, ConfigError, SizesError) as error:
        return fail(str(error), USAGE)
    except OSError as error:
        return fail(f"cannot read {error.filename}: {error.strerror}", USAGE)
    except ClientError as error:
        return fail(str(error), NO_CONNECTION)
    _print(report, args)
    if tally.stopped:
        return INTERRUPTED
    return FAILED if tally.unread else OK


def _versions(args: argparse.Namespace) -> list[Behaviour]:
    from ktui.audit.versions import versions_from  # start-up time
    from ktui.kube.versions import parse_gates

    return versions_from(args.kube_version, parse_gates(args.feature_gates))


def _report(args: argparse.Namespace, versions: list[Behaviour], progress: bool) -> tuple[Tally, Report]:
    from ktui.audit.build import ReportOptions, build_report  # start-up time
    from ktui.audit.reading.files import open_logs
    from ktui.audit.versions import versions_before
    from ktui.cli.auditing.files import read_with_bar
    from ktui.cli.auditing.sizes import find_sizes
    from ktui.kube.versions import parse_gates

    with open_logs(args.files) as logs:
        # Read before the logs: a wrong URL is reported at once, not after ten minutes.
        sizes, sizes_from = find_sizes(args)
        tally = _tally(args)
        read_with_bar(logs, tally)
    earlier = versions_before(args.kube_version, parse_gates(args.feature_gates))
    question = ReportOptions(versions, sizes, sizes_from, progress, args.top, earlier)
    return tally, build_report(tally, question)


def _screen(args: argparse.Namespace, progress: bool) -> int:
    from ktui.audit.reading.files import open_logs  # start-up time
    from ktui.cli.auditing.screen import keyboard_apart, show
    from ktui.cli.auditing.sizes import find_sizes
    from ktui.cli.preferences import check_theme, preferences_of
    from ktui.kube.versions import parse_gates
    from ktui.tui.audit.reading import Wish

    check_theme(args)
    with keyboard_apart("-" in args.files) as piped, open_logs(args.files, piped) as logs:
        sizes, sizes_from = find_sizes(args)
        wish = Wish(args.kube_version, parse_gates(args.feature_gates), sizes, sizes_from, progress)
        return show(logs, _tally(args), wish, preferences_of(args))


def _tally(args: argparse.Namespace) -> Tally:
    from datetime import UTC, datetime  # start-up time

    from ktui.audit.tally import Tally

    return Tally(datetime.now(UTC), args.etcd_prefix)


def _print(report: Report, args: argparse.Namespace) -> None:
    if args.json:
        import msgspec  # start-up time

        emit_json(msgspec.to_builtins(report), indent=2)
    elif args.markdown:
        from ktui.cli.auditing.markdown import markdown  # start-up time

        emit(markdown(report).removesuffix("\n"))
    else:
        from ktui.cli.auditing.text import print_report  # start-up time

        print_report(report)
