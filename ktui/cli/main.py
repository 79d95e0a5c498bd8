"""`ktui`: the dashboard, or one of the commands. Imports only what the chosen command needs."""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence

from ktui import __version__
from ktui.cli.effective_options import Parser, parse
from ktui.cli.output import FAILED, INTERRUPTED, OK, USAGE, emit, fail, status_of
from ktui.cli.usage.describe import CONFIG, CliCommand, add_all
from ktui.config.settings import DASHBOARD

# Command: (module of `ktui.cli.usage` that describes it, one line about it).
COMMANDS = {
    "serve": ("servers", "run the API server alone, over an embedded or a real etcd"),
    "list": ("servers", "send a GET or LIST and print route, reason and cost"),
    "bench": ("servers", "measure the LISTs of a client, with and without their selectors"),
    "workload": ("servers", "run client behaviours (agents that boot together, kubelets, …)"),
    "observe": ("live", "report where a real kube-apiserver serves its LISTs from"),
    "record": ("live", "record a live kube-apiserver for days, to replay the worst moment"),
    "rules": ("live", "print alert rules and a dashboard for what observe finds"),
    "rbac": ("live", "print a read-only ClusterRole for observing a kube-apiserver"),
    "tracing-config": ("live", "print what an apiserver needs to send its traces"),
    "explain": ("offline", "say where a request is served from, and why, without any etcd"),
    "audit": ("offline", "rank the requests in an apiserver's logs by what they cost"),
    "decode": ("offline", "print values stored in etcd as the JSON that kube-apiserver serves"),
    "ci": ("offline", "run a command, and judge its requests by budgets"),
    "kubeconfig": ("servers", "print the path of a kubeconfig for the running server"),
    "seed": ("servers", "fill the running server with a demo cluster of any size"),
    "recording": ("offline", "inspect, cut or anonymise a recording"),
    "web": ("dashboard", "the dashboard in a browser, on this machine only"),
    "info": ("dashboard", "print where everything is, and each setting with its source"),
    "mcp": ("live", "tools for agents: explain, estimate, rank, findings (MCP over stdio)"),
    "completion": ("offline", "print a completion script for bash, zsh or fish"),
}

# The disk, a quota, or the shell's limit (`ulimit -f`).
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

EPILOG = (
    "commands:\n"
    + "\n".join(f"  {name:<16}{text}" for name, (_, text) in COMMANDS.items())
    + """

examples:
  ktui                                        an embedded etcd with a demo cluster
  ktui --etcd https://10.0.0.1:2379 --cacert ca.crt --cert client.crt --key client.key
  ktui --snapshot backup.db.gz                last night's etcd snapshot, in a throwaway etcd
  ktui --record incident.ndjson.gz            same, recorded to a file
  ktui --replay incident.ndjson.gz            what `--record` wrote, as the same screens
  ktui record --context prod /var/lib/ktui    for days, in segments; `ktui --replay` opens the worst moment
  ktui --context prod                         a cluster that the config file names
  ktui explain '/api/v1/pods?limit=500&resourceVersion=0' --kube-version all
  ktui list '/api/v1/pods?fieldSelector=spec.nodeName=node-01' --try
  ktui audit audit.log --screen               who asks a real apiserver for what, and at what cost
  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A

`ktui COMMAND --help` explains each command."""
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 the server answered an error or the work
    could not be finished, 2 usage, 3 no connection, 70 crashed, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # a full disk is reported now, not by the interpreter when it ends
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `ktui list … | head`: the reader closed the pipe
        _discard_output()
        return OK
    except Exception as error:  # the one place for errors that end a command
        if status := status_of(error):
            return fail(str(error), status)
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            _discard_output()
            return fail(f"cannot write {error.filename or 'the output'}: {error.strerror}", FAILED)
        from ktui.cli.crash import report  # start-up time

        return report(error)


def _discard_output() -> None:
    """Redirect standard output to /dev/null: at exit, the interpreter writes the rest again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("--version", "-V"):
        emit(f"ktui {__version__}")
        return 0
    if arguments and not (word := arguments[0]).startswith("-") and word not in COMMANDS:
        import difflib  # start-up time

        close = difflib.get_close_matches(word, COMMANDS, n=1)
        hint = f"did you mean `ktui {close[0]}`?" if close else f"commands: {', '.join(COMMANDS)}"
        return fail(f"there is no command {word!r}; {hint}", USAGE)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else ""
    args = parse(parser_of(name), arguments, name or DASHBOARD)
    if name:  # the dashboard does so after its first frame
        gc.enable()
    return command_of(name).run(args)


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command; "" is the dashboard."""
    if not name:
        return dashboard_parser()
    return command_of(name).add_to(Parser(prog="ktui").add_subparsers(), name, COMMANDS[name][1])


def dashboard_parser() -> argparse.ArgumentParser:
    """Return the parser of `ktui` without a command."""
    dashboard = command_of("")
    parser = Parser(prog="ktui", description=dashboard.description, epilog=EPILOG)
    parser.add_argument("-V", "--version", action="version", version=f"ktui {__version__}")
    add_all(parser, (*dashboard.parts, CONFIG))
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """Return the dashboard's parser with all commands as subparsers, for completions and the manual."""
    parser = dashboard_parser()
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (_, about) in COMMANDS.items():
        command_of(name).add_to(subparsers, name, about)
    return parser


def command_of(name: str) -> CliCommand:
    """Return the description of a command; "" is the dashboard."""
    family = importlib.import_module(f"ktui.cli.usage.{COMMANDS[name][0] if name else 'dashboard'}")
    command: CliCommand = family.COMMANDS[name]
    return command
