"""The server that a workload runs against: a new one, or one that the user names and confirms."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from ktui import __version__
from ktui.cli.confirm import confirm
from ktui.cli.targets import demo_target, target
from ktui.workloads.running.knobs import WorkloadError

if TYPE_CHECKING:
    from ktui.client.connection import ServerConnection
    from ktui.client.target import Target
    from ktui.workloads.running.runner import Revive
    from ktui.workloads.running.workload import Workload

EMBEDDED_ONLY = ("kube_version", "pods", "nodes", "record")


class LoadTarget(NamedTuple):
    """The server of a run. `revive` restarts it after some seconds; None if the run may not kill it."""

    target: Target
    revive: Revive | None = None


@asynccontextmanager
async def load_target(args: argparse.Namespace, *, killed: bool = False) -> AsyncIterator[LoadTarget]:
    """Yield the server for the run: a named one or a new one, never just any that runs on this machine.

    `killed`: the run kills the server, which then has to restart with its address, token and data.
    """
    if args.attach or args.kubeconfig or args.context:
        if given := [name for name in EMBEDDED_ONLY if getattr(args, name)]:
            option = given[0].replace("_", "-")
            raise WorkloadError(f"--{option} is for a server of the run's own: leave out --attach")
        async with target(args, f"ktui/{__version__}") as found:
            yield LoadTarget(found)
        return
    words = [f"--kube-version={args.kube_version}"] if args.kube_version else []
    words += [f"--record={args.record}"] if args.record else []
    agent = f"ktui/{__version__}"
    if not killed:
        async with demo_target(agent, words, pods=args.pods, nodes=args.nodes) as (found, _):
            yield LoadTarget(found)
        return
    with tempfile.TemporaryDirectory(prefix="ktui-workload-") as folder:
        words += [f"--data-dir={folder}/etcd", f"--listen=127.0.0.1:{_free_port()}"]
        environment = {"KTUI_TOKEN": secrets.token_urlsafe(16)}
        async with demo_target(agent, words, environment, pods=args.pods, nodes=args.nodes) as (found, child):

            async def revive(seconds: float) -> None:
                await child.wait()
                await asyncio.sleep(seconds)
                await child.start()

            yield LoadTarget(found, revive)


@asynccontextmanager
async def replica_of(found: Target) -> AsyncIterator[ServerConnection | None]:
    """Yield a second, read-only server over the same etcd; None unless ktui started that etcd."""
    from ktui.cli.child import ServerChild  # start-up time
    from ktui.client.ktui_api import KtuiApi

    info = None if found.real else await KtuiApi(found.client).info()
    if info is None or info.etcd_kind != "embedded":
        yield None
        return
    child = ServerChild([f"--etcd={info.endpoints[0]}", f"--kube-version={info.kube_version}"])
    try:
        yield await child.start()
    finally:
        await child.stop()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def ask_before_load(found: Target, workload: Workload, args: argparse.Namespace) -> None:
    """Ask before load on a server that this command did not start. Raises Declined."""
    if not (args.attach or args.kubeconfig or args.context):
        return
    writes = " and writes objects" if workload.writes else ""
    question = (
        f"{workload.name} puts load on {found.client.connection.url} for up to {args.seconds:.0f} s{writes}"
    )
    confirm(question, yes=args.yes)
