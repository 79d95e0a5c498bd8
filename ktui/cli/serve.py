"""`ktui serve`: run the API server alone."""

from __future__ import annotations

import argparse
import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress

from ktui.apiserver.http.listener import PortInUse
from ktui.apiserver.http.open_files import file_limit, most_connections, raise_file_limit
from ktui.cli.child import die_with_parent
from ktui.cli.crash import keep_quiet
from ktui.cli.logs import hide, log_of, report_log_problem, start_log
from ktui.cli.output import NO_CONNECTION, OK, USAGE, emit, fail, warn
from ktui.cli.server.composition import Composition
from ktui.cli.server.runtime import freeze_heap, shorten_thread_switches
from ktui.cli.server.serve_config import ServeConfig
from ktui.contract.recording import RecordingError
from ktui.etcd.errors import EtcdError

log = log_of(__name__)

FEW_CONNECTIONS = 10_000


def run(args: argparse.Namespace) -> int:
    shorten_thread_switches()
    raise_file_limit()
    if args.parent:
        die_with_parent(args.parent)
    try:
        start_log(args, "serve")
        config = ServeConfig.from_arguments(args)
    except ValueError as error:
        return fail(str(error), USAGE)
    keep_quiet()
    if args.max_connections is None and most_connections(file_limit()) < FEW_CONNECTIONS:
        few = f"at most {config.most_connections:,} connections at once"
        warn(f"warning: {few}, as only {file_limit():,} open files are allowed: see ulimit -n")
    new_loop: Callable[[], AbstractEventLoop] | None = None
    with suppress(ImportError):
        from uvloop import new_event_loop as new_loop  # start-up time
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(_serve(config))
    finally:
        report_log_problem()


async def _serve(config: ServeConfig) -> int:
    composition = Composition(config)
    hide(config.token or "", *config.users)
    try:
        await composition.start()
        freeze_heap()
        log.info("serving %s as Kubernetes %s", composition.url, config.behaviour.version)
        emit(f"serving {composition.url}", flush=True)
        await composition.until_stopped()
    except (EtcdError, PortInUse, RecordingError) as error:
        log.error("%s", error)
        return fail(str(error).removesuffix("."), NO_CONNECTION)
    finally:
        await composition.stop()
        log.info("stopped")
    return OK
