"""`ktui list`: send one GET or LIST and print its route, the reason, its cost, and cheaper variants."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.cli.exit_codes import OK, SERVER_ERROR, USAGE, fail
from ktui.cli.live_options import add_otlp_argument, listen
from ktui.cli.options import count
from ktui.cli.output import emit, emit_json
from ktui.cli.targets import add_target_arguments, demo_refuses, target, target_conflict
from ktui.core.format import integer, long_bytes, many

if TYPE_CHECKING:
    from ktui.cli.list_request import Listing
    from ktui.client.large_lists import ListEstimate

EPILOG = """examples:
  ktui list /api/v1/pods
  ktui list '/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName=node-01' --json
  ktui list '/api/v1/pods?limit=500' --all-pages
  ktui list '/api/v1/pods?fieldSelector=spec.nodeName=node-01' --try
  ktui list /api/v1/nodes --kubeconfig ~/.kube/config --context staging
  ktui list /api/v1/secrets --context prod --estimate     without sending it: one object is read

Predicted is what the routing rules give for this server's version and the current state of
its caches; a ≠ marks where the measurement says otherwise.
exit status: 0 answered, 1 the server answered an error, 2 usage, 3 no connection"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "list",
        help="send a GET or LIST and print route, reason and cost",
        description="Send a GET or LIST to a server and print route, reason and cost as measured, next to "
        "the prediction, and cheaper variants of the request. Without a running server one is started on "
        "an embedded etcd with a demo cluster.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("path", metavar="PATH", help="API path with its query, as in `kubectl get --raw`")
    add("--json", action="store_true", help="one JSON document, for programs")
    add("--all-pages", action="store_true", help="follow continue tokens to the end")
    add("--repeat", type=count, metavar="N", help="send it N times and print the median run (with --try: 5)")
    add(
        "--try",
        "--compare",
        dest="compare",
        action="store_true",
        help="send the cheaper variants too, in alternation with the original, and compare the server's cost",
    )
    add(
        "--estimate",
        action="store_true",
        help="do not send it: predict its cost from the number and size of the objects (reads one of them)",
    )
    add("--as-client", metavar="NAME", default="", help="the User-Agent to send")
    add("--save-body", metavar="FILE", help="write the answer here as it comes, every page of it")
    add_target_arguments(parser)
    add_otlp_argument(parser)


def run(args: argparse.Namespace) -> int:
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if args.estimate:
        return _print_estimate(args)
    try:
        listing = asyncio.run(_list(args))
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}", USAGE)
    if args.json:
        emit_json(listing.document())
    else:
        from ktui.cli.list_text import print_listing  # start-up time

        print_listing(listing)
    return OK if listing.measured.ok else SERVER_ERROR


def _misuse(args: argparse.Namespace) -> str:
    from ktui.client.measure import verb_of  # start-up time
    from ktui.core.lab.trial import LEAST_RUNS

    if not args.path.startswith("/"):
        return f"{args.path!r} is not an API path: write it like '/api/v1/pods?limit=500'"
    if verb_of(args.path) == "WATCH":
        return "a WATCH does not end: `ktui list` sends a GET or a LIST"
    if args.estimate:
        given = [flag for flag in ("all_pages", "repeat", "compare", "save_body") if getattr(args, flag)]
        if given or args.otlp is not None:
            return "--estimate sends nothing: leave out --all-pages, --repeat, --try, --save-body, --otlp"
    if args.compare and args.repeat is not None and args.repeat < LEAST_RUNS:
        return f"--try needs --repeat {LEAST_RUNS} or more: fewer runs cannot separate a saving from noise"
    if args.otlp is not None and not (args.kubeconfig or args.context):
        return "--otlp judges the requests to a kube-apiserver by its traces: name one with --kubeconfig"
    return target_conflict(args) or demo_refuses(args, args.path)


def _print_estimate(args: argparse.Namespace) -> int:
    from ktui.client.api import RefusedError  # start-up time

    try:
        found = asyncio.run(estimate_at(args))
    except RefusedError as error:
        return fail(str(error), SERVER_ERROR)
    if args.json:
        emit_json(found.document())
    else:
        emit("\n".join(_estimate_lines(found)), coloured=True)
    return OK


async def estimate_at(args: argparse.Namespace) -> ListEstimate:
    """Estimate `args.path` at the server of `args`. Raises ClientError, RefusedError, RequestError."""
    from ktui.client.large_lists import estimate_list  # start-up time

    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        return await estimate_list(found, args.path)


def _estimate_lines(found: ListEstimate) -> Iterator[str]:
    from ktui.cli.explain_text import lines  # start-up time

    size, cost, returned = found.size, found.cost, found.returned
    sizes = f"{long_bytes(size.bytes)} as JSON ({long_bytes(size.average)} each, by one of them)"
    yield f"{many(size.count, 'object')} in {found.collection}" + (f", {sizes}" if size.count else "")
    if cost is not None:
        source = "etcd" if cost.etcd else "watch cache"
        read = f"{integer(found.objects_read or 0)} objects, {long_bytes(cost.processed)}, from the {source}"
        yield f"   {'predicted':<13}reads {read}"
    answer = (
        "as many as the selector matches"
        if returned is None
        else (f"{many(returned, 'object')}, {long_bytes(returned * size.average)}")
    )
    seats = "" if found.seats is None else f"; {many(found.seats, 'seat')}"
    yield f"   {'':<13}answers {answer}{seats}"
    yield ""
    yield from lines([found.explanation])


async def _list(args: argparse.Namespace) -> Listing:
    from ktui.cli.list_request import list_at  # start-up time

    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        if args.otlp is None:
            return await list_at(found, args)
        from ktui.client.traced_target import TracedTarget  # start-up time

        receiver = listen(args)
        try:
            return await list_at(TracedTarget(found, receiver), args)
        finally:
            receiver.close()
