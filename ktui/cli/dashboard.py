"""`ktui` without a command: the dashboard, and the server that it starts for itself."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.cli.child import AttachLauncher, ChildLauncher, ServerChild, die_with_parent
from ktui.cli.crash import keep_quiet, report
from ktui.cli.logs import log_of, report_log_problem, start_log
from ktui.cli.options import behaviour_from, listen, passed_on, prometheus_connection, secrets_environment
from ktui.cli.output import FAILED, NO_CONNECTION, OK, USAGE, check_terminal, fail, tell
from ktui.cli.screenshot import size_of
from ktui.cli.targets import require_connection
from ktui.cli.view_options import check_theme, kube_context_of, preferences_of
from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.recording import RecordingError
from ktui.kube.gates import DEFAULT_VERSION
from ktui.tui.source import LiveSource, MergedSource, SideSource, TelemetrySource, feed_events

if TYPE_CHECKING:
    from ktui.live.server_details import LiveFeed
    from ktui.traces.receiver import OtlpReceiver
    from ktui.tui.app import KtuiApp

SOURCES = ("etcd", "snapshot", "attach", "replay", "prometheus")

log = log_of(__name__)


def run(args: argparse.Namespace) -> int:
    status = check(args) or (OK if args.screenshot else check_terminal())
    if status != OK:
        return status
    gc.disable()  # until the first frame: everything loaded before it stays alive
    from ktui.tui.subclassing import look_once_at_classes  # start-up time

    look_once_at_classes()  # Textual's and ktui's, which are imported from here on
    if args.page_of:
        die_with_parent(args.page_of)
    # A closed terminal ends this process, even if its parent ignored the signal.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    keep_quiet()
    log.info("ktui %s, config %s", __version__, args.configured.config.file.path)
    try:
        return asyncio.run(_show(args))
    except (ClientError, RecordingError) as error:
        log.error("%s", error)
        return fail(str(error), NO_CONNECTION)
    finally:
        gc.enable()
        log.info("left")
        report_log_problem()


def check(args: argparse.Namespace) -> int:
    """Check the arguments, and start the log. Raises ConfigError, BehaviourError."""
    chosen = [f"--{name}" for name in SOURCES if getattr(args, name)]
    if len(chosen) > 1:
        return fail(f"{' and '.join(chosen)} exclude each other: choose one source", USAGE)
    if args.record and args.replay:
        return fail("a recording cannot be recorded again: `ktui recording cut` copies a part of one", USAGE)
    check_theme(args)
    size_of(args.size)
    if args.kube_version != DEFAULT_VERSION or args.feature_gates:
        behaviour_from(args)
    start_log(args, "dashboard")
    if args.snapshot:
        from ktui.etcd.errors import SnapshotError  # start-up time
        from ktui.etcd.snapshot import check as check_snapshot

        try:
            check_snapshot(Path(args.snapshot))
        except SnapshotError as error:
            return fail(str(error).removesuffix("."), NO_CONNECTION)
    return OK


async def _show(args: argparse.Namespace) -> int:
    """Run the dashboard. Its own server is started once the first frame is shown."""
    kube_context = kube_context_of(args)
    over_metrics = _over_metrics(args, kube_context)
    named = args.etcd or args.snapshot or args.attach or args.replay  # a source of its own
    traces_only = args.otlp is not None and not over_metrics and not named
    receiver = listen(args) if args.otlp is not None and not args.replay else None
    none_needed = args.replay or args.attach or over_metrics or traces_only
    child = None if none_needed else server_child(args)
    recorder = None
    try:
        if args.record:
            from ktui.core.recordings.recorder import Recorder  # start-up time

            recorder = Recorder(Path(args.record))
        if traces_only and receiver is not None:
            from ktui.tui.live.app import OtlpSource  # start-up time

            source: TelemetrySource = OtlpSource(receiver, behaviour_from(args))
        else:
            scraped = over_metrics and not args.replay
            source = _cluster(args, kube_context) if scraped else _source(args, child)
            source = _add_sources(source, args, "" if over_metrics else kube_context, receiver)
        preferences = preferences_of(args, kube_context)
        traces = receiver is not None or traces_only
        if args.replay:
            traces, traces_only = _recorded_traces(args.replay)
        shown = _app_class(over_metrics=over_metrics, traces=traces, only=traces_only)
        app = shown(source, preferences=preferences, recorder=recorder)
        app.receiver = receiver
        status = await _drive(app, args)
    finally:
        if recorder is not None:
            recorder.close()
        if child is not None:
            await child.stop()
        if receiver is not None:
            receiver.close()
    if app.crash is not None:
        return report(app.crash)
    if recorder is not None and recorder.problem:
        return fail(recorder.problem, FAILED)
    return status


def _over_metrics(args: argparse.Namespace, kube_context: str) -> bool:
    """True if the dashboard shows a scraped kube-apiserver, or a recording of one."""
    if args.replay:
        first = _first_event(args.replay)
        return isinstance(first, ServerInfo) and first.scraped
    if args.prometheus:
        return True
    return bool(kube_context) and not (args.etcd or args.snapshot or args.attach or args.aim)


def _recorded_traces(name: str) -> tuple[bool, bool]:
    """Return whether a recording has requests of traces, and whether it has these alone."""
    from ktui.traces import SCHEME  # start-up time

    first = _first_event(name)
    urls = first.endpoints if isinstance(first, ServerInfo) else []
    traces = [url.startswith(SCHEME) for url in urls]
    return any(traces), bool(traces) and all(traces)


def _app_class(*, over_metrics: bool, traces: bool, only: bool) -> type[KtuiApp]:
    if not over_metrics and not only:
        from ktui.tui.app import KtuiApp  # start-up time

        return KtuiApp
    from ktui.tui.live.app import LiveApp, TracesApp, TracesOnlyApp  # start-up time

    return TracesOnlyApp if only else TracesApp if traces else LiveApp


def _cluster(args: argparse.Namespace, context: str) -> TelemetrySource:
    """Return the source for the kube-apiserver of a context, or for the Prometheus that scrapes it."""
    from ktui.client import kubeconfig_reader as reader  # start-up time
    from ktui.tui.live.source import ClusterSource

    def make() -> LiveFeed:
        if args.prometheus:
            from ktui.live.prometheus import PrometheusFeed  # start-up time

            return PrometheusFeed(prometheus_connection(args))
        from ktui.live.scraper import Scraper  # start-up time

        return Scraper(lambda: reader.read_kubeconfig(reader.kubeconfig_files(), context))

    if args.prometheus:
        return ClusterSource(make, f"the Prometheus at {args.prometheus}")
    where = f"context {context}"
    return ClusterSource(make, where, lambda: reader.credential_program(reader.kubeconfig_files(), context))


def _add_sources(
    source: TelemetrySource, args: argparse.Namespace, kube_context: str, receiver: OtlpReceiver | None = None
) -> TelemetrySource:
    """Merge `source` with the metrics of a kubeconfig's server, traces and an audit log, if given."""
    sides: list[SideSource] = []
    if kube_context and (args.etcd or args.snapshot or args.attach):
        sides.append(SideSource("metrics", lambda: feed_events(_cluster(args, kube_context))))
    if receiver is not None:
        from ktui.traces.feed import SOURCE, traced_events, url_of  # start-up time

        behaviour = behaviour_from(args)
        sides.append(SideSource(SOURCE, lambda: traced_events(receiver, behaviour), url_of(receiver)))
    if args.follow_audit and not args.replay:
        from ktui.audit.growing_logs import audit_activity  # start-up time

        sides.append(SideSource("audit log", lambda: audit_activity(args.follow_audit)))
    return MergedSource(source, sides) if sides else source


async def _drive(app: KtuiApp, args: argparse.Namespace) -> int:
    if not args.screenshot:
        status = await app.run_async(mouse=args.mouse) or OK
        if app.interrupted:
            tell("ktui: ended by Ctrl-C")
        return status
    from ktui.cli.screenshot import take_screenshot  # start-up time

    await take_screenshot(app, args)
    return OK


def server_child(args: argparse.Namespace, *words: str) -> ServerChild:
    """Return the dashboard's own server, not started yet; `words` are more options for `ktui serve`."""
    demo = [] if args.etcd or args.snapshot else ["--demo"]
    return ServerChild([*passed_on(args), *demo, *words], secrets_environment(args))


def _source(args: argparse.Namespace, child: ServerChild | None) -> TelemetrySource:
    if args.replay:
        from ktui.tui.replay.source import ReplaySource  # start-up time

        return ReplaySource(_recording(args.replay), args.speed)
    if child is None:
        return LiveSource(AttachLauncher(require_connection(args), lambda: require_connection(args)))
    if args.etcd:
        return LiveSource(ChildLauncher(child, f"connecting to etcd at {args.etcd}"))
    if args.snapshot:
        return LiveSource(ChildLauncher(child, f"starting etcd with the snapshot {args.snapshot}"))
    return LiveSource(ChildLauncher(child))


def check_source(args: argparse.Namespace) -> None:
    """Check that the server or recording exists; sends no request. Raises ClientError, RecordingError."""
    if args.replay:
        _recording(args.replay)
    elif args.attach:
        require_connection(args)


def _recording(name: str) -> Path:
    """Return what to replay. Raises RecordingError if it is missing or its first line is no event."""
    if not Path(name).exists():
        raise RecordingError(f"there is no recording {name}; `ktui --record FILE` writes one")
    _first_event(name)
    return Path(name).absolute()


def _first_event(name: str) -> AnyEvent | None:
    """Return the first event of a recording; None if there is none."""
    from ktui.core.recordings.segments import check_beginning  # start-up time

    path = Path(name)
    return check_beginning(path) if path.is_file() or path.is_dir() else None
