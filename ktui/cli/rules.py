"""`ktui rules`: print alert rules and a dashboard for what `ktui observe` finds."""

from __future__ import annotations

import argparse

from ktui import __version__
from ktui.cli.exit_codes import OK, USAGE, fail
from ktui.cli.output import emit, emit_json
from ktui.kube.gates import NEWEST_MINOR

OLDEST_MINOR = 24  # whose metrics are known
FORMATS = ("prometheusrule", "groups", "dashboard")

EPILOG = """examples:
  ktui rules --kube-version 1.33 | kubectl apply -n monitoring -f -
  ktui rules --plain > ktui.rules.yaml && promtool check rules ktui.rules.yaml
  ktui rules --dashboard > dashboard.json              import it in Grafana
  ktui rules --selector 'job="apiserver"'              only series with these labels

Metrics differ between versions: give the version of the cluster. A rule for a metric that the version lacks
is left out, which a comment says.

exit status: 0 printed, 2 usage"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "rules",
        help="print Prometheus alert rules and a Grafana dashboard for the read path",
        description="Print a PrometheusRule with alerts for what `ktui observe` finds: late caches, LISTs "
        "from etcd, caches that differ or cannot be filled, slow WATCHes, memory of LISTs, rejections.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "--kube-version",
        metavar="V",
        default="1.36",
        help=f"Kubernetes minor of the cluster, 1.{OLDEST_MINOR}–1.{NEWEST_MINOR} (default %(default)s)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="the document (default %(default)s)",
    )
    form.add_argument(
        "--plain",
        dest="format",
        action="store_const",
        const="groups",
        help="rule groups: a rule file of Prometheus",
    )
    form.add_argument(
        "--dashboard",
        dest="format",
        action="store_const",
        const="dashboard",
        help="a Grafana dashboard (JSON)",
    )
    add("--selector", metavar="MATCHERS", default="", help="label matchers that every series must meet")


def run(args: argparse.Namespace) -> int:
    from ktui.kube.versions import behaviour_of  # start-up time
    from ktui.live.alert_documents import dashboard, prometheus_rule, rule_groups, yaml_text
    from ktui.live.alerts import PromQueries, alert_rules, left_out

    minor = behaviour_of(args.kube_version).minor
    if minor < OLDEST_MINOR:
        return fail(f"metrics are known from Kubernetes 1.{OLDEST_MINOR} on, not of 1.{minor}", USAGE)
    queries = PromQueries(minor, args.selector)
    rules = alert_rules(queries)
    remarks = [f"Made by ktui {__version__} for Kubernetes 1.{minor}.", *left_out(minor)]
    if args.format == "dashboard":
        emit_json(dashboard(rules, queries, remarks), indent=2)
        return OK
    document = rule_groups(rules) if args.format == "groups" else prometheus_rule(rules)
    emit(yaml_text(document, remarks).removesuffix("\n"))
    return OK
