"""`ktui audit`: what the requests in an apiserver's logs cost, by client, and cheaper variants of them."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ktui.audit.build import Wish
from ktui.audit.periods import FIRST, LAST
from ktui.audit.reading.files import open_logs
from ktui.audit.report import Report
from ktui.audit.request_list import RequestList
from ktui.audit.server_version import versions_from
from ktui.audit.tally import Tally, TallyOptions
from ktui.audit.workers import read_all
from ktui.cli.auditing.html import html_page
from ktui.cli.auditing.outputs import diff, emit_request, merge, print_load, problems, write
from ktui.cli.auditing.read_logs import find_aggregated, find_sizes, list_with_bar, read_with_bar
from ktui.cli.auditing.text import csv_table, markdown, print_report
from ktui.cli.options import supports_progress
from ktui.cli.output import FAILED, INTERRUPTED, OK, USAGE, emit, emit_json, fail
from ktui.kube.gates import DEFAULT_VERSION
from ktui.kube.versions import parse_gates

ALL = 4096  # groups: all that are kept


def run(args: argparse.Namespace) -> int:
    try:
        return _run(args)
    except BrokenPipeError:
        raise
    except OSError as error:
        return fail(f"cannot read {error.filename}: {error.strerror}", USAGE)


def _run(args: argparse.Namespace) -> int:
    if args.budget or args.write_budget or args.junit:
        from ktui.cli.budgets.judge_logs import judge_logs  # start-up time

        _check_version(args)
        return judge_logs(args, _options(args))
    if args.follow or args.listen:
        return _live(args)
    if not args.files:
        return fail("name a log FILE, or - for standard input", USAGE)
    what, *files = args.files
    if what == "diff" and not Path(what).exists():
        return diff(files, as_json=args.json)
    if args.sql:
        from ktui.audit.queries import query  # start-up time

        emit("\n".join(query(args.sql, source).removesuffix("\n") for source in args.files))
        return OK
    if args.sampling > 1_000_000:
        return fail("--sampling is a number of requests per million, at most 1000000", USAGE)
    if args.requests:
        return _requests(args)
    _check_version(args)
    progress = supports_progress(args)
    if args.screen:
        return _screen(args, progress)
    merging = what == "merge" and not Path(what).exists()
    if (merging or args.grouped) and (args.since is not None or args.until is not None):
        return fail("--since and --until apply to logs: give them where these are read", USAGE)
    tally, wish = _merged(files, args, progress) if merging else read_tally(args, progress)
    if args.partial:
        write(tally, args.partial)
    else:
        _print(wish.report(tally, ALL if args.emit else args.top), args)
    if tally.stopped:
        return INTERRUPTED
    return FAILED if tally.unread else OK


def _check_version(args: argparse.Namespace) -> None:
    """Raise BehaviourError for an unknown version or gates that it does not have, before anything is read."""
    versions_from(args.kube_version or DEFAULT_VERSION, parse_gates(args.feature_gates))


def _wish(args: argparse.Namespace, progress: bool) -> Wish:
    gates = parse_gates(args.feature_gates)
    return Wish(args.kube_version, gates, *find_sizes(args), progress, find_aggregated(args))


def read_tally(args: argparse.Namespace, progress: bool, *, quiet: bool = False) -> tuple[Tally, Wish]:
    """Read the logs, with a progress bar that Ctrl-C ends (`quiet`: without). Raises what `run` handles."""
    with open_logs(args.files) as logs:
        # Read before the logs: a wrong URL is reported at once, not after ten minutes.
        wish, tally = _wish(args, progress), Tally(*_options(args))
        if quiet:
            read_all(logs, tally, lambda name, taken: None)
        else:
            read_with_bar(logs, tally, grouped=args.grouped, dask=args.dask)
    return tally, wish


def _merged(files: list[str], args: argparse.Namespace, progress: bool) -> tuple[Tally, Wish]:
    wish, tally = _wish(args, progress), Tally(*_options(args))
    merge(tally, files)
    return tally, wish


def _requests(args: argparse.Namespace) -> int:
    requests = RequestList(_options(args), emit_request)
    with open_logs(args.files) as logs:
        finished = list_with_bar(logs, requests)
    problems(requests)
    return INTERRUPTED if not finished else FAILED if requests.unread else OK


def _screen(args: argparse.Namespace, progress: bool) -> int:
    from ktui.cli.auditing.report_screen import separate_keyboard, show_reading  # start-up time
    from ktui.cli.view_options import check_theme, preferences_of
    from ktui.tui.audit.log_reading import Reading

    check_theme(args)
    with separate_keyboard("-" in args.files) as piped, open_logs(args.files, piped) as logs:
        reading = Reading(lambda: nullcontext(logs), Tally(*_options(args)))
        return show_reading(reading, _wish(args, progress), preferences_of(args))


def _live(args: argparse.Namespace) -> int:
    from ktui.cli.auditing.report_screen import run_live  # start-up time
    from ktui.cli.view_options import check_theme, preferences_of

    _check_version(args)
    check_theme(args)
    wish = _wish(args, supports_progress(args))
    return run_live(args, Tally(*_options(args)), wish, preferences_of(args))


def _options(args: argparse.Namespace) -> TallyOptions:
    since = FIRST if args.since is None else args.since
    until = LAST if args.until is None else args.until
    return TallyOptions(datetime.now(UTC), args.etcd_prefix, since, until, args.sampling)


def _print(report: Report, args: argparse.Namespace) -> None:
    texts = {"markdown": markdown, "csv": csv_table, "html": html_page}
    if args.json:
        emit_json(msgspec.to_builtins(report), indent=2)
    elif text := next((text for form, text in texts.items() if getattr(args, form)), None):
        emit(text(report).removesuffix("\n"))
    else:
        (print_load if args.emit else print_report)(report)
