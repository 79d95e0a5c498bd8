"""`ktui list`: send one GET or LIST and print its route, the reason, its cost, and cheaper variants."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator

from ktui import __version__
from ktui.cli.exit_codes import OK, SERVER_ERROR, USAGE, fail
from ktui.cli.explain import lines
from ktui.cli.list_request import Listing, list_at
from ktui.cli.list_text import print_listing
from ktui.cli.live_options import listen
from ktui.cli.output import emit, emit_json
from ktui.cli.targets import demo_refuses, target, target_conflict
from ktui.client.api import RefusedError
from ktui.client.large_lists import ListEstimate, estimate_list
from ktui.client.measure import verb_of
from ktui.core.format import integer, long_bytes, many
from ktui.core.lab.trial import LEAST_RUNS


def run(args: argparse.Namespace) -> int:
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if args.estimate:
        try:
            estimate = asyncio.run(estimate_at(args))
        except RefusedError as error:
            return fail(str(error), SERVER_ERROR)
        if args.json:
            emit_json(estimate.document())
        else:
            emit("\n".join(_estimate_lines(estimate)), coloured=True)
        return OK
    try:
        listing = asyncio.run(_list(args))
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}", USAGE)
    if args.json:
        emit_json(listing.document())
    else:
        print_listing(listing)
    return OK if listing.measured.ok else SERVER_ERROR


def _misuse(args: argparse.Namespace) -> str:
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


async def estimate_at(args: argparse.Namespace) -> ListEstimate:
    """Estimate `args.path` at the server of `args`. Raises ClientError, RefusedError, RequestError."""
    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        return await estimate_list(found, args.path)


def _estimate_lines(found: ListEstimate) -> Iterator[str]:
    size, cost, returned = found.size, found.cost, found.returned
    sizes = f"{long_bytes(size.bytes)} as JSON ({long_bytes(size.average)} each, by one of them)"
    yield f"{many(size.count, 'object')} in {found.collection}" + (f", {sizes}" if size.count else "")
    if cost is not None:
        source = "etcd" if cost.etcd else "watch cache"
        read = f"{integer(found.objects_read or 0)} objects, {long_bytes(cost.processed)}, from the {source}"
        yield f"   {'predicted':<13}reads {read}"
    answer = "as many as the selector matches"
    if returned is not None:
        answer = f"{many(returned, 'object')}, {long_bytes(returned * size.average)}"
    seats = "" if found.seats is None else f"; {many(found.seats, 'seat')}"
    yield f"   {'':<13}answers {answer}{seats}"
    yield ""
    yield from lines([found.explanation])


async def _list(args: argparse.Namespace) -> Listing:
    async with target(args, args.as_client or f"ktui/{__version__}") as found:
        if args.otlp is None:
            return await list_at(found, args)
        from ktui.client.traced_target import TracedTarget  # start-up time

        receiver = listen(args)
        try:
            return await list_at(TracedTarget(found, receiver), args)
        finally:
            receiver.close()
