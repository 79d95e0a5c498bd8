"""The servers of commands: a ktui server (`--attach`, or the newest on this machine), or a kubeconfig's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.cli.options import context_environment, context_words, kubeconfig_connection
from ktui.cli.output import OK, ask, emit, fail, warn
from ktui.client.connection import ClientError, ServerConnection, connection_from_url
from ktui.client.running import find_by_url, find_running, write_kubeconfig
from ktui.core.format import integer, long_bytes

if TYPE_CHECKING:
    from ktui.cli.child import ServerChild
    from ktui.client.target import Target
    from ktui.config.contexts import Context
    from ktui.core.prediction.assumptions import ServerAssumptions
    from ktui.workloads.demo.plan import DemoPlan


def attached_connection(args: argparse.Namespace) -> ServerConnection | None:
    """Return the server of `--attach`, else the newest running on this machine, else None."""
    if args.attach:
        known = find_by_url(args.attach)
        if known is not None and not args.server_ca:
            return replace(known.connection, token=args.token or known.connection.token)
        return connection_from_url(args.attach, args.token, Path(args.server_ca) if args.server_ca else None)
    return next((server.connection for server in find_running()), None)


def require_connection(args: argparse.Namespace) -> ServerConnection:
    """Return the server as `attached_connection` does. Raises ClientError if there is none."""
    connection = attached_connection(args)
    if connection is None:
        raise ClientError("no ktui server runs on this machine; start one with `ktui` or `ktui serve`")
    return connection


# A demo cluster for one command: large enough to show differences, created in a few seconds.
PODS, NODES = 600, 20


def target_conflict(args: argparse.Namespace) -> str:
    """Return what is wrong with the options that choose the server; "" if nothing."""
    if args.attach and (args.kubeconfig or args.context):
        return "--attach and --kubeconfig/--context exclude each other: choose one server"
    return ""


def demo_refuses(args: argparse.Namespace, path: str) -> str:
    """Return why a demo cluster need not be started for a request to `path`; "" for another server."""
    from ktui.kube.routing.request import RequestError, parse_request  # start-up time
    from ktui.workloads.demo.cluster import API_VERSION

    if _own_context(args) is not None or args.kubeconfig or args.context or _connection(args) is not None:
        return ""
    try:
        request = parse_request(path)
    except RequestError as error:
        return str(error)
    if request.refusal is not None:
        return request.refusal.message
    if request.options.limit < 0:
        return f"limit={request.options.limit}: write a positive limit, or none"
    info = request.info
    if request.resource is None and info.group_version != API_VERSION:
        return f"the demo cluster has no {info.resource} of {info.group_version}"
    return ""


@asynccontextmanager
async def target(args: argparse.Namespace, user_agent: str) -> AsyncIterator[Target]:
    """Yield the server to send to; without one, a new server with an embedded etcd and a demo cluster."""
    from ktui.client.target import target_of  # start-up time

    context = _own_context(args)
    if context is not None:
        warn(f"starting a server over the {context.source} of context {context.name} …")
        words = context_words(context)
        async with started_server(user_agent, words, context_environment(context)) as (found, _):
            yield found
        return
    connection = _connection(args)
    if connection is not None:
        async with _open(target_of(connection, user_agent)) as found:
            yield found
        return
    async with demo_target(user_agent) as (found, _):
        yield found


@asynccontextmanager
async def demo_target(
    user_agent: str, words: Sequence[str] = (), environment: Mapping[str, str] | None = None, *,
    pods: int = 0, nodes: int = 0,
) -> AsyncIterator[tuple[Target, ServerChild]]:  # fmt: skip
    """Yield a server for this command only, with a demo cluster, and its process.

    `words` are options of `ktui serve`.
    """
    from ktui.workloads.demo.plan import DemoSize, make_plan  # start-up time

    size = DemoSize(pods=pods or PODS, nodes=nodes or NODES)
    warn(f"starting a server with a demo cluster of {integer(size.pods)} pods …")
    async with started_server(user_agent, words, environment, make_plan(size)) as started:
        yield started


@asynccontextmanager
async def started_server(
    user_agent: str, words: Sequence[str], environment: Mapping[str, str] | None = None,
    plan: DemoPlan | None = None,
) -> AsyncIterator[tuple[Target, ServerChild]]:  # fmt: skip
    """Yield a server that runs for this command only, filled by `plan`, and its process."""
    from ktui.cli.child import ServerChild  # start-up time
    from ktui.cli.seed_copies import seed_quickly
    from ktui.client.target import target_of

    child = ServerChild(words, environment)
    try:
        connection = await child.start()
        if plan is not None:
            await seed_quickly(connection, plan)
        async with _open(target_of(connection, user_agent)) as found:
            yield found, child
    finally:
        await child.stop()


def _own_context(args: argparse.Namespace) -> Context | None:
    """Return the selected context of ktui's config file; None unless a server has to be started for it."""
    chosen = args.configured.chosen
    own = chosen is not None and not chosen.context.kube and chosen.context.source in ("etcd", "snapshot")
    context: Context | None = chosen.context if own else None
    return context


@asynccontextmanager
async def _open(found: Target) -> AsyncIterator[Target]:
    try:
        yield found
    finally:
        await found.client.close()


def _connection(args: argparse.Namespace) -> ServerConnection | None:
    if not (args.kubeconfig or args.context):
        return attached_connection(args)
    connection = kubeconfig_connection(args)
    for warning in connection.warnings:
        warn(f"warning: {warning}")
    return connection


class Declined(Exception):
    """The user declined, or could not be asked; the message is one sentence."""


def confirm(question: str, *, yes: bool) -> None:
    """Return with `--yes`, or if the user types y at the terminal. Raises Declined otherwise."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Declined(f"{question}; confirm with --yes")
    ask(f"{question}. Go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was sent")


async def ask_before(target: Target, paths: Iterable[str], server: ServerAssumptions, *, yes: bool) -> None:
    """Raise Declined unless the user agrees to LISTs that are predicted to be large."""
    from ktui.client.large_lists import unbounded_lists  # start-up time

    if not target.real:
        return
    found = await unbounded_lists(target.client, list(paths), server)
    if found.large:
        what = "this LIST goes" if len(found.each) == 1 else f"these {len(found.each)} LISTs go"
        size = f"{integer(found.objects)} objects (about {long_bytes(found.bytes)} as JSON)"
        confirm(f"{what} over {size} of {target.client.connection.url}", yes=yes)


def kubeconfig(args: argparse.Namespace) -> int:
    """`ktui kubeconfig`: the path of a kubeconfig for the running server."""
    server = find_by_url(args.attach) if args.attach else next(iter(find_running()), None)
    if server is None:
        where = f"at {args.attach}" if args.attach else "on this machine"
        return fail(f"no ktui server of yours runs {where}; start one with `ktui` or `ktui serve`")
    if not server.kubeconfig.exists():
        write_kubeconfig(server.connection, server.kubeconfig)
    emit(str(server.kubeconfig))
    return OK
