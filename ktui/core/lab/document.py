"""The pages that key `y` shows for a Lab result: the result as JSON, its request as code, and a ticket."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from ktui import __version__
from ktui.core.lab.result import LabResult
from ktui.core.lab.trial import CLIENT_TIME, FIGURES, Spread, Trial, Verdict, spread_text
from ktui.core.snippets import as_client_go, as_curl, as_kubectl, as_python, client_go_note
from ktui.kube.resources import Resource
from ktui.printable import escaped

_CHEAPER = (Verdict.SAVES, Verdict.MIXED)


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
        paged = result.measured is not None and result.measured.pages > 1
        note = client_go_note(result.form, resource)
        pages["client-go"] = note + as_client_go(result.form, resource, all_pages=paged)
        pages["Python"] = as_python(result.form, resource)
    if result.trial is None or result.trial.problem or original is None:
        return {"result": document, **pages}
    curl = pages.pop("curl")
    ticket = "\n".join(_ticket(result, original, result.trial, kube_version))
    return {"URL": result.path, **pages, "ticket": ticket, "curl": curl, "result": document}


def _ticket(result: LabResult, original: LabResult, trial: Trial, kube_version: str) -> Iterator[str]:
    """Yield the lines of a ticket in Markdown: requests, routes, costs, and how they were measured."""
    what = "Cheaper read" if trial.verdict in _CHEAPER else "Compared reads"
    yield f"### {what}: {_text(result.label)}"
    yield ""
    yield f"{_text(trial.sentence)}."
    yield ""
    yield "| | before | after |"
    yield "|---|---:|---:|"
    for name, *sides in (
        ("request", *(_code(f"{_verb(each)} {each.path}") for each in (original, result))),
        ("Accept", *(_code(each.form.accept_header) for each in (original, result))),
        ("route", *(_text(each.route or "not known") for each in (original, result))),
        ("because", *(_text(_reason(each)) for each in (original, result))),
    ):
        yield f"| {name} | {' | '.join(sides)} |"
    for each in trial.differences:
        if each.original.high or each.variant.high:
            figure = FIGURES[each.figure]
            before, after = (spread_text(figure, side) for side in (each.original, each.variant))
            yield f"| {figure.noun} | {before} | {after} |"
    if trial.times is not None:
        yield f"| {_client_time(trial.times)} |"
    yield ""
    server = f"context {_code(result.server)}" if result.server else "ktui's own server over etcd"
    rules = f" with the rules of Kubernetes {kube_version}" if kube_version else ""
    at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(result.at))
    yield (
        f"Measured by ktui {__version__} at {at} on {server}{rules}: {trial.runs} runs of each in "
        "alternation after one that is not counted; medians (least–most) of what the server reports."
    )


def _client_time(times: tuple[Spread, Spread]) -> str:
    return " | ".join(["client's time, not judged", *(spread_text(CLIENT_TIME, side) for side in times)])


def _verb(result: LabResult) -> str:
    return "WATCH" if result.form.stream else "LIST"


def _reason(result: LabResult) -> str:
    return result.measured.reason if result.measured is not None else ""


def _text(untrusted: str) -> str:
    """Return text from a server for Markdown: no control characters, markup or cell ends."""
    shown = escaped(untrusted)
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in shown)


def _code(untrusted: str) -> str:
    """Return text as Markdown code; backticks would end it."""
    return f"`{escaped(untrusted).replace('|', '%7C').replace('`', '%60')}`"


def result_document(result: LabResult) -> dict[str, object]:
    """Return all details of one result as a JSON object."""
    measured = result.measured
    return {
        "number": result.number,
        "variant": result.label,
        "server": result.server or "ktui",
        "accept": result.form.accept_header,
        **({"error": result.error} if result.error else {}),
        "predicted": [
            {
                "figure": each.name,
                "predicted": each.predicted,
                "measured": each.measured,
                "verdict": each.verdict,
            }
            for each in result.comparisons
        ],
        **(measured.document() if measured is not None else {"path": result.path}),
    }
