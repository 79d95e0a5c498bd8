"""`ktui` without a command: the dashboard, and the server it starts for itself."""

from __future__ import annotations

import argparse
import signal
from typing import TYPE_CHECKING

from ktui.cli.exits import NO_CONNECTION, OK, USAGE, fail
from ktui.cli.options import (
    add_behaviour_arguments,
    add_demo_arguments,
    add_source_arguments,
    passed_on,
    secrets_environment,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ktui.cli.child import ServerChild
    from ktui.tui.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    view = parser.add_argument_group("dashboard")
    view.add_argument("--attach", metavar="URL", help="watch a server that runs already")
    view.add_argument("--token", metavar="T", default="", help="its bearer token (default: KTUI_TOKEN)")
    view.add_argument("--server-ca", metavar="FILE", help="CA of that server's certificate")
    view.add_argument("--replay", metavar="FILE", help="play a recording as the same screens")
    view.add_argument("--speed", type=float, default=1.0, metavar="X", help="pace of a replay (default 1)")
    view.add_argument("--record", metavar="FILE", help="write the telemetry to FILE as it comes")
    view.add_argument("--theme", metavar="NAME", help="colours; `:theme` lists them")
    add_source_arguments(parser)
    add_behaviour_arguments(parser)
    add_demo_arguments(parser)


def run(args: argparse.Namespace) -> int:
    chosen = [f"--{name}" for name in ("etcd", "snapshot", "attach", "replay") if getattr(args, name)]
    if len(chosen) > 1:
        return fail(f"{' and '.join(chosen)} exclude each other: choose one source", USAGE)
    if args.speed <= 0:
        return fail(f"--speed {args.speed:g} is not above 0", USAGE)
    return _open(args)


def _open(args: argparse.Namespace) -> int:
    import asyncio

    from ktui.client.connection import ClientError
    from ktui.telemetry.recording import RecordingError

    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a closed terminal ends us, whatever our parent ignored
    try:
        return asyncio.run(_show(args))
    except (ClientError, RecordingError) as error:
        return fail(str(error), NO_CONNECTION)


async def _show(args: argparse.Namespace) -> int:
    """The dashboard until it is left. A server of our own boots while we import the rest."""
    child = None if args.replay or args.attach else await _spawned(args)
    try:
        from ktui.tui.app import KtuiApp
        from ktui.tui.themes import DEFAULT

        app = KtuiApp(_source(args, child), theme=args.theme or DEFAULT)
        status = await app.run_async()
    finally:
        if child is not None:
            await child.stop()
    return OK if status is None else status


async def _spawned(args: argparse.Namespace) -> ServerChild:
    from ktui.cli.child import ServerChild

    demo = [] if args.etcd or args.snapshot else ["--demo"]
    child = ServerChild([*passed_on(args), *demo], secrets_environment(args))
    await child.spawn()
    return child


def _source(args: argparse.Namespace, child: ServerChild | None) -> Source:
    from pathlib import Path

    from ktui.cli.launchers import AttachLauncher, ChildLauncher, RecordedSource
    from ktui.tui.source import LiveSource, ReplaySource

    if args.replay:
        return ReplaySource(_recording(args.replay), args.speed)
    if child is None:
        from ktui.cli.attach import require_connection

        source: Source = LiveSource(AttachLauncher(require_connection(args)))
    else:
        source = LiveSource(ChildLauncher(child))
    return RecordedSource(source, Path(args.record)) if args.record else source


def _recording(name: str) -> Path:
    from pathlib import Path

    from ktui.telemetry.recording import RecordingError

    if not Path(name).is_file():
        raise RecordingError(f"there is no recording {name}; `ktui --record FILE` writes one")
    return Path(name)
