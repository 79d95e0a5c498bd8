"""The report on budgets for CI: JUnit XML, Markdown, and a budget file of a good run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ktui.cli.budgets.budget_report import (
    EXCEEDED,
    IDLE,
    UNJUDGED,
    BudgetReport,
    breach_text,
    clients_text,
    ended,
    request_text,
    result_text,
    state_of,
    unmatched_text,
)
from ktui.cli.exit_codes import FAILED, OK, USAGE, fail
from ktui.cli.output import warn
from ktui.config.errors import ConfigError
from ktui.core.budgets.budget_file import RequestBudget, budget_text, read_budgets
from ktui.core.budgets.judge import draft
from ktui.core.format import many, markdown_row, markdown_text
from ktui.printable import escaped

_SIGNS = {EXCEEDED: "❌ exceeded", IDLE: "⚠ matched nothing", UNJUDGED: "⚠ not judged"}


def junit(report: BudgetReport) -> str:
    """Return JUnit XML: a test case per budget, and of `ktui ci` one for the command."""
    cases = list(_cases(report))
    count = {
        kind: sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error", "skipped")
    }
    suite = ElementTree.Element(
        "testsuite", name="ktui budgets", tests=str(len(cases)), failures=str(count["failure"]),
        errors=str(count["error"]), skipped=str(count["skipped"]),
    )  # fmt: skip
    suite.extend(cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cases(report: BudgetReport) -> Iterator[ElementTree.Element]:
    found = report.verdict
    if report.status is not None:
        text = f"the command {ended(report.status)}" if report.status else ""
        yield _case(report, "the command", "failure" if text else "", text)
    if not found.requests:
        yield _case(report, "requests", "error", f"{report.source} sent no request for a resource")
    for entry in found.budgets:
        name = f"{entry.budget.title} ({report.place(entry)})"
        if entry.breaches:
            lines = [breach_text(breach) for breach in entry.breaches]
            worst = [request_text(breach.worst) for breach in entry.breaches if breach.worst is not None]
            details = "\n".join([*lines, f"by {clients_text(entry)}", *dict.fromkeys(worst)])
            yield _case(report, name, "failure", lines[0], details)
        elif state_of(entry) in (IDLE, UNJUDGED):
            yield _case(report, name, "skipped", result_text(entry, found))
        else:
            yield _case(report, name)


def _case(
    report: BudgetReport, name: str, kind: str = "", message: str = "", details: str = ""
) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=escaped(report.file or "ktui ci"), name=escaped(name))
    if kind:
        found = ElementTree.SubElement(case, kind, message=escaped(message))
        found.text = escaped(details, "\n") or None
    return case


def markdown_report(report: BudgetReport) -> str:
    """Return a table for a pull request, exceeded budgets first."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: BudgetReport) -> Iterator[str]:
    found = report.verdict
    yield f"**{markdown_text(report.summary)}**"
    if report.status:
        yield f"\n⚠ The command {ended(report.status)}: it may not have sent all its requests."
    if found.budgets:
        yield ""
        yield markdown_row("budget", "result", "what", "by", "worst request")
        yield markdown_row("-", "-", "-", "-", "-")
    for entry in found.budgets:
        title = markdown_text(f"{entry.budget.title} ({report.place(entry)})")
        if not entry.breaches:
            sign = _SIGNS.get(state_of(entry), "✅ ok")
            yield markdown_row(title, sign, markdown_text(result_text(entry, found)), "", "")
            continue
        for breach in entry.breaches:
            worst = markdown_text(request_text(breach.worst)) if breach.worst is not None else ""
            who = markdown_text(clients_text(entry))
            yield markdown_row(title, _SIGNS[EXCEEDED], markdown_text(breach_text(breach)), who, worst)
    if found.unmatched and found.budgets:
        yield f"\n{markdown_text(unmatched_text(found))}"
    if report.notes:
        yield ""
        yield from (f"- {markdown_text(note)}" for note in report.notes)


def budgets_of_run(report: BudgetReport, headroom: float) -> str:
    budgets = draft(report.verdict, headroom)
    sent = many(report.verdict.requests, "request")
    head = f"{sent} of {report.source}, and {headroom:.0%} more of each number"
    remarks = ["Routes are predicted, not observed."] if report.verdict.predicted else []
    return budget_text(budgets, escaped(head), *remarks)


def finish(report: BudgetReport, args: argparse.Namespace, markdown: str = "") -> int:
    """Write the files, and return 0, or 1 for an exceeded budget.

    `markdown` is the file of the table. A budget file is written only for a run that was good.
    """
    name = ""
    try:
        for name, made in ((args.junit, junit), (markdown, markdown_report)):
            if name:
                Path(name).write_text(made(report), encoding="utf-8")
        name = args.write_budget
        if name and not report.status and report.verdict.requests:
            Path(name).write_text(budgets_of_run(report, args.headroom), encoding="utf-8")
            warn(f"wrote {name}")
    except OSError as error:
        return fail(f"cannot write {name}: {error.strerror}", USAGE)
    return FAILED if report.verdict.exceeded else OK


def check_options(args: argparse.Namespace, *outputs: str) -> list[RequestBudget]:
    """Return the budgets, before anything runs. Raises ConfigError, also for outputs without a directory."""
    if args.budget and args.write_budget:
        raise ConfigError(
            "--budget and --write-budget exclude each other: judge a run, or write what it sent"
        )
    for name in (args.write_budget, args.junit, *outputs):
        if name and not Path(name).absolute().parent.is_dir():
            raise ConfigError(f"cannot write {name}: there is no directory {Path(name).parent}")
    return read_budgets(Path(args.budget)) if args.budget else []
