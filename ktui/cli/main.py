"""`ktui`: the dashboard, or one of the commands. Imports only what the chosen command needs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from ktui import __version__
from ktui.cli.exits import USAGE, fail

# name: (module, what it does in one line). The modules are imported when asked for.
COMMANDS = {
    "serve": ("ktui.cli.serve", "run the API server alone, over an embedded or a real etcd"),
    "list": ("ktui.cli.list", "fire a GET or LIST and print route, reason and cost"),
    "bench": ("ktui.cli.bench", "measure the LISTs of a client, with and without their selectors"),
    "explain": ("ktui.cli.explain", "say where a request is served from, and why, without any etcd"),
    "audit": ("ktui.cli.audit", "rank the requests in an apiserver's logs by what they cost"),
    "decode": ("ktui.cli.decode", "print values stored in etcd as the JSON that kube-apiserver serves"),
    "kubeconfig": ("ktui.cli.kubeconfig", "print the path of a kubeconfig for the running server"),
    "seed": ("ktui.cli.seed", "fill the running server with a demo cluster of any size"),
}

EPILOG = (
    "commands:\n"
    + "\n".join(f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    + """

examples:
  ktui                                        an embedded etcd with a demo cluster
  ktui --etcd https://10.0.0.1:2379 --cacert ca.crt --cert client.crt --key client.key
  ktui --snapshot backup.db.gz                last night's etcd snapshot, in a throwaway etcd
  ktui --replay incident.ndjson               what `--record` wrote, as the same screens
  ktui explain '/api/v1/pods?limit=500&resourceVersion=0' --kube-version all
  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A

`ktui COMMAND --help` tells more of each command."""
)


class Command(Protocol):
    """What each command's module offers."""

    def add_parser(self, subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (0 done, 1 the server answered an
    error, 2 usage, 3 no connection)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `ktui list … | head`: the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return _run_command(arguments)
    if arguments and arguments[0] in ("--version", "-V"):
        print(f"ktui {__version__}")
        return 0
    if arguments and not arguments[0].startswith("-"):
        return _unknown_command(arguments[0])
    from ktui.cli import dashboard

    parser = argparse.ArgumentParser(
        prog="ktui",
        description="Explore the read path of a Kubernetes control plane: was this request served from "
        "the watch cache or from etcd, why, and what did it cost?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"ktui {__version__}")
    dashboard.add_arguments(parser)
    return dashboard.run(parser.parse_args(arguments))


def _run_command(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="ktui")
    subparsers = parser.add_subparsers(dest="command", required=True)
    module = cast(Command, importlib.import_module(COMMANDS[arguments[0]][0]))
    module.add_parser(subparsers)
    return module.run(parser.parse_args(arguments))


def _unknown_command(word: str) -> int:
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean `ktui {close[0]}`?" if close else f"commands: {', '.join(COMMANDS)}"
    return fail(f"there is no command {word!r}; {hint}", USAGE)
