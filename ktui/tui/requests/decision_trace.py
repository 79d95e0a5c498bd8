"""The request chain and the decision trace of one request, and the etcd reads that it led to."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from ktui.contract.events import ChainStage, RouteStep
from ktui.core.format import long_bytes, many, milliseconds, safe
from ktui.core.prediction.alternatives import Alternatives
from ktui.core.request_view import as_curl, chain_of
from ktui.core.snippets import as_kubectl
from ktui.core.state import RequestRow
from ktui.tui.requests.why import (
    cheaper_lines,
    cost_line,
    step_blocks,
    trace_lines,
    verdict_lines,
    versions_line,
)
from ktui.tui.widgets.lines import broken, first_lines, line, lines, wrapped

_STAGE, _MS = 15, 11  # cells of a stage's name and of its time
_NONE = "this recording has no stages: its server was older"


def chain_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return the stages that a request passed, with their whole decisions and times, as far as they fit."""
    if row is None:
        return line(("select a request to see its stages", "$ink-muted"))
    return first_lines(chain_lines(chain_of(row), width) or [line((_NONE, "$ink-muted"))], width, height)


def chain_lines(stages: Sequence[ChainStage], width: int, most: int = 99) -> list[Content]:
    """Return `authorization  allowed  0.02 ms`; a long decision is wrapped into at most `most` lines."""
    room = max(10, width - _STAGE - _MS)
    drawn = []
    for stage in stages:
        refused = stage.decision.startswith("refused")
        first, *rest = textwrap.wrap(safe(stage.decision), room, max_lines=most, placeholder=" …") or [""]
        style = "$route-error" if refused else "$foreground"
        drawn.append(
            line(
                (f"{stage.stage:<{_STAGE}}", "$route-error" if refused else "$ink-muted"),
                (f"{first:<{room}}", style),
                (f"{milliseconds(stage.ms)} ms".rjust(_MS), "$foreground"),
            )
        )
        drawn += [line((" " * _STAGE + text, style)) for text in rest]
    return drawn


def trace_content(row: RequestRow | None, alternatives: Alternatives, width: int, height: int) -> Content:
    """Return the predicates in order, then the route, its cost, and other versions' routes.

    The request chain is above them, if the height allows.
    """
    if row is None:
        return line(("select a request to see its decision trace", "$ink-muted"))
    after = [*verdict_lines(row, width), cost_line(row, width)]
    if alternatives.versions:
        after.append(versions_line(alternatives.versions, width))
    after += [text for advice in alternatives.cheaper for text in cheaper_lines(advice, width, 3)]
    steps = headed_steps(row.steps, width, max(1, height - len(after) - 1))
    rule = [line(("  └" + "─" * 3 + "▶", "$ink-faint"))] if len(steps) + len(after) < height else []
    trace = [*steps, *rule, *after]
    chain = chain_lines(chain_of(row), width, most=1)
    above = [*chain, Content("")] if chain and len(chain) < height - len(trace) else []
    return lines([*above, *trace][:height])


def headed_steps(steps: Sequence[RouteStep], width: int, height: int) -> list[Content]:
    """Return the steps, if the height allows below the kube-apiserver functions that check them."""
    phases = [step.phase for step in steps]
    headings = sum(phase != before for before, phase in zip(["", *phases], phases, strict=False))
    if len(steps) + headings > height or not all(phases):
        return trace_lines(steps, width, height)
    blocks = step_blocks(list(enumerate(steps, 1)), width, height - headings)
    drawn: list[Content] = []
    for before, phase, block in zip(["", *phases], phases, blocks, strict=False):
        if phase != before:
            drawn.append(line((phase, "bold $primary")))
        drawn += block
    return drawn


def calls_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return each etcd RPC of the request in etcd's text form."""
    if row is None:
        return Content("")
    if not row.calls:
        return line((_no_call(row), "$ink-muted"))
    drawn: list[Content] = []
    for call in row.calls:
        count = f"{many(call.count, 'key')} · " if call.count else ""
        cost = f"{count}{long_bytes(call.received_bytes)} · {milliseconds(call.ms)} ms"
        drawn.append(
            line(
                (f"{call.op} ", "bold $route-etcd"),
                (f"{call.purpose}  ", "$ink-muted"),
                (cost, "$foreground"),
            )
        )
        drawn += wrapped(call.request, width, "$ink-muted", indent="  ")
        if call.error:
            drawn.append(line(("  " + call.error, "$route-error")))
    return first_lines(drawn, width, height)


def _no_call(row: RequestRow) -> str:
    if not row.done:
        return "none yet"
    if row.finished is not None and row.finished.untold:
        return f"{many(row.finished.etcd_rpcs, 'RPC')}; a trace has neither their keys nor their bytes"
    return "none: refused before anything was read" if row.failed else "none: served from the cache"


def command_content(row: RequestRow | None, server: str, width: int, height: int) -> Content:
    """Return kubectl and curl commands for the same request, each with at least its first line."""
    if row is None:
        return Content("")
    room = max(1, height - 1)
    kubectl = _command(as_kubectl(row.target), width, room)
    left = height - min(room, len(kubectl))
    first = first_lines(kubectl, width, room)
    if not left:
        return first
    return lines([first, first_lines(_command(as_curl(row, server), width, left), width, left)])


def _command(text: str, width: int, most: int) -> list[Content]:
    """Break a command between words, or within them if it would take more than `most` lines."""
    room = max(10, width - 2)
    parts = textwrap.wrap(safe(text), room, break_on_hyphens=False)
    return [
        line(("$ " if index == 0 else "  ", "$accent"), (part, "$foreground"))
        for index, part in enumerate(parts if len(parts) <= most else broken(text, room, len(text)))
    ]
