"""The server that a workload runs against: a new one, or one that the user names and confirms."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ktui import __version__
from ktui.cli.targets import confirm, demo_target, target
from ktui.client.connection import ServerConnection
from ktui.documents.limits import DocumentError, parse_toml, read_toml_text
from ktui.workloads.running.knobs import Knobs, WorkloadError, assign, written
from ktui.workloads.running.workload import Workload

if TYPE_CHECKING:
    from ktui.client.target import Target
    from ktui.workloads.running.runner import Revive


def variants_of(workload: Workload, settings: Sequence[str], compare: Sequence[str] | None) -> list[Knobs]:
    """Return one set of knobs, or two with `--compare`. Raises WorkloadError."""
    if compare is None:
        knobs = workload.settings()
        assign(knobs, settings)
        return [knobs]
    if compare:
        if len(compare) != 2:
            raise WorkloadError(
                f"--compare takes two files, or none with a knob given twice; not {len(compare)}"
            )
        return [_from_file(workload, settings, name) for name in compare]
    return _from_repeated_knobs(workload, settings)


def _from_repeated_knobs(workload: Workload, settings: Sequence[str]) -> list[Knobs]:
    known = workload.settings()
    names = [known.find(word.partition("=")[0].strip()).name for word in settings]
    if not any(names.count(name) == 2 for name in names) or any(names.count(name) > 2 for name in names):
        raise WorkloadError("--compare without files needs a knob given twice: --set rv=0 --set rv=unset")
    sides = []
    for side in (0, 1):
        knobs = workload.settings()
        for name in dict.fromkeys(names):
            given = [word for word, of in zip(settings, names, strict=True) if of == name]
            assign(knobs, [given[min(side, len(given) - 1)]])
        sides.append(knobs)
    return sides


def _from_file(workload: Workload, settings: Sequence[str], name: str) -> Knobs:
    """Return the `[knobs]` of a TOML file; `--set` takes precedence, in both files. Raises WorkloadError."""
    path = Path(name).expanduser()
    try:
        document: dict[str, Any] = parse_toml(read_toml_text(path))
    except OSError as error:
        raise WorkloadError(f"cannot read {name}: {error.strerror}") from error
    except DocumentError as error:
        raise WorkloadError(f"cannot read {name}: {error}") from error
    values = document.get("knobs")
    if not isinstance(values, dict):
        raise WorkloadError(f"{name} has no [knobs] table")
    knobs = workload.settings()
    for knob, value in values.items():
        if not isinstance(value, str | int | float | bool):
            raise WorkloadError(f"{name}: {knob} is not a text, a number or a boolean")
        knobs.set(knob, written(value))
    assign(knobs, settings)
    return knobs


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
