"""`ktui workload`: run client behaviours as programs, and measure what they cost a control plane."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ktui import __version__
from ktui.cli import workload_text
from ktui.cli.child import ServerChild, lines_of
from ktui.cli.output import INTERRUPTED, OK, SERVER_ERROR, USAGE, emit_json, emit_json_text, fail, progress
from ktui.cli.targets import confirm, demo_target, target, target_conflict
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.client.target import Target
from ktui.documents.limits import DocumentError, parse_toml, read_toml_text
from ktui.workloads.registry import WORKLOADS, find_workload
from ktui.workloads.running import summary as summaries
from ktui.workloads.running.knobs import Knobs, WorkloadError, assign, written
from ktui.workloads.running.runner import Revive, Run
from ktui.workloads.running.workload import Workload

PROGRESS_SECONDS = 0.5


def run(args: argparse.Namespace) -> int:
    if problem := target_conflict(args):
        return fail(problem, USAGE)
    if args.action == "list":
        chosen = [find_workload(args.workload)] if args.workload else list(WORKLOADS.values())
        if args.json:
            emit_json(workload_text.described(chosen))
        elif args.workload:
            workload_text.print_knobs(chosen[0])
        else:
            workload_text.print_list(chosen)
        return OK
    if not args.workload:
        raise WorkloadError("name a workload: `ktui workload list` shows them")
    workload = find_workload(args.workload)
    run = asyncio.run(_go(args, workload, variants_of(workload, args.settings, args.compare)))
    summary = summaries.summary_of(run)
    if args.stream:
        _emit_line(summaries.Finished(summary))
    elif args.json:
        emit_json(summary)
    else:
        workload_text.print_summary(summary)
    if run.ended == "stopped" and not args.stream:
        return INTERRUPTED
    return OK if any(variant["total"]["requests"] for variant in summary["variants"]) else SERVER_ERROR


async def _go(args: argparse.Namespace, workload: Workload, variants: list[Knobs]) -> Run:
    killed = any(fault.kind == "kill" for _, fault in args.faults)
    killed |= any("restart" in knobs.values().values() for knobs in variants)
    async with load_target(args, killed=killed) as found, AsyncExitStack() as stack:
        if args.attach or args.kubeconfig or args.context:  # a server that this command did not start
            url, writes = found.target.client.connection.url, " and writes objects" if workload.writes else ""
            question = f"{workload.name} puts load on {url} for up to {args.seconds:.0f} s{writes}"
            confirm(question, yes=args.yes)
        replica = await stack.enter_async_context(replica_of(found.target)) if workload.replica else None
        run = Run(
            workload, variants, found.target.client, real=found.target.real, faults=args.faults,
            revive=found.revive, replica=replica,
        )  # fmt: skip
        if args.stream:
            await run.go(args.seconds, lambda: _stream(run))
            return run
        shown = sys.stderr.isatty() and not args.json
        with _stops_at_ctrl_c(run):
            await run.go(args.seconds, (lambda: _show(run)) if shown else None)
        if shown:
            progress("")
        return run


@contextmanager
def _stops_at_ctrl_c(run: Run) -> Iterator[None]:
    """While the block runs, the first Ctrl-C ends the run, with its summary; a second one ends ktui."""
    loop = asyncio.get_running_loop()

    def press() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        progress("stopping: the server ends its requests (Ctrl-C again: without a summary)")
        run.stop()

    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def _stream(run: Run) -> None:
    """Print lines of JSON for the dashboard each second, and follow its commands on standard input."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def refuse(message: str) -> None:
        _emit_line(summaries.Refused(message))

    commands = asyncio.create_task(summaries.follow_commands(run, lines_of(reader), refuse))
    try:
        while True:
            await asyncio.sleep(summaries.SECOND)
            _emit_line(summaries.live_second(run, time.time()))
            _emit_line(summaries.live_tables(run))
    finally:
        commands.cancel()


def _emit_line(line: summaries.Line) -> None:
    emit_json_text(summaries.encoded(line), flush=True)


async def _show(run: Run) -> None:
    """Show the progress. It is polled, since it changes hundreds of times a second."""
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        context = run.current.context
        if context is not None:
            name = f"{run.current.name} " if run.current.name else ""
            progress(f"{run.workload.name} {name}· {context.phase} · {context.now}"[:100])


def variants_of(workload: Workload, settings: Sequence[str], compare: Sequence[str] | None) -> list[Knobs]:
    """Return one set of knobs, or two with `--compare`. Raises WorkloadError."""
    known = workload.settings()
    if compare is None:
        assign(known, settings)
        return [known]
    if compare and len(compare) != 2:
        raise WorkloadError(f"--compare takes two files, or none with a knob given twice; not {len(compare)}")
    if compare:
        return [_from_file(workload, settings, name) for name in compare]
    names = [known.find(word.partition("=")[0].strip()).name for word in settings]
    if max(map(names.count, names), default=0) != 2:
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
    except (OSError, DocumentError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise WorkloadError(f"cannot read {name}: {why}") from error
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
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            words += [f"--data-dir={folder}/etcd", f"--listen=127.0.0.1:{free.getsockname()[1]}"]
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
    info = None if found.real else await KtuiApi(found.client).info()
    if info is None or info.etcd_kind != "embedded":
        yield None
        return
    child = ServerChild([f"--etcd={info.endpoints[0]}", f"--kube-version={info.kube_version}"])
    try:
        yield await child.start()
    finally:
        await child.stop()
