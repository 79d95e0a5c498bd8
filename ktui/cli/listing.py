"""One request to a server: measured, predicted, and compared with its cheaper variants."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.cli.confirm_lists import ask_before
from ktui.client.measure import ApiRequest, verb_of
from ktui.client.repeated_runs import Runs, middle, run_often
from ktui.client.trial import alternate
from ktui.core.lab.trial import LEAST_RUNS, Trial, trial_of
from ktui.core.prediction.predict import Prediction
from ktui.kube.access_pattern import BIG_ANSWER
from ktui.kube.listoptions import parse_list_options
from ktui.kube.requestinfo import split_url
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.client.measure import Keep
    from ktui.client.target import Target
    from ktui.core.lab.measured import Measured


@dataclass(slots=True)
class TriedVariant:
    """A cheaper variant; with `measured` (its median run) and `trial` once it was tried."""

    id: str
    path: str
    why: str
    route: str
    all_pages: bool = False
    accept: str = ""  # the Accept header to send, "" for plain JSON
    measured: Measured | None = None
    trial: Trial | None = None

    @property
    def request(self) -> ApiRequest:
        return ApiRequest(self.path, self.all_pages, accept=self.accept)


@dataclass(slots=True)
class Listing:
    """The request itself, and its cheaper variants."""

    runs: Runs
    cheaper: list[TriedVariant] = field(default_factory=list)

    @property
    def measured(self) -> Measured:
        return self.runs.measured

    def document(self) -> dict[str, Any]:
        """What `ktui list --json` prints."""
        return {**self.runs.document(), "cheaper": [self._form(form) for form in self.cheaper]}

    def _form(self, form: TriedVariant) -> dict[str, Any]:
        measured = form.measured
        return {
            "id": form.id,
            "path": form.path,
            "why": form.why,
            "headers": {"Accept": form.accept} if form.accept else {},
            "predicted": {"route": form.route},
            "measured": None if measured is None else measured.document(),
            "trial": None if form.trial is None else form.trial.document(),
        }


async def list_at(target: Target, args: argparse.Namespace) -> Listing:
    """Measure `args.path` as the arguments say. ClientError, Declined, OSError (of --save-body)."""
    if target.real:
        await ask_before(target, [args.path], await target.assumptions(), yes=args.yes)
    request = ApiRequest(args.path, args.all_pages)
    repeat = 1 if args.compare else args.repeat or 1
    runs = await run_often(target, request, repeat, lambda: _saved(args.save_body))
    forms = _cheaper(runs.predicted, request)
    if runs.measured.ok and runs.measured.body_bytes < BIG_ANSWER:
        forms = [form for form in forms if not form.accept]  # a small response is cheap in any format
    listing = Listing(runs, forms)
    if args.compare and forms and runs.measured.ok:
        await _try(target, listing, request, args)
    return listing


async def _try(target: Target, listing: Listing, request: ApiRequest, args: argparse.Namespace) -> None:
    """Send the original and its variants alternately, and compare their cost to the server."""
    forms = listing.cheaper
    if target.real:
        paths = [form.path for form in forms]
        await ask_before(target, paths, await target.assumptions(), yes=args.yes)
    requests = [request, *(form.request for form in forms)]
    originals, *variants = await alternate(target, requests, args.repeat or LEAST_RUNS)
    times = tuple(each.total_ms for each in originals)
    listing.runs = replace(listing.runs, measured=middle(originals), ms=times)
    for form, runs in zip(forms, variants, strict=True):
        form.measured, form.trial = middle(runs), trial_of(originals, runs)


def _cheaper(predicted: Prediction, asked: ApiRequest) -> list[TriedVariant]:
    if predicted.explanation is None:
        return []
    whole = asked.all_pages or not _limited(asked.path)
    return [
        TriedVariant(
            advice.id,
            advice.path,
            advice.why,
            advice.plan.source.route,
            all_pages=whole and _limited(advice.path),
            accept=dict(advice.headers).get("Accept", ""),
        )
        for advice in predicted.explanation.advice
        if advice.tryable
    ]


def _limited(path: str) -> bool:
    """True if it requests one page: to compare with a whole LIST, all pages have to be read."""
    try:
        return verb_of(path) == "LIST" and parse_list_options(split_url(path)[1]).limit > 0
    except StatusError:
        return False


@contextmanager
def _saved(file: str | None) -> Iterator[Keep | None]:
    """Write bodies to `file` as they arrive; pages follow one another.

    OSError if it cannot be written, or is a terminal: a body may contain any bytes.
    """
    if file is None:
        yield None
        return
    with Path(file).open("wb") as out:
        if out.isatty():
            raise OSError(
                errno.EINVAL, "a terminal cannot show a body as it is: name a file, or a pipe", file
            )
        yield out.write
