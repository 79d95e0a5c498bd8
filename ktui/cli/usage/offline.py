"""Commands that judge or print what there is: explain, audit, decode, ci, recording, completion."""

from __future__ import annotations

import argparse

from ktui.cli.usage.describe import CliCommand, count, group, moment, one_of, option, subcommands, yes_or_no
from ktui.cli.usage.shared import ETCD_VERSION, JSON, OTHER_GATES, attach, version
from ktui.kube.gates import DEFAULT_VERSION, VERSION_RANGE

AGES = ("compacted", "old", "current", "ahead", "beyond")
SHELLS = ("bash", "zsh", "fish")
WORDS = ("themes", "contexts", "kube-versions", "resources", "servers", "paths", "plans")
HEADROOM = 0.2
MOST_PERCENT = 10_000


def _headroom(text: str) -> float:
    number = text.strip().removesuffix("%")
    if not number.isdecimal() or int(number) > MOST_PERCENT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage: write it like 20%")
    return int(number) / 100


EXPLAIN = (
    option("path PATH", "API path with its query as in `kubectl get --raw`, or a whole URL"),
    option("--verb", "default: what the path asks for", choices=("get", "list", "watch"), default=""),
    option("--kube-version V",
           f"{VERSION_RANGE}, or all (default: {DEFAULT_VERSION})", default=DEFAULT_VERSION),
    OTHER_GATES,
    ETCD_VERSION,
    option("--cache", "state of the resource's watch cache",
           choices=("ready", "initializing", "reinitializing", "disabled"), default="ready"),
    option("--rv-age", "how old the request's resourceVersion is", choices=AGES, default="current"),
    option("--continue-age", "how old the continue token is", choices=AGES[:-1], default="current"),
    yes_or_no("--cache-snapshot", "whether the cache still holds a snapshot of an old revision", True),
    group(
        "the client, as far as it is known: for more advice",
        option("--repeated-every SECONDS", "the client polls", type=float),
        option("--agents N", "number of concurrent clients (after a rollout)", type=int, default=1),
        option("--keeps-part",
               "each of the --agents keeps a part of the answer and discards the rest, by a hash"),
        option("--informer", "the client sends the LIST and then a WATCH, as informers do"),
        option("--node NAME", "the node that the client runs on", default=""),
        option("--account --user USER",
               "its user name in the cluster: decides the priority level, which caps its seats", default=""),
        option("--group G,…", "groups of that user", default=""),
        option("--accept TYPE", "its Accept header, like application/json"),
    ),
    option("--json", "one JSON object, or an array of them for `all`"),
)  # fmt: skip

BUDGETS = (
    option("--budget FILE", "judge the requests by this budget file (TOML)", default=""),
    option("--write-budget FILE",
           "write a budget file that these requests keep, with --headroom", default=""),
    option("--headroom PERCENT", "what a written budget allows more than was sent (default 20%%)",
           type=_headroom, default=HEADROOM),
    option("--junit FILE", "write a JUnit report: a test case for each budget", default=""),
)  # fmt: skip

AUDIT = (
    option("files FILE", "log files, folders, archives, patterns; - for standard input", nargs="*"),
    option("--kube-version V",
           f"version whose rules route the requests, {VERSION_RANGE} (default: by the log, else 1.36)",
           default=""),
    OTHER_GATES,
    ETCD_VERSION,
    option("--etcd-prefix PREFIX",
           "where Kubernetes keeps its keys (default %(default)s)", default="/registry"),
    option("--since T", "only from this time on: RFC 3339, a date, or 2h (ago)", type=moment),
    option("--until T", "only up to this time", type=moment),
    option("--aggregated GROUP",
           "an API group that another server serves (as metrics.k8s.io): no routes for it; repeatable",
           action="append", default=[]),
    option("--sampling N",
           "traces are sampled at N per million requests: each counts for those that it stands for",
           type=count, default=1_000_000),
    option("--top N", "how many groups to show (default %(default)s)", type=count, default=20),
    one_of(
        option("-i --screen", "as screens, all groups"),
        JSON,
        option("--markdown", "tables for an issue or a wiki page"),
        option("--csv", "the groups as a table for spreadsheets"),
        option("--html", "one page with charts that needs nothing else"),
        option("--emit", "the observed load, for kperf and workloads", choices=("loadprofile",)),
        option("--sql", "print a query that counts where the logs are",
               choices=("duckdb", "clickhouse", "athena", "bigquery", "kql")),
        option("--requests", "one JSON line a request, joined by Audit-ID; writes too"),
        option("--partial OUT", "write what was counted, for `ktui audit merge`"),
    ),
    group("budgets (with --json or --markdown: the result in that form)", *BUDGETS),
    group(
        "logs that grow (a screen, or with --json a report every 10 s)",
        option("--follow", "go on with what is written to the files"),
        option("--listen HOST:PORT", "serve an apiserver's audit webhook backend"),
        option("--listen-secret TEXT", "the path of the webhook (default: random)"),
        option("--tls-cert FILE", "certificate of --listen"),
        option("--tls-key FILE", "its key"),
    ),
    option("--grouped", "FILE is the result of a query of --sql (JSON or CSV)"),
    option("--dask URL", "read on a Dask cluster, a file a task (tcp://HOST:8786)", default=""),
    option("--theme NAME", "colours of --screen", default=""),
    group(
        "counts and sizes of objects, for estimates",
        option("--sizes FILE", "JSON: how many objects and bytes each resource has"),
        *attach("a ktui server that has the log's objects"),
        # No effect since only the server of --attach is asked for sizes; kept for old scripts.
        option("--no-attach"),
    ),
)  # fmt: skip

_COPY = (
    option("source IN", "a recording; it stays as it is"),
    option("target OUT", "the copy, which must not exist (gzip: .gz)"),
)
RECORDING = subcommands(
    "doing",
    {
        "info": ("time span, events by type, servers and markers", CliCommand("", "", (
            option("file FILE", "a recording"), option("--json", "the same as JSON"),
        ), settings=False)),
        "cut": ("copy the part between two times", CliCommand(
            "",
            "The copy begins with the state at that time. T counts from the beginning "
            "(90, 1:30, 1:02:30), from the end (-30), or is a clock (@14:05:30) or RFC 3339.",
            (
                *_COPY,
                option("--from T", "start (default: the beginning)", dest="begin", default=""),
                option("--to T", "end (default: the end)", dest="end", default=""),
            ), settings=False)),
        "share": ("copy it without Secrets, tokens, addresses and, by default, names", CliCommand(
            "",
            "Always left out: names of Secrets, continue tokens, bearer tokens, addresses, paths of "
            "files, where etcd is, what user agents say of their host. Resources, versions, times, "
            "sizes and routes stay.",
            (
                *_COPY,
                option("--names",
                       "names of namespaces, objects, labels and unknown clients: each the same word "
                       "everywhere in the copy (hash, the default), or kept",
                       choices=("hash", "keep"), default="hash"),
            ), settings=False)),
    },
)  # fmt: skip

COMMANDS = {
    "explain": CliCommand(
        "ktui.cli.explain.run",
        "Say whether a kube-apiserver serves a GET, LIST or WATCH from its watch cache\n"
        "or from etcd, why, and what would be cheaper. Nothing is contacted.",
        EXPLAIN,
        """ages of a revision, for --rv-age and --continue-age:
  compacted  no longer in etcd              current  the cache's newest
  old        cache and etcd know it         ahead    etcd has it, the cache not yet
                                            beyond   neither has it yet

examples:
  ktui explain '/api/v1/pods?limit=500'
  ktui explain '/api/v1/pods?limit=500&resourceVersion=0' --kube-version all
  ktui explain '/api/v1/pods?fieldSelector=spec.nodeName=node-01' --kube-version 1.24
  ktui explain '/api/v1/pods' --etcd-version 3.5.1 --json
  ktui explain '/api/v1/pods?limit=500&resourceVersion=4711' --rv-age old --no-cache-snapshot
  ktui explain '/api/v1/configmaps?watch=true&resourceVersion=4711' --rv-age compacted
  ktui explain '/api/v1/pods' --repeated-every 30 --agents 500 --node node-01 --accept application/json
  ktui explain '/api/v1/nodes' --kube-version 1.30 --feature-gates ConsistentListFromCache=true

exit status: 0 explained (also where the server would answer an error), 2 usage""",
    ),
    "audit": CliCommand(
        "ktui.cli.audit.run",
        "Group the GETs, LISTs and WATCHes in logs by client and shape, say where each is "
        "served from\n(now, and under later versions), what it costs, and what to write instead.",
        AUDIT,
        """reads, told apart by content and mixed in one run:
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
server of --attach, 130 Ctrl-C (what was read until then is reported)""",
    ),
    "decode": CliCommand(
        "ktui.cli.decode.run",
        "Print each stored value as one line of compact JSON, in the order of the files. A value "
        "that cannot be read is `null`, with the file and the reason on standard error.",
        (
            option("files FILE", "a file that holds one value, or - for standard input", nargs="+"),
            option("--mod-revision N",
                   "the key's mod_revision: becomes metadata.resourceVersion, and the value is shown as "
                   "served. Without it the value is shown as it is stored", type=int),
            option("--kube-version V", "print as this Kubernetes version does (1.24 to 1.38)"),
            option("--etcd-key KEY", "the value's key: gives the type of a value that does not name it"),
        ),
        """examples:
  etcdctl get /registry/pods/default/web --print-value-only | ktui decode -
  ktui decode --mod-revision 4711 pod.bin
  ktui decode --kube-version 1.30 values/*.bin | jq -c .metadata.name

exit status: 0 all decoded, 1 some were not (`null` on their lines), 2 usage""",
        settings=False,
    ),
    "ci": CliCommand(
        "ktui.cli.budgets.run.run",
        "Run a command (an e2e or envtest suite) against a server of its own, with a real etcd, "
        "and judge\nthe requests that it sent: how many, from cache or etcd, how many objects and bytes.",
        (
            option("command COMMAND", "what to run, with its arguments", nargs=argparse.REMAINDER),
            *BUDGETS,
            option("--markdown FILE", "write a table for a pull request", default=""),
            option("--json", "one JSON document; then the command's output is on standard error"),
            group(
                "server of its own",
                *version("A=true,…"),
                option("--pods N", "fill it with a demo cluster of N pods first", type=count, default=0),
                option("--nodes N", "its nodes (default 20)", type=count, default=0),
                option("--record FILE", "keep the recording, for `ktui --replay`", default=""),
            ),
        ),
        """examples:
  ktui ci -- kubectl get pods -A                       what did it send, and what did that read?
  ktui ci --pods 2000 --write-budget budgets.toml -- make e2e
  ktui ci --pods 2000 --budget budgets.toml --junit ktui.xml -- make e2e
  ktui ci --budget budgets.toml --markdown "$GITHUB_STEP_SUMMARY" -- go test ./test/e2e/...

The command gets KUBECONFIG, the kubeconfig of a new server over an etcd of its own with all rights; the
variables of a pod (KUBERNETES_SERVICE_HOST) are removed. Requests are judged as the server recorded them.
Signals are passed on to the command.

exit status: 0 within the budgets, 1 a budget is exceeded, 2 usage, 3 the server could not start or ended,
4 the command failed (its own status is in the report), 5 it sent no request for a resource, 128+N ended by
signal N""",
        usage="%(prog)s [options] -- COMMAND …",
    ),
    "recording": CliCommand(
        "ktui.cli.recording.run",
        "Recordings are what `ktui --record FILE` and `ktui serve --record FILE` write.",
        (RECORDING,),
        """examples:
  ktui recording info incident.ndjson.gz
  ktui recording cut incident.ndjson.gz minute.ndjson --from 12:30 --to 13:30
  ktui recording share incident.ndjson.gz for-upstream.ndjson.gz
  ktui --replay for-upstream.ndjson.gz

Times count from the beginning (90, 1:30, 1:02:30), from the end (-30), or are a clock
(@14:05:30) or RFC 3339. OUT must not exist. A name that ends in .gz is compressed.
exit status: 0 done, 2 usage or no readable recording""",
        settings=False,
    ),
    "completion": CliCommand(
        "ktui.cli.completion.run",
        "Print a script that completes ktui's commands and options, and the names of themes, "
        "Kubernetes versions, contexts, resources and running servers.",
        (
            option("shell", "whose script to print", choices=SHELLS, nargs="?"),
            option("--words", choices=WORDS),
        ),
        """examples:
  source <(ktui completion bash)                      in this shell; zsh too
  ktui completion bash > ~/.local/share/bash-completion/completions/ktui
  ktui completion zsh > "${fpath[1]}/_ktui"
  ktui completion fish > ~/.config/fish/completions/ktui.fish""",
        settings=False,
    ),
}  # fmt: skip
