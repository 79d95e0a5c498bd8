"""`ktui audit --screen`, and `--follow` and `--listen`: growing logs on a screen or as lines of JSON."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import msgspec

from ktui.audit.build import Wish
from ktui.audit.growing_logs import LiveTally, listening
from ktui.audit.reading.files import open_logs
from ktui.audit.tally import Tally
from ktui.cli.output import OK, USAGE, check_terminal, emit_json, fail, warn

if TYPE_CHECKING:
    from ktui.tui.audit.log_reading import LiveReading, Reading
    from ktui.tui.preferences import Preferences


def show_reading(reading: Reading, wish: Wish, preferences: Preferences) -> int:
    """Show a reading, also one that follows logs, until the user quits; return the exit status."""
    from ktui.tui.audit.app import AuditApp  # start-up time

    if (status := check_terminal()) != OK:
        return status
    app = AuditApp(reading, wish, preferences=preferences)
    status = app.run() or OK
    if app.crash is not None:
        from ktui.cli.crash import report  # start-up time

        return report(app.crash)
    return status


@contextmanager
def separate_keyboard(wanted: bool) -> Iterator[int]:
    """Make the terminal standard input, for the keys, and yield the descriptor of the piped log.

    Raises OSError if there is no terminal. Without `wanted` nothing changes, and 0 is yielded.
    """
    if not wanted or sys.stdin.isatty():
        yield 0
        return
    piped = os.dup(0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    try:
        yield piped
    finally:
        os.dup2(piped, 0)
        os.close(piped)


_EVERY = 10.0  # seconds between two lines of JSON
_LOOPBACK = ("127.0.0.1", "localhost")


class ListenError(ValueError):
    """ktui cannot listen on an address; the message is one sentence."""


def run_live(args: argparse.Namespace, tally: Tally, wish: Wish, preferences: Preferences) -> int:
    """Report until the user quits or presses Ctrl-C. Raises OSError for a file that cannot be opened."""
    from ktui.tui.audit.log_reading import LiveReading  # start-up time

    if not args.json and (status := check_terminal()) != OK:
        return status
    with open_logs(args.files) as logs:
        names = [log.name for log in logs]
        if any(log.descriptor >= 0 for log in logs):
            return fail("--follow takes files: a pipe is read to its end anyway (ktui audit - -i)", USAGE)
    live = LiveTally(tally)
    with _server(args, live):
        reading = LiveReading(live, names)
        if args.json:
            return _print_lines(reading, live, wish)
        return show_reading(reading, wish, preferences)


def _print_lines(reading: LiveReading, live: LiveTally, wish: Wish) -> int:
    """Print a report as a line of JSON every ten seconds, and when the reading ends."""
    previous = signal.signal(signal.SIGTERM, lambda *_: live.ended.set())
    try:
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(reading.run)
            try:
                while not live.ended.wait(_EVERY):
                    emit_json(msgspec.to_builtins(reading.report(wish)))
            except KeyboardInterrupt:
                pass
            finally:
                reading.stop()
    finally:
        signal.signal(signal.SIGTERM, previous)
    run.result()  # raises what has ended the reading
    emit_json(msgspec.to_builtins(reading.report(wish)))
    return OK


@contextmanager
def _server(args: argparse.Namespace, live: LiveTally) -> Iterator[None]:
    """With `--listen`, serve the audit webhook and print its URL. Raises ListenError."""
    if not args.listen:
        yield
        return
    host, _, port = args.listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ListenError(f"--listen takes HOST:PORT, not {args.listen!r}")
    tls = (args.tls_cert, args.tls_key) if args.tls_cert and args.tls_key else None
    if bool(args.tls_cert) != bool(args.tls_key):
        raise ListenError("--tls-cert and --tls-key belong together")
    if tls is None and host not in _LOOPBACK:
        raise ListenError("any address but 127.0.0.1 needs --tls-cert and --tls-key: Events name accounts")
    secret = args.listen_secret or secrets.token_urlsafe(24)
    with ExitStack() as stack:
        try:
            url = stack.enter_context(listening((host, int(port)), secret, live, tls))
        except OSError as error:
            raise ListenError(f"cannot listen on {args.listen}: {error.strerror or error}") from None
        warn(f"listening for an apiserver's audit webhook at {url}")
        yield
