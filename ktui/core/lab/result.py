"""The result of sending a LIST: measured next to predicted, and compared with another result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ktui import __version__
from ktui.core.format import integer, long_bytes, markdown_code, markdown_row, markdown_text
from ktui.core.lab.form import ListForm
from ktui.core.lab.form_prediction import NOTHING, Comparison, Figures, compare
from ktui.core.lab.measured import Measured
from ktui.core.lab.trial import CLIENT_TIME, FIGURES, Trial, Verdict, spread_text
from ktui.core.snippets import as_client_go, as_curl, as_kubectl, as_python, client_go_note
from ktui.kube.resources import Resource

# What `LabResult.spent` counts.
_SPENT = (("bytes processed", long_bytes), ("etcd requests", integer), ("bytes received", long_bytes))


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `measured` None: no answer (yet); `error` says why there is none.

    `server` is the kubeconfig's context that it was sent to, "" for ktui's own server; `at` the
    time (Unix seconds). `baseline` is the number of the result of which this is a cheaper variant,
    0 for none. `previous`: of another server or a previous run of the dashboard, so that it cannot
    be compared with what is sent now. `trial` compares it with the baseline: `measured` then is the
    median of several runs.
    """

    number: int
    label: str
    path: str
    form: ListForm
    predicted: Figures = NOTHING
    server: str = ""
    at: float = 0.0
    baseline: int = 0
    measured: Measured | None = None
    error: str = ""
    pending: bool = False
    previous: bool = False
    trial: Trial | None = None

    @property
    def answer(self) -> Measured:
        """What was measured; without an answer its figures are 0 or unknown."""
        return self.measured or NO_ANSWER

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def ok(self) -> bool:
        """True if the requested objects were received; a WATCH can fail after its 200."""
        return self.status == 200 and not self.problem

    @property
    def problem(self) -> str:
        """Why there is no answer, or the server's error."""
        return self.error or self.answer.message

    @property
    def route(self) -> str:
        """The measured route: cache | etcd | none; "" if unknown."""
        return self.answer.route

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every predicted figure next to the measured one."""
        if self.measured is None or not self.predicted.route:
            return ()
        return tuple(compare(self.predicted, self.measured))

    @property
    def surprises(self) -> tuple[str, ...]:
        """The names of the figures that differ from their prediction."""
        return tuple(each.name for each in self.comparisons if each.verdict == "≠")

    @property
    def spent(self) -> tuple[int, int, int] | None:
        """Counted figures that decide which of several variants is the cheapest; None if unknown."""
        answer, processed = self.answer, self.answer.processed_bytes
        if not self.ok or processed is None:
            return None
        return processed, answer.counters.get("etcd_rpcs", 0), answer.body_bytes


NO_ANSWER = Measured("")


def winner_text(results: Sequence[LabResult]) -> str:
    """Name the cheapest of variants that were sent once each; the first is the original. "" if unknown.

    Only variants that select the same objects in the same form compete, if as many were returned. Counted
    figures decide; times of single runs do not.
    """
    if len(results) < 2 or (original := results[0]).spent is None:
        return ""
    wanted = _wanted(original)
    rivals = [(spent, each) for each in results if (spent := each.spent) and _wanted(each) == wanted]
    best = min((spent for spent, _ in rivals), key=_rounded)
    winners = [each for spent, each in rivals if _rounded(spent) == _rounded(best)]
    if original in winners:
        alike = ", ".join(each.label for each in winners[1:])
        cheapest = f"none of these is cheaper than {original.label}"
        return f"{cheapest}; {alike} cost the same" if alike else cheapest
    saved = [
        f"{noun} {text(before)} → {text(after)}"
        for (noun, text), before, after in zip(_SPENT, original.spent, best, strict=True)
        if _two_digits(after) < _two_digits(before)
    ]
    return f"winner: {', '.join(each.label for each in winners)} ({', '.join(saved)})"


def _wanted(result: LabResult) -> tuple[object, ...]:
    form, items = result.form, result.answer.items
    return items, form.accept, form.namespace, form.label_selector, form.field_selector, form.shard_selector


def _rounded(spent: tuple[int, int, int]) -> tuple[float, ...]:
    return tuple(map(_two_digits, spent))


def _two_digits(figure: int) -> float:
    """Round a figure: collections change between two requests."""
    return float(f"{figure:.1e}")


def result_pages(
    result: LabResult, resource: Resource | None, original: LabResult | None = None, kube_version: str = ""
) -> dict[str, str]:
    """Return the pages by title. `resource` None: without client-go and Python.

    Of a verdict (`original` is what it was compared with) the pages to hand over come first: the URL, the
    request as code, and a ticket. `kube_version`: whose rules the server followed, if known.
    """
    document = msgspec.json.format(msgspec.json.encode(result_document(result)), indent=2).decode()
    pages = {"curl": as_curl(result.path, result.form), "kubectl": as_kubectl(result.path)}
    if resource is not None:
        note = client_go_note(result.form, resource)
        pages["client-go"] = note + as_client_go(result.form, resource, all_pages=result.answer.pages > 1)
        pages["Python"] = as_python(result.form, resource)
    if result.trial is None or result.trial.problem or original is None:
        return {"result": document, **pages}
    curl = pages.pop("curl")
    ticket = "\n".join(_ticket(result, original, result.trial, kube_version))
    return {"URL": result.path, **pages, "ticket": ticket, "curl": curl, "result": document}


def _ticket(result: LabResult, original: LabResult, trial: Trial, kube_version: str) -> Iterator[str]:
    """Yield the lines of a ticket in Markdown: requests, routes, costs, and how they were measured."""
    what = "Cheaper read" if trial.verdict in (Verdict.SAVES, Verdict.MIXED) else "Compared reads"
    yield f"### {what}: {markdown_text(result.label)}"
    yield ""
    yield f"{markdown_text(trial.sentence)}."
    yield ""
    yield "| | before | after |"
    yield "|---|---:|---:|"
    sides = (original, result)
    requests = (f"{'WATCH' if each.form.stream else 'LIST'} {each.path}" for each in sides)
    yield markdown_row("request", *map(markdown_code, requests))
    yield markdown_row("Accept", *(markdown_code(each.form.accept_header) for each in sides))
    yield markdown_row("route", *(markdown_text(each.route or "not known") for each in sides))
    yield markdown_row("because", *(markdown_text(each.answer.reason) for each in sides))
    for each in trial.differences:
        if each.original.high or each.variant.high:
            figure = FIGURES[each.figure]
            before, after = (spread_text(figure, side) for side in (each.original, each.variant))
            yield markdown_row(figure.noun, before, after)
    if trial.times is not None:
        times = (spread_text(CLIENT_TIME, side) for side in trial.times)
        yield markdown_row("client's time, not judged", *times)
    yield ""
    server = f"context {markdown_code(result.server)}" if result.server else "ktui's own server over etcd"
    rules = f" with the rules of Kubernetes {kube_version}" if kube_version else ""
    at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(result.at))
    yield (
        f"Measured by ktui {__version__} at {at} on {server}{rules}: {trial.runs} runs of each in "
        "alternation after one that is not counted; medians (least–most) of what the server reports."
    )


def result_document(result: LabResult) -> dict[str, object]:
    measured = result.measured
    return {
        "number": result.number,
        "variant": result.label,
        "server": result.server or "ktui",
        "accept": result.form.accept_header,
        **({"error": result.error} if result.error else {}),
        "predicted": [
            {"figure": one.name, "predicted": one.predicted, "measured": one.measured, "verdict": one.verdict}
            for one in result.comparisons
        ],
        **(measured.document() if measured is not None else {"path": result.path}),
    }
