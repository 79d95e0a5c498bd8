"""`ktui web`: serve the dashboard to a browser on this machine."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import socket

from ktui import install_command
from ktui.apiserver.http.loopback import is_loopback
from ktui.cli import dashboard
from ktui.cli.crash import keep_quiet
from ktui.cli.output import NO_CONNECTION, OK, USAGE, fail


def run(args: argparse.Namespace) -> int:
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if (status := dashboard.check(args)) != OK:
        return status
    try:
        import ktui.cli.web_server  # start-up time
    except ImportError:
        return fail(f"`ktui web` needs textual-serve: {install_command('web')}", USAGE)
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    try:
        listening = socket.create_server((args.host, args.port), family=family)
    except OSError as error:
        return fail(f"cannot listen on {args.host}:{args.port}: {error.strerror}", NO_CONNECTION)
    keep_quiet()
    with listening:
        return asyncio.run(ktui.cli.web_server.serve(args, listening, secrets.token_urlsafe(24)))


def _misuse(args: argparse.Namespace) -> str:
    if not is_loopback(args.host):
        port = args.port or 8000
        return (
            f"--host {args.host} is not a loopback address, and a page of `ktui web` is as good as your "
            f"terminal; from another machine go through `ssh -L {port}:127.0.0.1:{port}`"
        )
    if not 0 <= args.port <= 65535:
        return f"--port {args.port} is not a port: use 1 to 65535, or 0 for a free one"
    if args.record and (args.attach or args.replay):
        return (
            "--record writes down the server that `ktui web` starts itself: leave out --attach and --replay"
        )
    if args.screenshot:
        return "--screenshot needs no browser: `ktui --screenshot FILE.svg`"
    return ""
