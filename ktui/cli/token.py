"""The bearer token of a command: `--token`, or `--token-file`, which only its owner can read."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Container
from pathlib import Path

from ktui.cli.output import warn
from ktui.config.errors import ConfigError

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
