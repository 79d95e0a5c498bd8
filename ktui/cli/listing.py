"""One question put to a server: measured, predicted, and asked in its cheaper forms."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.cli.polite import ask_before
from ktui.client.measure import Question, verb_of
from ktui.client.runs import Runs, run_often
from ktui.core.prediction.predict import Prediction
from ktui.kube.habits import BIG_ANSWER
from ktui.kube.listoptions import parse_list_options
from ktui.kube.requestinfo import split_url
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.client.measure import Keep
    from ktui.client.target import Target
    from ktui.core.lab.measured import Measured


@dataclass(slots=True)
class Cheaper:
    """A cheaper form; `measured` once it was fired."""

    id: str
    path: str
    why: str
    route: str
    all_pages: bool = False
    accept: str = ""  # the form to ask for, "" for plain JSON
    measured: Measured | None = None


@dataclass(slots=True)
class Listing:
    """The request as asked, and its cheaper forms."""

    runs: Runs
    cheaper: list[Cheaper] = field(default_factory=list)

    @property
    def measured(self) -> Measured:
        return self.runs.measured

    def document(self) -> dict[str, Any]:
        """What `ktui list --json` prints."""
        return {**self.runs.document(), "cheaper": [self._form(form) for form in self.cheaper]}

    def _form(self, form: Cheaper) -> dict[str, Any]:
        measured = form.measured
        return {
            "id": form.id,
            "path": form.path,
            "why": form.why,
            "headers": {"Accept": form.accept} if form.accept else {},
            "predicted": {"route": form.route},
            "measured": None if measured is None else measured.document(),
            "factors": None if measured is None else factors(self.measured, measured),
        }


def factors(original: Measured, cheap: Measured) -> dict[str, float | None]:
    """How many times less the cheaper form took; None where one of both is unknown or nothing."""
    etcd = original.counters.get("etcd_bytes"), cheap.counters.get("etcd_bytes")
    return {
        "processed": _factor(original.processed_bytes, cheap.processed_bytes),
        "etcd_bytes": _factor(*etcd),
        "received": _factor(original.body_bytes, cheap.body_bytes),
        "ms": _factor(original.total_ms, cheap.total_ms),
    }


def _factor(original: float | None, cheap: float | None) -> float | None:
    return round(original / cheap, 2) if original and cheap else None


async def list_at(target: Target, args: argparse.Namespace) -> Listing:
    """Measure `args.path` as the arguments say. ClientError, Declined, OSError (of --save-body)."""
    if target.real:
        await ask_before(target, [args.path], await target.assumptions(), yes=args.yes)
    question = Question(args.path, args.all_pages)
    runs = await run_often(target, question, args.repeat, lambda: _saved(args.save_body))
    forms = _cheaper(runs.predicted, question)
    if runs.measured.ok and runs.measured.body_bytes < BIG_ANSWER:
        forms = [form for form in forms if not form.accept]  # a small answer is cheap in any form
    listing = Listing(runs, forms)
    if args.compare:
        for form in listing.cheaper:
            await _try(target, form, args)
    return listing


async def _try(target: Target, form: Cheaper, args: argparse.Namespace) -> None:
    """Send a cheaper variant as often as the original."""
    if target.real:
        await ask_before(target, [form.path], await target.assumptions(), yes=args.yes)
    runs = await run_often(target, Question(form.path, form.all_pages, accept=form.accept), args.repeat)
    form.measured = runs.measured


def _cheaper(predicted: Prediction, asked: Question) -> list[Cheaper]:
    if predicted.explanation is None:
        return []
    whole = asked.all_pages or not _limited(asked.path)
    return [
        Cheaper(
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
    """Whether it asks for a page: to compare with a whole LIST, all pages have to be read."""
    try:
        return verb_of(path) == "LIST" and parse_list_options(split_url(path)[1]).limit > 0
    except StatusError:
        return False


@contextmanager
def _saved(file: str | None) -> Iterator[Keep | None]:
    """Bodies go to `file` as they come; pages stand in it one after the other."""
    if file is None:
        yield None
        return
    with Path(file).open("wb") as out:
        yield out.write
