"""One question put to a server: measured, predicted, and asked in its cheaper forms."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.cli.polite import ask_before
from ktui.client.foresight import Foreseen, World, foresee
from ktui.client.measure import middle_run, verb_of
from ktui.kube.listoptions import parse_list_options
from ktui.kube.requestinfo import split_url
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.client.measure import Keep
    from ktui.client.measured import Measured
    from ktui.client.target import Target


@dataclass(slots=True)
class Cheaper:
    """A cheaper form; `measured` once it was fired."""

    id: str
    path: str
    why: str
    route: str
    all_pages: bool = False
    measured: Measured | None = None


@dataclass(slots=True)
class Listing:
    """`measured` is the median one of `runs_ms`."""

    measured: Measured
    foreseen: Foreseen
    cheaper: list[Cheaper] = field(default_factory=list)
    runs_ms: list[float] = field(default_factory=list)
    first_route: str = ""

    def document(self) -> dict[str, Any]:
        """What `ktui list --json` prints."""
        return {
            **self.measured.document(),
            "runs": {"count": len(self.runs_ms), "ms": [round(ms, 3) for ms in self.runs_ms]},
            "predicted": self.foreseen.document(self.first_route),
            "cheaper": [self._form(form) for form in self.cheaper],
        }

    def _form(self, form: Cheaper) -> dict[str, Any]:
        measured = form.measured
        return {
            "id": form.id,
            "path": form.path,
            "why": form.why,
            "predicted": {"route": form.route},
            "measured": None if measured is None else measured.document(),
            "factors": None if measured is None else factors(self.measured, measured),
        }


def factors(dear: Measured, cheap: Measured) -> dict[str, float | None]:
    """How many times less the cheaper form took; None where one of both is unknown or nothing."""
    etcd = dear.counters.get("etcd_bytes"), cheap.counters.get("etcd_bytes")
    return {
        "processed": _factor(dear.processed_bytes, cheap.processed_bytes),
        "etcd_bytes": _factor(*etcd),
        "received": _factor(dear.body_bytes, cheap.body_bytes),
        "ms": _factor(dear.total_ms, cheap.total_ms),
    }


def _factor(dear: float | None, cheap: float | None) -> float | None:
    return round(dear / cheap, 2) if dear and cheap else None


async def list_at(target: Target, args: argparse.Namespace) -> Listing:
    """Measure `args.path` as the arguments say. ClientError, Declined, OSError (of --save-body)."""
    world = await target.world()
    foreseen = foresee(args.path, world)
    await ask_before(target, [args.path], world, yes=args.yes)
    measured, runs, first_route = await measure_often(target, args, world)
    listing = Listing(measured, foreseen, _cheaper(args, foreseen), runs, first_route)
    if args.compare:
        for form in listing.cheaper:
            await ask_before(target, [form.path], world, yes=args.yes)
            tried = [await target.measure(form.path, all_pages=form.all_pages) for _ in range(args.repeat)]
            form.measured = middle_run(tried)
            form.measured.average_bytes = form.measured.average_bytes or measured.average_bytes
    return listing


async def measure_often(
    target: Target, args: argparse.Namespace, world: World
) -> tuple[Measured, list[float], str]:
    """The median run, the times of all of them, and the route of the first answer."""
    runs = []
    for _ in range(args.repeat):
        with _saved(args.save_body) as keep:
            runs.append(await target.measure(args.path, all_pages=args.all_pages, keep=keep))
    measured = middle_run(runs)
    measured.average_bytes = measured.average_bytes or await _average(target, args.path, world)
    return measured, [run.total_ms for run in runs], runs[0].first_route


async def _average(target: Target, path: str, world: World) -> float:
    """Mean stored size of the objects; a cache that was cold before may tell it now."""
    return world.average_bytes(path) or (0.0 if target.real else (await target.world()).average_bytes(path))


def _cheaper(args: argparse.Namespace, foreseen: Foreseen) -> list[Cheaper]:
    if foreseen.explanation is None:
        return []
    whole = args.all_pages or not _limited(args.path)
    return [
        Cheaper(
            advice.id, advice.path, advice.why, advice.decision.route.public, whole and _limited(advice.path)
        )
        for advice in foreseen.explanation.advice
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
