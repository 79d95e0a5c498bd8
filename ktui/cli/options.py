"""Options that several commands share: tokens, rules, options of `ktui serve`, sources of live figures."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ktui.cli.output import warn
from ktui.config.errors import ConfigError

if TYPE_CHECKING:
    from ktui.client.kube_connection import KubeConnection
    from ktui.config.contexts import Context
    from ktui.kube.versions import Behaviour
    from ktui.live.prometheus import PrometheusConnection
    from ktui.live.server_details import LiveFeed
    from ktui.traces.receiver import OtlpReceiver


MAX_BYTES = 64 * 1024


def take_token(args: argparse.Namespace, given: Container[str]) -> None:
    """Set `args.token` from `--token-file`; warn if `--token` is among the `given` options.

    Options take precedence over tokens in the config file. Raises ConfigError.
    """
    if "token" in given and args.token_file:
        raise ConfigError("--token and --token-file exclude each other: leave out --token")
    if "token" in given:
        warn("warning: every user of this machine can read --token (ps): use --token-file or KTUI_TOKEN")
    elif args.token_file:
        args.token = read_token(Path(args.token_file).expanduser())


def read_token(path: Path) -> str:
    """Return the token in a file. Raises ConfigError if others can read the file, or it is empty."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read --token-file {path}: {error.strerror}") from error
    if mode & 0o077:
        raise ConfigError(f"--token-file {path} has mode {mode:04o}, others can use it: chmod 600 {path}")
    try:
        token = content.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not token or len(content) > MAX_BYTES or not token.isprintable() or " " in token:
        raise ConfigError(f"--token-file {path} does not hold a token: one line of letters, digits and signs")
    return token


def supports_progress(args: argparse.Namespace) -> bool:
    """Return whether that etcd supports progress requests. Raises ConfigError for an invalid version."""
    from ktui.kube.routing.cache_state import etcd_supports_progress, is_etcd_version  # start-up time

    version: str | None = args.etcd_version
    if version is None:
        return True
    if not is_etcd_version(version):
        raise ConfigError(f"{version!r} is not an etcd version: write it like 3.5.13")
    return etcd_supports_progress(version)


def behaviour_from(args: argparse.Namespace) -> Behaviour:
    """Return the rules of `--kube-version` with `--feature-gates`. Raises BehaviourError."""
    from ktui.kube.versions import behaviour_of, parse_gates  # start-up time

    return behaviour_of(args.kube_version, parse_gates(args.feature_gates))


_PASSED_ON = (
    "etcd", "snapshot", "cacert", "cert", "key", "server_name", "etcd_prefix", "etcd_binary", "data_dir",
    "kube_version", "feature_gates", "warm", "pods", "nodes", "namespaces", "seed", "log_file", "log_level",
    "log_format", "allow_writes", "quiet", "watch_cache", "assume_watch_progress", "check_consistency",
)  # fmt: skip
_LEFT_OUT = ("user", "theme")  # of a context: a secret, and no option of `ktui serve`
_ONLY_ON = ("allow_writes", "quiet")  # flags without a form that switches them off


def option_words(values: Mapping[str, object]) -> list[str]:
    """Return options by attribute as arguments; None and "" are left out."""
    words: list[str] = []
    for dest, value in values.items():
        flag = dest.replace("_", "-")
        if isinstance(value, bool):
            words += [f"--{flag}"] if value else [] if dest in _ONLY_ON else [f"--no-{flag}"]
        elif value not in (None, ""):
            words.append(f"--{flag}={value}")
    return words


def passed_on(args: argparse.Namespace) -> list[str]:
    """Return the shared options as arguments for the dashboard's `ktui serve`, without secrets."""
    return option_words({name: getattr(args, name) for name in _PASSED_ON})


def secrets_environment(args: argparse.Namespace) -> dict[str, str]:
    """Return environment variables for that server: every user of the machine can read its command line."""
    return {"ETCDCTL_USER": args.user} if args.user else {}


def context_words(context: Context) -> list[str]:
    """Return a context's etcd or snapshot as arguments for `ktui serve`, without the password."""
    return option_words({dest: value for dest, value in context.values.items() if dest not in _LEFT_OUT})


def context_environment(context: Context) -> dict[str, str]:
    """Return environment variables for `context_words`: the password."""
    return {"ETCDCTL_USER": context.values["user"]} if "user" in context.values else {}


# Sources of live figures: a kube-apiserver of a kubeconfig, a Prometheus, traces (`--otlp`).


def kubeconfig_connection(args: argparse.Namespace) -> KubeConnection:
    """Return the connection of `--kubeconfig` and `--context`. Raises ClientError."""
    from ktui.client.kubeconfig_reader import kubeconfig_files, read_kubeconfig  # start-up time

    files = kubeconfig_files(args.kubeconfig)
    return read_kubeconfig(files, args.context, terminal=sys.stdin.isatty(), announce=warn)


def metrics_feed(args: argparse.Namespace, history: float, user_agent: str) -> LiveFeed:
    """Return the metrics of `--prometheus` with `history` seconds of its past, else of `--kubeconfig`.

    Sends nothing yet. Raises ClientError for an address that is none.
    """
    if args.prometheus:
        from ktui.live.prometheus import PrometheusFeed  # start-up time

        connection = prometheus_connection(args)
        return PrometheusFeed(connection, history, interval=args.interval, user_agent=user_agent)
    from ktui.live.scraper import Scraper  # start-up time

    return Scraper(lambda: kubeconfig_connection(args), args.interval, user_agent=user_agent)


def prometheus_connection(args: argparse.Namespace) -> PrometheusConnection:
    """Return the connection to the Prometheus of `--prometheus`. Raises ClientError."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.live.prometheus import PrometheusConnection

    url: str = args.prometheus
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise ClientError(f"{url!r} is not the address of a Prometheus: write it like https://host:9090")
    name, _, password = _secret(args, "user").partition(":")
    header, colon, value = _secret(args, "header").partition(":")
    return PrometheusConnection(
        url=url.rstrip("/"), context=parts.hostname, token=_secret(args, "token"), username=name,
        password=password, extra_headers={header.strip(): value.strip()} if colon else {},
    )  # fmt: skip


def _secret(args: argparse.Namespace, name: str) -> str:
    """Return a secret from the environment, else from the context; command lines are public on a machine."""
    chosen = args.configured.chosen
    written = chosen.context.values.get(f"prometheus_{name}", "") if chosen is not None else ""
    return os.environ.get(f"KTUI_PROMETHEUS_{name.upper()}", "") or str(written)


def listen(args: argparse.Namespace) -> OtlpReceiver:
    """Return a receiver at the address of `--otlp`. Raises ClientError, ConfigError."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.traces.receiver import OtlpReceiver, is_loopback, parse_address

    try:
        host, grpc_port, http_port = parse_address(args.otlp)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if not is_loopback(host):
        warn(f"warning: everyone who reaches {host} can send spans: OTLP has no credentials here")
    receiver = OtlpReceiver(host, grpc_port, http_port)
    try:
        receiver.start()
    except OSError as error:
        raise ClientError(f"cannot listen for OTLP on {error.filename}: {error.strerror}") from None
    return receiver
