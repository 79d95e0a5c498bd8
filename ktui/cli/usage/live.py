"""Commands for a kube-apiserver that runs elsewhere: observe, record, rules, rbac, tracing-config, mcp."""

from __future__ import annotations

from ktui.cli.usage.describe import CliCommand, long_seconds, one_of, option, seconds, size
from ktui.cli.usage.shared import JSON, KUBECONFIG, OTLP, prometheus
from ktui.kube.gates import NEWEST_MINOR

OLDEST_MINOR = 24  # whose metrics are known
RULE_FORMATS = ("prometheusrule", "groups", "dashboard")
MILLION = 1_000_000
PLATFORMS = ("kubeadm", "k3s", "kind", "openshift")

INTERVAL = option(
    "--interval TIME", "time between two scrapes of a replica (default 15s)", type=seconds, default=15.0
)
COMMANDS = {
    "observe": CliCommand(
        "ktui.cli.observe.run",
        "Scrape a real kube-apiserver for some seconds and report, for each resource, how many "
        "LISTs the watch cache served and how many etcd, what they read and returned, who executes and "
        "who waits, and what to change.",
        (
            *KUBECONFIG,
            prometheus(),
            OTLP,
            option("--for TIME",
                   "how long: 30s, 5m, 1h (default 30s)", dest="window", type=seconds, default=30.0),
            INTERVAL,
            JSON,
            option("--top N", "resources in the table (default %(default)s)", type=int, default=20),
            option("--fail-on", "exit status 1 when a finding is at least as severe",
                   choices=("notice", "warning", "critical"), default=""),
        ),
        """examples:
  ktui observe --for 1m
  ktui observe --kubeconfig ~/.kube/config --context prod --json | jq .resources.pods
  ktui observe --for 5m --fail-on warning          in a cron job or in CI
  ktui observe --otlp --for 1m                     requests of an apiserver's traces: ktui tracing-config
  ktui observe --prometheus https://prometheus.example --for 1h    the past hour, at once

Only GETs are sent: /metrics of every replica, /version, /readyz, the kube-apiserver Leases and the dumps
of API Priority and Fairness. `ktui rbac` prints the ClusterRole that this needs. Figures are those of the
whole server, all clients together; the ones that a server does not report are null, or ? in the tables.

exit status: 0 observed, 1 findings at least as severe as --fail-on, 2 usage, 3 no replica could be read""",
    ),
    "record": CliCommand(
        "ktui.cli.record.run",
        "Record the metrics, dumps and traces of a real kube-apiserver without screens, in "
        "segments that rotate. It reconnects when the server restarts, and continues in a directory that it "
        "recorded into before.",
        (
            option("directory DIR",
                   "the directory of the segments (required); created if missing", nargs="?"),
            *KUBECONFIG,
            prometheus(", from now on"),
            OTLP,
            option("--for TIME", "how long: 90m, 48h, 7d (default: until it is stopped)",
                   dest="window", type=long_seconds),
            option("--retention TIME", "delete segments that ended before this time (default 48h)",
                   type=long_seconds, default="48h"),
            option("--max-size SIZE", "delete the oldest segments beyond this size on disk (default 2GB)",
                   type=size, default="2GB"),
            INTERVAL,
        ),
        """examples:
  ktui record incident                                    the current context, until Ctrl-C
  ktui record --context prod --for 48h --retention 48h --max-size 2GB /var/lib/ktui
  ktui record --kubeconfig ~/.kube/config --otlp DIR      requests of its traces too: ktui tracing-config
  ktui record --prometheus https://prometheus.example DIR    what a Prometheus scrapes
  ktui --replay DIR                                       opens at the worst finding
  ktui recording info DIR

Only GETs are sent, as by `ktui observe`; `ktui rbac` prints the ClusterRole. DIR gets a new segment every
hour, or earlier for the size; the oldest ones are deleted. Each segment is a recording of its own, and has
a marker at each new finding. SIGINT and SIGTERM end it with a summary. docs/record.md has a systemd unit
and a Deployment.

exit status: 0 recorded, 1 the disk failed at the end, 2 usage, 3 nothing could be read""",
        usage="%(prog)s [options] DIR",
    ),
    "rules": CliCommand(
        "ktui.cli.documents.rules",
        "Print a PrometheusRule with alerts for what `ktui observe` finds: late caches, LISTs "
        "from etcd, caches that differ or cannot be filled, slow WATCHes, memory of LISTs, rejections.",
        (
            option("--kube-version V",
                   f"Kubernetes minor of the cluster, 1.{OLDEST_MINOR}–1.{NEWEST_MINOR} "
                   "(default %(default)s)",
                   default="1.36"),
            one_of(
                option("--format", "the document (default %(default)s)",
                       choices=RULE_FORMATS, default=RULE_FORMATS[0]),
                option("--plain", "rule groups: a rule file of Prometheus",
                       dest="format", action="store_const", const="groups"),
                option("--dashboard", "a Grafana dashboard (JSON)",
                       dest="format", action="store_const", const="dashboard"),
            ),
            option("--selector MATCHERS", "label matchers that every series must meet", default=""),
        ),
        """examples:
  ktui rules --kube-version 1.33 | kubectl apply -n monitoring -f -
  ktui rules --plain > ktui.rules.yaml && promtool check rules ktui.rules.yaml
  ktui rules --dashboard > dashboard.json              import it in Grafana
  ktui rules --selector 'job="apiserver"'              only series with these labels

Metrics differ between versions: give the version of the cluster. A rule for a metric that the version lacks
is left out, which a comment says.

exit status: 0 printed, 2 usage""",
    ),
    "rbac": CliCommand(
        "ktui.cli.documents.rbac",
        "Print the ClusterRole that `ktui observe` and `ktui --kubeconfig` need: nothing in it "
        "changes an object or reads its content.",
        (
            one_of(
                option("--user NAME", "bind it to this user", default=""),
                option("--group NAME", "bind it to this group", default=""),
                option("--service-account NAMESPACE:NAME", "bind it to this service account", default=""),
            ),
            option("--json", "a List in JSON instead of YAML"),
        ),
        "example:\n  ktui rbac --user jane | kubectl apply -f -\n\nexit status: 0 printed, 2 usage",
        settings=False,
    ),
    "tracing-config": CliCommand(
        "ktui.cli.documents.tracing_config",
        "Print the TracingConfiguration for --tracing-config-file of a kube-apiserver, what to "
        "edit where, and what sampling costs.",
        (
            option("--endpoint HOST:PORT",
                   "where ktui listens (default %(default)s)", default="127.0.0.1:4317"),
            option("--sampling N",
                   "traced requests per million; 0: only those whose caller asks for it "
                   "(default %(default)s)",
                   type=int, default=MILLION),
            option("--platform", "only the steps for this one", choices=PLATFORMS),
            one_of(option("--yaml", "the TracingConfiguration alone"), option("--json", "the same as JSON")),
        ),
        """examples:
  ktui tracing-config --platform kubeadm
  ktui tracing-config --sampling 10000 --yaml > tracing.yaml

exit status: 0 printed, 2 usage""",
        settings=False,
    ),
    "mcp": CliCommand(
        "ktui.cli.agents.tools.run",
        "Serve read-only tools to an agent by the Model Context Protocol, over standard input and output.",
        (
            *KUBECONFIG,
            option("--logs PATH",
                   "a log file or folder that rank_clients may read; repeatable (default: none)",
                   action="append", default=[]),
            option("--allow-names",
                   "do not mask names; those of Secrets, addresses and tokens are hidden all the same"),
        ),
        """examples:
  ktui mcp                                              the current context of your kubeconfig
  ktui mcp --context prod --logs /var/log/kubernetes    audit logs below this folder too

in an agent's configuration: {"mcpServers": {"ktui": {"command": "ktui", "args": ["mcp"]}}}

tools: explain_request, compare_versions (no server), estimate_list, cluster_findings (the cluster),
rank_clients (logs below --logs). All of them only read; an answer is JSON of at most 4 KB and says what it
leaves out. Names of namespaces, objects, nodes, users and clients are masked unless --allow-names.

exit status: 0 standard input ended, 2 usage, or the SDK is missing""",
    ),
}  # fmt: skip
