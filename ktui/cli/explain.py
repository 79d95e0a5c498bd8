"""`ktui explain`: print the route of a request and the reason, without any etcd."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from ktui.cli.options import supports_progress
from ktui.cli.output import OK, emit, emit_json
from ktui.core.rows import letter_of
from ktui.kube import versions
from ktui.kube.access_pattern import AccessPattern
from ktui.kube.explain import Explanation, explain
from ktui.kube.flow_schemas import level_of
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import Readiness, RevisionAge, assumed_state
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predicates import result
from ktui.kube.routing.reasons import REASONS
from ktui.kube.routing.request import ReadRequest, parse_request
from ktui.kube.seats import levels_cap_seats
from ktui.kube.users import NODES, requester_of
from ktui.printable import escaped


def run(args: argparse.Namespace) -> int:
    explanations = explanations_of(args)
    if args.json:
        documents = [explanation.document() for explanation in explanations]
        emit_json(documents if args.kube_version == "all" else documents[0], indent=2)
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        emit("\n".join(lines(explanations, colour=colour)), coloured=True)
    return OK


def explanations_of(args: argparse.Namespace) -> list[Explanation]:
    """Explain `args.path`, oldest version first. Raises ConfigError, RequestError, BehaviourError."""
    request = parse_request(args.path, args.verb)
    return [_explain(request, args, *pair) for pair in _behaviours(args)]


def _explain(
    request: ReadRequest, args: argparse.Namespace, behaviour: versions.Behaviour, warnings: tuple[str, ...]
) -> Explanation:
    state = assumed_state(
        request, readiness=Readiness(args.cache), progress=supports_progress(args),
        rv_age=RevisionAge(args.rv_age), token_age=RevisionAge(args.continue_age),
        snapshot=args.cache_snapshot,
    )  # fmt: skip
    pattern = AccessPattern(
        repeated_every=args.repeated_every, agents=args.agents, together=args.agents > 1,
        keeps_part=args.keeps_part, informer=args.informer, node=args.node, account=args.account,
        accept=args.accept,
    )  # fmt: skip
    level = None
    if args.account:
        groups = [group for group in args.group.split(",") if group]
        if args.account.startswith("system:node:"):
            groups.append(NODES)  # the group in a kubelet's certificate
        level = level_of(requester_of(args.account, groups), request.verb, request.info, behaviour.minor)
    return explain(request, state, behaviour, warnings, pattern, level)


def _behaviours(args: argparse.Namespace) -> Iterator[tuple[versions.Behaviour, tuple[str, ...]]]:
    """Yield the versions to explain, each with warnings about gates that it does not have."""
    gates = versions.parse_gates(args.feature_gates)
    if args.kube_version != "all":
        yield versions.behaviour_of(args.kube_version, gates), ()
        return
    versions.check_gates(gates)
    for version in versions.KNOWN_VERSIONS:
        settable, warnings = {}, []
        for gate, wanted in gates.items():
            try:
                versions.behaviour_of(version, {gate: wanted})
                settable[gate] = wanted
            except versions.BehaviourError as error:
                warnings.append(f"{error}; the default is used")
        yield versions.behaviour_of(version, settable), tuple(warnings)


_WORDS = {
    Source.CACHE: "cache",
    Source.SNAPSHOT: "cache, a snapshot",
    Source.ETCD: "etcd",
    Source.NONE: "rejected",
}
_SGR = {"C": "1;32", "S": "1;36", "E": "1;33", "!": "1;31"}


def lines(explanations: Sequence[Explanation], *, colour: bool = False) -> Iterator[str]:
    """Yield lines for a terminal; they have escape sequences only with `colour`."""
    width = min(max(shutil.get_terminal_size().columns, 60), 120)
    if len(explanations) == 1:
        return _one(explanations[0], width, colour)
    return _every(explanations, width, colour)


def _one(e: Explanation, width: int, colour: bool) -> Iterator[str]:
    plan = e.plan
    first, *others = plan.reasons
    plain = f"{letter_of(plan.source)}  {_WORDS[plan.source]} — {first}: {REASONS[first]}"
    head, *rest = _wrapped(plain, width, "", " " * 3)
    # Coloured after wrapping, which would count escape sequences as text.
    yield _letter(plan, colour) + head[1:]
    yield from rest
    for reason in others:
        yield from _wrapped(f"and {reason}: {REASONS[reason]}", width, " " * 3)
    yield ""
    yield from _rows(e, width)
    yield ""
    yield "decision trace"
    yield from _trace(plan)
    yield from _warnings(e.warnings, width)
    if e.advice:
        yield ""
        yield "cheaper (predicted)"
    for advice in e.advice:
        if advice.tryable:
            yield f"   {_letter(advice.plan, colour)}  {escaped(advice.path)}"
        yield from (f"      {name}: {value}" for name, value in advice.headers)
        yield from _wrapped(advice.why, width, " " * 6)


def _letter(plan: Plan, colour: bool) -> str:
    letter = letter_of(plan.source)
    return f"\x1b[{_SGR[letter]}m{letter}\x1b[0m" if colour else letter


def _rows(e: Explanation, width: int) -> Iterator[str]:
    d = e.plan
    rows = [
        ("request", f"{e.request.verb.upper()} {escaped(e.request.url)}"), ("version", _version(e)),
        ("error", _error_text(d)),
        ("limit", {True: "honoured", False: "ignored", None: ""}[d.limit_honoured]),
        ("consistency", d.consistency or ""), ("list's RV", d.list_revision or ""),
        ("wait", sentences.wait(d) if any(d.wait) else ""),
        ("etcd reads", sentences.etcd_reads(d) or ("none" if d.error is None else "")),
        ("memory", sentences.etcd_memory(d) if e.behaviour.enabled("EtcdRangeStream") else ""),
        ("fallback", sentences.fallback(d) or ""), ("seats", _seats(e)),
        ("events", "the server asks for the initial events itself" if d.initial_events_defaulted else ""),
    ]  # fmt: skip
    for label, value in rows:
        if value:
            first, *rest = textwrap.wrap(value, width - 16) or [""]
            yield f"   {label:<13}{first}"
            yield from (" " * 16 + more for more in rest)


def _version(e: Explanation) -> str:
    gates = [f"{gate}={'true' if on else 'false'}" for gate, on in e.behaviour.changed_gates.items()]
    preview = f" (rules of {e.behaviour.preview}, which may still change)" if e.behaviour.preview else ""
    return ", ".join([f"Kubernetes {e.behaviour.version}{preview}", *gates])


def _error_text(plan: Plan) -> str:
    error = plan.error
    if error is None:
        return ""
    where = "in the stream of a 200: " if plan.in_stream else ""
    retry = f" (Retry-After {error.retry_after} s)" if error.retry_after else ""
    return f"{where}{error.code} {error.reason}{' ' if error.reason else ''}{escaped(error.message)}{retry}"


def _seats(e: Explanation) -> str:
    few, many = e.seats
    if many == 0:
        return "none: flow control is off, requests are only counted in flight"
    text = str(few) if few == many else f"{few} to {many}, by how much the resource holds"
    if e.level is not None:
        return f"{text} (priority level {e.level.name})"
    capped = levels_cap_seats(e.behaviour) and many > 1
    return f"{text}; its priority level may cap it lower" if capped else text


def _trace(plan: Plan) -> Iterator[str]:
    lines = sentences.trace_lines(plan)
    rule_width = max(len(step.rule) for step in lines)
    for phase, steps in groupby(lines, key=lambda step: step.phase):
        yield f"   {phase}"
        for step in steps:
            mark = result(step.rule, step.taken)
            mark = mark.upper() if step.taken else mark
            yield f"     {mark:<4}{step.rule:<{rule_width}}  {escaped(step.saw)}"


def _warnings(warnings: Sequence[str], width: int) -> Iterator[str]:
    if warnings:
        yield ""
    for warning in warnings:
        yield from _wrapped(f"! {escaped(warning)}", width, "", "  ")


def _every(explanations: Sequence[Explanation], width: int, colour: bool) -> Iterator[str]:
    """Yield one row per range of versions with the same plan, then each reason once."""
    request = explanations[0].request
    yield f"{request.verb.upper()} {escaped(request.url)}"
    yield ""
    runs = [list(run) for _, run in groupby(explanations, key=alike)]
    cells = [_cells(run) for run in runs]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for run, row in zip(runs, cells, strict=True):
        letter = _letter(run[0].plan, colour)
        padded = [cell.ljust(size) for cell, size in zip(row, widths, strict=True)]
        yield f"   {padded[0]}  {letter}  {'  '.join(padded[1:])}".rstrip()
    yield ""
    for reason in dict.fromkeys(r for e in explanations for r in e.plan.reasons):
        yield from _wrapped(f"{reason}: {REASONS[reason]}", width, "   ", "     ")
    for run in runs:
        if run[0].plan.unstreamed is not None:
            text = f"streamed, {span(run)}: {sentences.etcd_reads(run[0].plan)}"
            yield from _wrapped(text, width, "   ", "     ")
    yield from _warnings(list(dict.fromkeys(w for e in explanations for w in e.warnings)), width)
    yield from _advice_by_version(explanations, width, colour)


def _advice_by_version(explanations: Sequence[Explanation], width: int, colour: bool) -> Iterator[str]:
    """Yield each cheaper variant once, with the versions in which it applies."""
    helped: dict[tuple[str, str, str], list[Explanation]] = {}
    for e in explanations:
        for advice in e.advice:
            letter = _letter(advice.plan, colour)
            helped.setdefault((letter, advice.path, advice.why), []).append(e)
    if helped:
        yield ""
        yield "cheaper (predicted)"
    for (letter, path, why), under in helped.items():
        yield f"   {letter}  {escaped(path)}"
        yield from _wrapped(f"{span(under)}: {why}", width, " " * 6)


def alike(e: Explanation) -> tuple[object, ...]:
    """Return a key that explanations with the same outcome share, whatever their version."""
    d = e.plan
    code = d.error.code if d.error else 0
    streamed = d.unstreamed is not None
    return d.source, d.reasons, d.limit_honoured, d.consistency, d.wait, code, d.fallback, e.seats, streamed


def _cells(run: Sequence[Explanation]) -> list[str]:
    e = run[0]
    d = e.plan
    limit = {True: "limit honoured", False: "limit ignored", None: ""}[d.limit_honoured]
    outcome = f"{d.error.code} {d.error.reason}".strip() if d.error else d.consistency or ""
    seats = str(e.seats.min) if e.seats.min == e.seats.max else f"{e.seats.min}–{e.seats.max}"
    streamed = "streamed" if d.unstreamed is not None else ""
    return [span(run), _WORDS[d.source], ", ".join(d.reasons), limit, outcome, f"seats {seats}", streamed]


def span(run: Sequence[Explanation]) -> str:
    """Return the versions of consecutive explanations: `1.30`, `1.19–1.30`."""
    first, last = run[0].behaviour.version, run[-1].behaviour.version
    return first if first == last else f"{first}–{last}"


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
