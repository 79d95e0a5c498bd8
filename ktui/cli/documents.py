"""Commands that print a document for another program: rbac, rules, tracing-config."""

from __future__ import annotations

import argparse

import yaml

from ktui import __version__
from ktui.cli.output import OK, USAGE, emit, emit_json, fail
from ktui.cli.usage.live import MILLION, OLDEST_MINOR, PLATFORMS
from ktui.kube.versions import behaviour_of
from ktui.live.access import binding_document, role_document
from ktui.live.alert_documents import dashboard, prometheus_rule, rule_groups, yaml_text
from ktui.live.alerts import PromQueries, alert_rules, left_out


def rbac(args: argparse.Namespace) -> int:
    """`ktui rbac`: the ClusterRole that `ktui observe` and `ktui --kubeconfig` need."""
    namespace, colon, name = args.service_account.partition(":")
    if args.service_account and not (namespace and colon and name):
        return fail(f"{args.service_account!r} is not a service account: write NAMESPACE:NAME", USAGE)
    documents = [role_document()]
    if args.user or args.group or args.service_account:
        documents.append(binding_document(args.user, args.group, args.service_account))
    if args.json:
        emit_json({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2)
        return OK
    emit(yaml.safe_dump_all(documents, sort_keys=False).rstrip("\n"))
    return OK


def rules(args: argparse.Namespace) -> int:
    """`ktui rules`: alert rules and a dashboard for what `ktui observe` finds."""
    minor = behaviour_of(args.kube_version).minor
    if minor < OLDEST_MINOR:
        return fail(f"metrics are known from Kubernetes 1.{OLDEST_MINOR} on, not of 1.{minor}", USAGE)
    queries = PromQueries(minor, args.selector)
    alerts = alert_rules(queries)
    remarks = [f"Made by ktui {__version__} for Kubernetes 1.{minor}.", *left_out(minor)]
    if args.format == "dashboard":
        emit_json(dashboard(alerts, queries, remarks), indent=2)
        return OK
    document = rule_groups(alerts) if args.format == "groups" else prometheus_rule(alerts)
    emit(yaml_text(document, remarks).removesuffix("\n"))
    return OK


_FILE = "/etc/kubernetes/tracing.yaml"

_STEPS = {
    "kubeadm": """# kubeadm, on each control-plane node: save the configuration above as {file}, then in
# /etc/kubernetes/manifests/kube-apiserver.yaml (the kubelet restarts the apiserver):
#   spec.containers[0].command:      - --tracing-config-file={file}
#   spec.containers[0].volumeMounts: - {{name: tracing, mountPath: {file}, readOnly: true}}
#   spec.volumes:                    - {{name: tracing, hostPath: {{path: {file}, type: File}}}}
# The apiserver is in the host's network: 127.0.0.1 is the node. From your machine:
#   ssh -N -R {port}:127.0.0.1:{port} NODE        # the node's port leads to ktui""",
    "k3s": """# k3s: save the configuration above as {file}, add to /etc/rancher/k3s/config.yaml, restart k3s:
#   kube-apiserver-arg: ["tracing-config-file={file}"]""",
    "kind": """# kind: save the configuration above as tracing.yaml beside this cluster.yaml, and `kind create
# cluster --config cluster.yaml`. The endpoint is the host as the node sees it (docker's bridge: 172.18.0.1),
# and ktui listens there: `ktui --otlp 172.18.0.1:{port}`.
#   kind: Cluster
#   apiVersion: kind.x-k8s.io/v1alpha4
#   nodes:
#   - role: control-plane
#     extraMounts: [{{hostPath: ./tracing.yaml, containerPath: {file}}}]
#     kubeadmConfigPatches:
#     - |
#       kind: ClusterConfiguration
#       apiServer:
#         extraArgs: {{tracing-config-file: {file}}}        # kubeadm v1beta4: a list of name and value
#         extraVolumes: [{{name: tracing, hostPath: {file}, mountPath: {file}, pathType: File}}]""",
    "openshift": """# OpenShift: the operator owns the apiserver's flags. For a test, an unsupported override:
#   oc edit kubeapiserver cluster
#     spec: {{unsupportedConfigOverrides: {{apiServerArguments: {{tracing-config-file: ["{file}"]}}}}}}
# The file has to be on each control-plane node, below /etc/kubernetes/static-pod-resources.""",
}  # fmt: skip

_COLLECTOR = """# An OpenTelemetry collector keeps an existing backend and sends ktui a copy:
#   receivers: {{otlp: {{protocols: {{grpc: {{endpoint: 0.0.0.0:4317}}}}}}}}
#   exporters:
#     otlp/backend: {{endpoint: tempo:4317, tls: {{insecure: true}}}}
#     otlp/ktui: {{endpoint: {endpoint}, tls: {{insecure: true}}, sending_queue: {{queue_size: 100}}}}
#   service: {{pipelines: {{traces: {{receivers: [otlp], exporters: [otlp/backend, otlp/ktui]}}}}}}
# Without a connection to ktui: `exporters: {{file: {{path: spans.jsonl}}}}`, and `ktui audit spans.jsonl`."""


def tracing_config(args: argparse.Namespace) -> int:
    """`ktui tracing-config`: what a kube-apiserver needs to send its traces to ktui."""
    host, _, port = args.endpoint.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        return fail(f"{args.endpoint!r} is not HOST:PORT", USAGE)
    if not 0 <= args.sampling <= MILLION:
        return fail(f"--sampling is a number of requests per million: 0 to {MILLION}", USAGE)
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1beta1",
        "kind": "TracingConfiguration",
        "endpoint": args.endpoint,
        "samplingRatePerMillion": args.sampling,
    }
    if args.json:
        emit_json(document, indent=2)
        return OK
    text = "\n".join(f"{name}: {value}" for name, value in document.items())
    if args.yaml:
        emit(text)
        return OK
    values = {"file": _FILE, "endpoint": args.endpoint, "port": port}
    steps = [_STEPS[name].format(**values) for name in (args.platform and [args.platform]) or PLATFORMS]
    emit("\n\n".join([_head(args.sampling), text, *steps, _COLLECTOR.format(**values), _cost(args.sampling)]))
    return OK


def _head(sampling: int) -> str:
    return (
        f"# {_FILE}, for kube-apiserver --tracing-config-file (1.27 and later; up to 1.26\n"
        "# with v1alpha1 and --feature-gates=APIServerTracing=true).\n"
        f"# {_rate(sampling)}\n"
        "# Then: ktui --otlp      or: ktui observe --otlp --for 1m"
    )


def _rate(sampling: int) -> str:
    if not sampling:
        return "Sampling: only requests whose caller sends a sampled traceparent."
    if sampling == MILLION:
        return "Sampling: every request."
    times = f"{round(MILLION / sampling):,}"
    return f"Sampling: one request of {times}; `ktui audit --sampling {sampling}` counts it as {times}."


def _cost(sampling: int) -> str:
    share = sampling / MILLION
    rate = f"{10_000 * share:,.0f} spans/s, {3 * share:,.2f} MB/s"
    return (
        "# What it costs: some 10 spans and 3 KB per request, in batches every 5 s. At 1,000 requests/s\n"
        f"# this rate sends {rate}. The apiserver drops spans beyond its queue of 2,048, which\n"
        "# leaves requests of unknown route. In busy clusters begin with --sampling 10000 (one of 100).\n"
        "# The sampled traceparent of a caller counts only from system:masters and system:monitoring (1.33\n"
        "# and later); before, none does."
    )
