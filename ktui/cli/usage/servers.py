"""Commands that run a server or send requests to one: serve, list, bench, workload, seed, kubeconfig."""

from __future__ import annotations

import argparse

from ktui.cli.usage import shared
from ktui.cli.usage.describe import CliCommand, count, group, one_of, option, seconds, yes_or_no
from ktui.contract.faults import KINDS, TimedFault, timed_fault

MOST_SECONDS = 3_600.0  # of a workload's run


def run_seconds(text: str) -> float:
    """Parse `90`, `60s`, `5m`, `1h` as seconds. Raises ArgumentTypeError."""
    value = seconds(text)
    if value > MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r}: a run takes at most 1h")
    return value


def fault(text: str) -> TimedFault:
    """Parse a fault with its time: `pause@10s:5s`. Raises ArgumentTypeError."""
    try:
        return timed_fault(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


SERVE = (
    group(
        "http",
        option("--listen HOST:PORT", "where to listen (default: a free port of 127.0.0.1)",
               default="127.0.0.1:0"),
        *shared.token("the bearer token that clients must send (default: KTUI_TOKEN, or random)"),
        option("--insecure-http", "no TLS and no token; only on a loopback address, under a loopback name"),
        option("--max-connections N",
               "connections of clients at once; others are refused (default: what the limit of open files "
               "allows, at most 16384)", type=int),
    ),
    group(
        "users and their rights",
        option("--token-auth-file FILE", 'more users: lines of token,user,uid,"group1,group2"'),
        option("--client-ca-file FILE",
               "accept client certificates signed by one of these authorities: CN is the user, O a group"),
        option("--authorization-mode",
               "RBAC: the stored roles decide what users may do; system:masters may do everything",
               choices=["AlwaysAllow", "RBAC"], default="AlwaysAllow"),
    ),
    group(
        "tokens of service accounts",
        option("--service-account-key-file FILE",
               "PEM keys (RSA or ECDSA; public, private or certificates) that verify tokens, besides the "
               "signing key; repeatable", action="append", default=[]),
        option("--service-account-signing-key-file FILE",
               "the private key that signs tokens (default: the server's TLS key)", default=""),
        option("--service-account-issuer ISSUER",
               "the issuer in new tokens; repeated: others that are accepted (default: "
               "https://kubernetes.default.svc)", action="append", default=[]),
        option("--api-audiences NAME[,NAME…]",
               "audiences whose tokens this server accepts (default: the issuers)",
               action="append", default=[]),
    ),
    group(
        "logs of requests, as kube-apiserver writes them",
        option("--audit-log-path FILE", "write audit.k8s.io/v1 Events; - is stdout"),
        option("--audit-policy-file FILE",
               "the audit.k8s.io/v1 Policy to follow (default: every request at level Metadata)"),
        option("--audit-log-mode",
               "of a slow disk: requests wait (blocking, the default), or Events are dropped (batch)",
               choices=["blocking", "batch"], default="blocking"),
        *(
            option(f"--audit-log-{name} N", f"{what} (default 0: no limit)", type=int, default=0)
            for name, what in (
                ("maxsize", "rotate the audit log before it exceeds N megabytes"),
                ("maxbackup", "keep N rotated audit logs"),
                ("maxage", "delete rotated audit logs after N days"),
            )
        ),
        option("--tracing-config-file FILE",
               "send the spans of requests by OTLP: a TracingConfiguration, as for kube-apiserver",
               default=""),
        option("--http-log FILE", "write a klog line for each request, as with --v=3; - is stdout"),
    ),
    option("--service-cluster-ip-range CIDR",
           "where services get their cluster IPs, unless etcd has a ServiceCIDR (default: 10.32.0.0/16)",
           default="10.32.0.0/16"),
    option("--disable-admission-plugins NAME[,NAME…]",
           "admission plugins to leave out: LimitRanger, ResourceQuota, ServiceAccount",
           action="append", default=[]),
    group(
        "flow control",
        *(
            option(f"--max-{name}-inflight N",
                   f"{kind} in flight; both numbers together are the seats of priority levels "
                   "(default %(default)s)", type=int, default=seats)
            for kind, name, seats in (("reads", "requests", 400), ("writes", "mutating-requests", 200))
        ),
        option("--enable-priority-and-fairness",
               "false: no priority levels; what exceeds the numbers in flight is rejected",
               choices=["true", "false"], default="true"),
    ),
    shared.SOURCE,
    shared.BEHAVIOUR,
    option("--demo", "fill the embedded etcd with a demo cluster"),
    shared.DEMO,
    option("--record FILE", "write the telemetry to FILE (gzip: .gz)"),
    shared.CONTEXT,
    shared.LOG,
    shared.PARENT,
)  # fmt: skip

LIST = (
    option("path PATH", "API path with its query, as in `kubectl get --raw`"),
    shared.JSON,
    option("--all-pages", "follow continue tokens to the end"),
    option("--repeat N", "send it N times and print the median run (with --try: 5)", type=count),
    option("--try --compare",
           "send the cheaper variants too, in alternation with the original, and compare the server's cost",
           dest="compare"),
    option("--estimate",
           "do not send it: predict its cost from the number and size of the objects (reads one of them)"),
    option("--as-client NAME", "the User-Agent to send", default=""),
    option("--save-body FILE", "write the answer here as it comes, every page of it"),
    shared.TARGET,
    shared.OTLP,
)  # fmt: skip

BENCH = (
    option("plan PLAN|FILE.toml", "a built-in plan or a file (default: %(default)s)",
           nargs="?", default="cilium-agent"),
    option("--plan PLAN|FILE.toml", "the same as an option", dest="named_plan", default=""),
    one_of(shared.JSON, option("--markdown", "a table for an issue or a README")),
    option("--repeat N",
           "send each LIST N times and take the median run (default: 3; 1 at a real kube-apiserver)",
           type=count),
    yes_or_no("--without", "also send each LIST without its selector, to compare (default: yes)", True),
    option("--agents N", "extrapolate to N such clients", type=count, default=0),
    option("--nodes M", "extrapolate to a cluster of M nodes", type=count, default=0),
    option("--node NAME", "what {node} stands for", default=""),
    option("--namespace NAME", "what {namespace} stands for", default=""),
    shared.TARGET,
)  # fmt: skip

WORKLOAD = (
    option("action", "list the workloads, or run one", choices=("list", "run")),
    option("workload NAME|FILE", "a workload, or a load profile", nargs="?", default=""),
    option("--set KNOB=VALUE",
           "change a knob; repeat for others", dest="settings", action="append", default=[]),
    option("--for TIME", "the longest that it may run: 30s, 5m (default: 60s, at most 1h)",
           dest="seconds", type=run_seconds, default=60.0),
    option("--fault KIND@T[:DURATION]",
           "disturb an etcd that ktui started, T seconds after the beginning: pause@10s:5s; "
           f"kinds: {', '.join(KINDS)}", dest="faults", type=fault, action="append", default=[]),
    option("--compare FILE.toml",
           "run two sets of knobs in turn: two files with a [knobs] table, or a knob given twice by --set",
           nargs="*"),
    shared.JSON,
    option("--stream"),  # of the dashboard
    group(
        "server of its own",
        option("--kube-version V", "Kubernetes minor to behave as", default=""),
        option("--pods N", "pods of its demo (default: 600)", type=count, default=0),
        option("--nodes N", "nodes (default: 20)", type=count, default=0),
        option("--record FILE", "write its telemetry, for `ktui --replay`"),
    ),
    shared.TARGET,
)  # fmt: skip

COMMANDS = {
    "serve": CliCommand(
        "ktui.cli.serve.run",
        "Run the API server alone: GET, LIST, WATCH and writes as kube-apiserver answers them, "
        "over an embedded etcd, a real one, or a snapshot.",
        SERVE,
        """examples:
  ktui serve --demo                                   an embedded etcd with a demo cluster
  ktui serve --etcd https://10.0.0.1:2379 --cacert ca.crt --cert c.crt --key c.key
  ktui serve --snapshot backup.db.gz --kube-version 1.30
  ktui serve --context prod --listen 127.0.0.1:6443    an etcd that the config file names
  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A

When it is ready it prints one line, `serving https://HOST:PORT`. It ends on SIGINT, SIGTERM or SIGHUP.
exit status: 0 stopped, 2 usage, 3 etcd unreachable, or the port is in use""",
    ),
    "list": CliCommand(
        "ktui.cli.list.run",
        "Send a GET or LIST to a server and print route, reason and cost as measured, next to "
        "the prediction, and cheaper variants of the request. Without a running server one is started on "
        "an embedded etcd with a demo cluster.",
        LIST,
        """examples:
  ktui list /api/v1/pods
  ktui list '/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName=node-01' --json
  ktui list '/api/v1/pods?limit=500' --all-pages
  ktui list '/api/v1/pods?fieldSelector=spec.nodeName=node-01' --try
  ktui list /api/v1/nodes --kubeconfig ~/.kube/config --context staging
  ktui list /api/v1/secrets --context prod --estimate     without sending it: one object is read

Predicted is what the routing rules give for this server's version and the current state of
its caches; a ≠ marks where the measurement says otherwise.
exit status: 0 answered, 1 the server answered an error, 2 usage, 3 no connection""",
    ),
    "bench": CliCommand(
        "ktui.cli.bench.run",
        "Send the LISTs of a plan, each with and without its selector, and print what the "
        "control plane had to process for them and what came back, most expensive first. Without a running "
        "server one is started on an embedded etcd with a demo cluster.",
        BENCH,
        """built-in plans: cilium-agent, controller-manager, helm, informer-restart, kube-proxy,
kubectl-user, kubelet. A file of your own: see docs/bench.md.

examples:
  ktui bench                                          the nine LISTs of a booting cilium-agent
  ktui bench kubelet --markdown
  ktui bench cilium-agent --agents 5000 --nodes 5000  and what that means for 5,000 of them
  ktui bench my-agent.toml --kubeconfig ~/.kube/config --repeat 1 --json

{node} and {namespace} of a plan become the server's first node and namespace.
exit status: 0 measured, 1 the server answered nothing but errors, 2 usage, 3 no connection""",
    ),
    "workload": CliCommand(
        "ktui.cli.workload.run",
        "Run client behaviours as programs at a server: agents that boot together, kubelets, "
        "informers. Each is bounded in requests and time, and ends with a summary by phase.",
        WORKLOAD,
        """examples:
  ktui workload list
  ktui workload list agent-boot                                    its knobs
  ktui workload run agent-boot --set agents=200 --for 30s
  ktui workload run agent-boot --kube-version 1.24 --set rv=unset --json
  ktui workload run profile.yaml                                   a LoadProfile of kperf: specs are phases
  ktui workload run agent-boot --set rv=0 --set rv=unset --compare  two policies in turn, and the difference

Without --attach or --kubeconfig a server is started for the run, over an etcd of its own with a demo
cluster. Figures are the server's own: they equal the differences of its /metrics.
Ctrl-C ends a run early: what was measured until then is printed.
exit status: 0 done, 1 no request was answered, 2 usage, 3 no connection, 130 ended by Ctrl-C""",
    ),
    "seed": CliCommand(
        "ktui.cli.seed.run",
        "Create a demo cluster through the server's API. What exists already is left alone. "
        "In an embedded etcd most objects are written as copies of the first ones that the server stored.",
        (
            *shared.DEMO_SIZE,
            *shared.attach(),
            option("--traffic", "keep a gentle traffic going until interrupted"),
            option("--silent", "print nothing but errors"),
            option("--progress"),  # of `serve --demo`
            shared.PARENT,  # the server, which writes its URL to standard input once it serves
        ),
        """examples:
  ktui seed --pods 20000 --nodes 500 --namespaces 40
  ktui seed --traffic                                 until interrupted

exit status: 0 done, 2 usage, 3 no connection, or the server refused an object""",
    ),
    "kubeconfig": CliCommand(
        "ktui.cli.targets.kubeconfig",
        "Print the path of a kubeconfig (mode 0600) for the running server; "
        "the newest one's if there are several.",
        (option("--attach URL", "of the server at URL, when several run"),),
        """example:
  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A

exit status: 0 printed, 2 usage, 3 no server of yours runs""",
        settings=False,
    ),
}
