"""`ktui ci`: run a command against a server of its own, and judge its requests by budgets."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import secrets
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ktui import __version__
from ktui.cli.budgets.budget_report import BudgetReport, check_options, ended, finish, print_report
from ktui.cli.child import ServerChild, signal_group
from ktui.cli.options import behaviour_from
from ktui.cli.output import COMMAND_FAILED, FAILED, NO_CONNECTION, NOTHING_SENT, USAGE, fail, warn
from ktui.cli.targets import NODES, started_server
from ktui.client.ktui_api import KtuiApi
from ktui.client.running import write_kubeconfig
from ktui.contract.recording import RecordingError
from ktui.core.budgets.budget_file import RequestBudget
from ktui.core.budgets.judge import BudgetJudge
from ktui.core.budgets.judged_requests import RecordedRequests
from ktui.core.format import integer, shorten
from ktui.core.recordings.reader import RecordingReader

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
ENDING = 10.0  # seconds that the command has after the server ended
IN_CLUSTER = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
AGENT = f"ktui/{__version__}"
_TITLE = 60  # characters of the command in the report


def run(args: argparse.Namespace) -> int:
    if args.command[:1] == ["--"]:
        del args.command[0]
    if not args.command:
        return fail("name a command: ktui ci [options] -- COMMAND …", USAGE)
    behaviour_from(args)
    budgets = check_options(args, args.markdown, args.record)
    if shutil.which(args.command[0]) is None:
        return fail(f"cannot run {args.command[0]!r}: there is no such command", USAGE)
    with tempfile.TemporaryDirectory(prefix="ktui-ci-") as name:
        folder = Path(name)
        recording = Path(args.record) if args.record else folder / "requests.ndjson"
        texts = ("the command begins", "it ended")
        begin, end = (f"ktui ci: {text} {secrets.token_hex(8)}" for text in texts)
        command = _Command(args.command, folder / "kubeconfig", quiet=args.json)
        try:
            asyncio.run(_run(args, folder, recording, command, (begin, end)))
        except OSError as error:
            return fail(f"cannot run {args.command[0]!r}: {error.strerror}", USAGE)
        if command.lost:
            return fail(f"the server ended while the command ran: {command.lost}", NO_CONNECTION)
        try:
            requests = _recorded(recording, begin, end)
        except RecordingError as error:
            return fail(f"the server's record of requests cannot be judged: {error}", FAILED)
    return _judge(args, budgets, requests, command)


async def _run(
    args: argparse.Namespace, folder: Path, recording: Path, command: _Command, markers: tuple[str, str]
) -> None:
    words = [f"--record={recording}", f"--kube-version={args.kube_version}"]
    words += [f"--feature-gates={args.feature_gates}"] if args.feature_gates else []
    words.append(f"--data-dir={folder / 'etcd'}")  # with it the caches are filled before the first response
    plan = None
    if args.pods or args.nodes:
        from ktui.workloads.demo.plan import DemoSize, make_plan  # start-up time

        plan = make_plan(DemoSize(pods=args.pods or 1, nodes=args.nodes or NODES))
        warn(f"filling a server with a demo cluster of {integer(plan.size.pods)} pods …")
    with command.signals():
        async with started_server(AGENT, words, plan=plan) as (found, child):
            write_kubeconfig(found.client.connection, command.kubeconfig)
            server = KtuiApi(found.client)
            await server.mark(markers[0])
            await command.run(child)
            if not command.lost:
                await server.mark(markers[1])


class _Command:
    """The command, in a session of its own: signals reach it only once, with all its processes.

    `status` is its exit status, `signalled` the last signal that came, `ended_by` that of the time before its
    end, `lost` why the server ended.
    """

    def __init__(self, words: Sequence[str], kubeconfig: Path, *, quiet: bool) -> None:
        self._words, self.kubeconfig, self._quiet = words, kubeconfig, quiet
        self._process: asyncio.subprocess.Process | None = None
        self.status = self.signalled = self.ended_by = 0
        self.lost = ""
        self._task: asyncio.Task[object] | None = None

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Pass signals on to the command; before it runs, they end everything."""
        loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._pass_on, number)
        try:
            yield
        except asyncio.CancelledError:
            if not self.signalled:
                raise
            sys.exit(128 + self.signalled)
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _pass_on(self, number: int) -> None:
        self.signalled = number
        if self._process is not None:
            signal_group(self._process, number)
        elif self._task is not None:
            self._task.cancel()

    async def run(self, server: ServerChild) -> None:
        """Run the command until it has ended. Raises OSError if it cannot start."""
        environment = {name: value for name, value in os.environ.items() if name not in IN_CLUSTER}
        process = self._process = await asyncio.create_subprocess_exec(
            *self._words, env={**environment, "KUBECONFIG": str(self.kubeconfig)},
            stdout=sys.stderr if self._quiet else None, start_new_session=True,
        )  # fmt: skip
        waiting = asyncio.create_task(process.wait())
        watching = asyncio.create_task(server.wait())
        await asyncio.wait((waiting, watching), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            self.lost = watching.result()
            signal_group(process, signal.SIGTERM)
            await asyncio.wait((waiting,), timeout=ENDING)
            signal_group(process, signal.SIGKILL)
        watching.cancel()
        self.status, self.ended_by = await waiting, self.signalled


def _recorded(recording: Path, begin: str, end: str) -> RecordedRequests:
    """Read the server's record. Raises RecordingError if it is not complete."""
    requests = RecordedRequests(begin, end)
    with RecordingReader(recording) as reader:
        for line in reader.lines():
            requests.add(line.event)
    if requests.dropped:
        raise RecordingError(f"{integer(requests.dropped)} events were lost, the counts would be too low")
    if not requests.complete:
        raise RecordingError(reader.warning or "it is not complete; is there space left on the disk?")
    return requests


def _judge(
    args: argparse.Namespace, budgets: Sequence[RequestBudget], requests: RecordedRequests, command: _Command
) -> int:
    judge = BudgetJudge(budgets, drafting=bool(args.write_budget))
    for request in requests.all():
        judge.add(request)
    title = shorten(shlex.join(args.command), _TITLE)
    report = BudgetReport(judge.verdict(), title, args.budget, command.status)
    print_report(report, as_json=args.json)
    status = finish(report, args, args.markdown)
    if command.status and command.ended_by:
        return 128 + command.ended_by
    if command.status:
        return fail(f"the command {ended(command.status)}", COMMAND_FAILED)
    if not judge.requests:
        return fail("the command sent no request for a resource; does it read KUBECONFIG?", NOTHING_SENT)
    return status
