"""Options that several commands share: etcd, rules, caches to warm, demo cluster, tokens, times, sizes."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.cli.output import warn
from ktui.config.errors import ConfigError

if TYPE_CHECKING:
    from ktui.config.contexts import Context
    from ktui.kube.versions import Behaviour


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
    return option_words({dest: value for dest, value in context.values.items() if dest not in _LEFT_OUT})


def context_environment(context: Context) -> dict[str, str]:
    """Return environment variables for `context_words`: the password."""
    return {"ETCDCTL_USER": context.values["user"]} if "user" in context.values else {}
