"""Measure one request to a server, predict it, and compare it with its cheaper variants."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ktui.cli.targets import ask_before
from ktui.client.measure import ApiRequest, Keep
from ktui.client.repeated_runs import Runs, alternate, middle, run_often
from ktui.client.target import Target
from ktui.core.lab.form import verb_of
from ktui.core.lab.measured import Measured
from ktui.core.lab.trial import LEAST_RUNS, Trial, trial_of
from ktui.core.prediction.prediction import Prediction
from ktui.kube.access_pattern import BIG_ANSWER
from ktui.kube.advice import Advice
from ktui.kube.listoptions import parse_list_options
from ktui.kube.requestinfo import split_url
from ktui.kube.status import StatusError


@dataclass(slots=True)
class TriedVariant:
    """A cheaper variant. `measured` (its median run) and `trial` are None until it was sent."""

    advice: Advice
    request: ApiRequest
    measured: Measured | None = None
    trial: Trial | None = None


@dataclass(slots=True)
class Listing:
    """The result of `ktui list`: the runs of the request, and its cheaper variants."""

    runs: Runs
    cheaper: list[TriedVariant] = field(default_factory=list)

    @property
    def measured(self) -> Measured:
        return self.runs.measured

    def document(self) -> dict[str, Any]:
        return {**self.runs.document(), "cheaper": [self._variant(variant) for variant in self.cheaper]}

    def _variant(self, variant: TriedVariant) -> dict[str, Any]:
        advice, measured = variant.advice, variant.measured
        return {
            "id": advice.id, "path": advice.path, "why": advice.why, "headers": dict(advice.headers),
            "predicted": {"route": advice.plan.source.route},
            "measured": None if measured is None else measured.document(),
            "trial": None if variant.trial is None else variant.trial.document(),
        }  # fmt: skip


async def list_at(target: Target, args: argparse.Namespace) -> Listing:
    """Measure `args.path` with the options in `args`. Raises ClientError, Declined, OSError (--save-body)."""
    if target.real:
        await ask_before(target, [args.path], await target.assumptions(), yes=args.yes)
    request = ApiRequest(args.path, args.all_pages)
    repeat = 1 if args.compare else args.repeat or 1
    runs = await run_often(target, request, repeat, lambda: _saved(args.save_body))
    variants = _cheaper(runs.predicted, request)
    if runs.measured.ok and runs.measured.body_bytes < BIG_ANSWER:
        # A small response is cheap in any format.
        variants = [each for each in variants if not each.request.accept]
    listing = Listing(runs, variants)
    if args.compare and variants and runs.measured.ok:
        await _try(target, listing, request, args)
    return listing


async def _try(target: Target, listing: Listing, request: ApiRequest, args: argparse.Namespace) -> None:
    """Send the original and its variants in alternation, and compare what they cost the server."""
    if target.real:
        paths = [variant.request.path for variant in listing.cheaper]
        await ask_before(target, paths, await target.assumptions(), yes=args.yes)
    requests = [request, *(variant.request for variant in listing.cheaper)]
    originals, *others = found = await alternate(target, requests, args.repeat or LEAST_RUNS)
    await target.settle([run for runs in found for run in runs])
    times = tuple(each.total_ms for each in originals)
    listing.runs = replace(listing.runs, measured=middle(originals), ms=times)
    for variant, runs in zip(listing.cheaper, others, strict=True):
        variant.measured, variant.trial = middle(runs), trial_of(originals, runs)


def _cheaper(predicted: Prediction, request: ApiRequest) -> list[TriedVariant]:
    if predicted.explanation is None:
        return []
    whole = request.all_pages or not _limited(request.path)
    found = []
    for advice in predicted.explanation.advice:
        if not advice.tryable:
            continue
        all_pages, accept = whole and _limited(advice.path), dict(advice.headers).get("Accept", "")
        found.append(TriedVariant(advice, ApiRequest(advice.path, all_pages, accept=accept)))
    return found


def _limited(path: str) -> bool:
    """True for a LIST with a limit. Compared with a whole LIST, all of its pages have to be read."""
    try:
        return verb_of(path) == "LIST" and parse_list_options(split_url(path)[1]).limit > 0
    except StatusError:
        return False


@contextmanager
def _saved(file: str | None) -> Iterator[Keep | None]:
    """Yield a function that writes bodies to `file` as they arrive. Raises OSError, also for a terminal."""
    if file is None:
        yield None
        return
    with Path(file).open("wb") as out:
        if out.isatty():
            raise OSError(
                errno.EINVAL, "a terminal cannot show a body as it is: name a file, or a pipe", file
            )
        yield out.write
